"""The client of a command: workers at an address, or on this machine."""

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from arboleda._utils.errors import ClusterError, OptionError
from arboleda.dask.tasks import load_distributed

__all__ = ["check_address", "open_client"]

_ADDRESS = re.compile(r"(?:tcp|tls|ucx|ws|wss)://[^\s/]+")
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
# What jobs need, imported before a worker says that it is ready.
_PRELOAD = "arboleda.study.execution.dask_jobs"
# Seconds to wait for the scheduler, at first and when the connection breaks.
_TIMEOUT = 10


def check_address(address: str) -> int | None:
    """Check where workers are; return the number of those to start on this machine, if any.

    Raises
    ------
    OptionError
        If the text is no address.

    Examples
    --------
    >>> check_address("local:4"), check_address("tcp://scheduler:8786")
    (4, None)
    """
    local = _LOCAL.fullmatch(address)
    if local is None and not _ADDRESS.fullmatch(address):
        raise OptionError(
            f"--dask must be the address of a Dask scheduler, as tcp://host:8786 or "
            f"tls://host:8786, or local:N for N workers on this machine, got {address!r}."
        )
    return None if local is None else int(local[1])


@contextmanager
def open_client(address: str) -> Iterator[Any]:
    """Connect to a scheduler, or start workers of one thread on this machine; close them later.

    Certificates for ``tls://`` are those of Dask's configuration. Dask's own log is silenced: what
    concerns the user is raised as an error.

    Raises
    ------
    ClusterError
        If the scheduler does not answer, or workers do not start.
    OptionError
        If the address is invalid.
    """
    n_workers = check_address(address)
    try:
        distributed = load_distributed()
    except ImportError as error:
        raise ClusterError(f"--dask: {error}.") from error
    for name in [n for n in logging.root.manager.loggerDict if n.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        target: Any = address
        try:
            if n_workers is not None:
                # The dashboard's usual port may be in use.
                stack.enter_context(warnings.catch_warnings())
                warnings.filterwarnings("ignore", message="Port ", category=UserWarning)
                target = distributed.LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    silence_logs=logging.CRITICAL,
                    preload=_PRELOAD,
                )
                stack.enter_context(target)
            client = distributed.Client(target, timeout=_TIMEOUT, set_as_default=False)
        except (OSError, RuntimeError, TypeError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ClusterError(
                f"There is no Dask scheduler at {address} ({reason[:200]}); check the address, and "
                "that dask scheduler runs there."
                if n_workers is None
                else f"Workers do not start on this machine ({reason[:200]}); leave out --dask."
            ) from error
        stack.enter_context(client)
        yield client
