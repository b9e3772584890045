"""The handshake: workers of Dask must have the environment of the process that uses them.

Models are the same byte for byte if the code is the same, so a worker with another version of a
package that computes is refused before its first task.
"""

import hashlib
import platform
import sys
import sysconfig
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from arboleda._utils.errors import ClusterError
from arboleda.dask.calls import call_workers

__all__ = ["check_versions", "check_workers", "read_versions"]

# The packages whose code is part of a result.
PACKAGES = ("arboleda", "numpy", "scipy", "sklearn")
# The compiled module's digest, under this name, is compared between machines of the same kind.
_MODULE, _KIND = "compiled module", "machine"
# Seconds to wait for the first worker, and for replies.
PATIENCE, _REPLY = 30.0, 120.0
Versions = Mapping[str, str]


@cache
def read_versions() -> dict[str, str]:
    """Read the versions of Python and of the packages that compute, and the module's digest.

    Examples
    --------
    >>> sorted(read_versions())
    ['Python', 'arboleda', 'compiled module', 'machine', 'numpy', 'scipy', 'sklearn']
    """
    return _make_reader(PACKAGES)()


def _make_reader(packages: tuple[str, ...]) -> Callable[[], dict[str, str]]:
    """Return the function that reads versions.

    Dask sends a function that was made in another one by value: a worker without arboleda can run
    it, too.
    """

    def read() -> dict[str, str]:
        found = {"Python": ".".join(map(str, sys.version_info[:2]))}
        for name in packages:
            try:
                found[name] = str(import_module(name).__version__)
            except Exception as error:  # noqa: BLE001 - a package may fail in any way
                found[name] = f"none ({type(error).__name__})"
        found["machine"] = f"{sysconfig.get_platform()} {platform.libc_ver()[0]}".strip()
        try:
            folder = Path(str(import_module("arboleda").__file__)).parent
            file = min(p for p in folder.glob("_native*") if p.suffix in (".so", ".pyd"))
            found["compiled module"] = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        except Exception as error:  # noqa: BLE001 - a package may fail in any way
            found["compiled module"] = f"none ({type(error).__name__})"
        return found

    return read


def check_workers(client: Any, patience: float = PATIENCE) -> None:
    """Check that there are workers, and that each has this process's environment.

    Parameters
    ----------
    client : distributed.Client
    patience : float, default=30.0
        Seconds to wait for the first worker.

    Raises
    ------
    ClusterError
        If there is no worker, or one differs; the message names it and both versions.
    """
    address = client.scheduler.address if client.scheduler is not None else "of this client"
    try:
        client.wait_for_workers(1, timeout=patience)
        found = call_workers(client, _make_reader(PACKAGES), timeout=_REPLY)
    except TimeoutError as error:
        raise ClusterError(
            f"The Dask scheduler {address} has no workers; start one, as in dask worker {address}, "
            "and run this again."
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise ClusterError(
            f"The workers of the Dask scheduler {address} do not answer ({error}); check that they "
            "run, and run this again."
        ) from error
    for worker, versions in sorted(found.items()):
        if isinstance(versions, OSError):
            continue  # the worker has just gone
        if isinstance(versions, Exception):
            raise ClusterError(
                f"The worker {worker} cannot run Python code of this process "
                f"({type(versions).__name__}: {str(versions).splitlines()[0][:200]}); give it "
                "Python and packages of the same versions as here."
            )
        check_versions(worker, versions, read_versions())


def check_versions(worker: str, found: Versions, wanted: Versions) -> None:
    """Compare the versions of a worker with those of the process that uses it.

    Compiled modules are compared if both machines are of the same kind.

    Raises
    ------
    ClusterError
        For the first version that differs.

    Examples
    --------
    >>> wanted = read_versions()
    >>> check_versions("tcp://10.0.0.7:9000", wanted, wanted)
    >>> try:
    ...     check_versions("tcp://10.0.0.7:9000", {**wanted, "numpy": "1.0"}, wanted)
    ... except ClusterError as error:
    ...     print(str(error)[:45])
    The worker tcp://10.0.0.7:9000 has numpy 1.0,
    """
    is_alike = found.get(_KIND) == wanted[_KIND]
    for name, version in wanted.items():
        theirs = found.get(name, "none")
        if theirs == version or name == _KIND or (name == _MODULE and not is_alike):
            continue
        what = {"sklearn": "scikit-learn", _MODULE: "a compiled module of arboleda with digest"}
        package = what.get(name, name)
        raise ClusterError(
            f"The worker {worker} has {package} {theirs}, this process has {version}; give both "
            "the same, as results must not depend on the worker."
        )
