"""Tasks on the workers of Dask: the data placed once, results as they come, lost tasks again."""

import queue
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Any, Self

from arboleda._utils.errors import ClusterError
from arboleda.dask.coded_tables import check_coded_table
from arboleda.dask.handshake import check_workers

__all__ = ["Ended", "Tasks", "check_client", "describe_loss", "load_distributed"]

# Seconds between looks at the connection and the workers while no result comes.
_LOOK = 1.0
# Seconds without any worker after which work ends; a lost one is usually started again in a few.
_ALONE = 120.0
# Seconds after which a worker that is there and does not receive the data ends the work, and
# seconds between attempts.
_NO_DATA, _RETRY = 10.0, 0.25
# Dask groups tasks by what stands before a hyphen; names of models have some, too.
_HYPHEN, _OTHER_HYPHEN = "-", "\N{HYPHEN}"


def load_distributed() -> Any:
    """Import Dask's scheduler.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ImportError(
            f"tasks on workers need the package {error.name}: pip install 'arboleda[dask]'"
        ) from error
    return distributed


def check_client(client: Any) -> Any:
    """Return a client of Dask if it can be used here, or the current one for None.

    Raises
    ------
    ClusterError
        If it is no client, is asynchronous or closed, or there is no current one.
    """
    distributed = load_distributed()
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError as error:
            raise ClusterError(
                "There is no Dask client; pass client=distributed.Client(...), as in "
                "Client('tcp://scheduler:8786'), or Client() for workers on this machine."
            ) from error
    if not isinstance(client, distributed.Client):
        raise ClusterError(
            f"client must be a distributed.Client, got {type(client).__name__}; make one from an "
            "address with distributed.Client('tcp://scheduler:8786')."
        )
    if client.asynchronous:
        raise ClusterError(
            "client is asynchronous; make one without asynchronous=True, as fits wait for tasks."
        )
    if client.status != "running":
        raise ClusterError(f"The Dask client is {client.status}; connect it again.")
    return client


@dataclass(frozen=True)
class Ended:
    """A task that ended: its number and its value, or the error that it raised.

    ``lost`` is the reason, in words, if Dask gave it up because its workers died.
    """

    number: int
    value: Any = None
    error: Exception | None = None
    lost: str | None = None


@dataclass
class _Task:
    """A task that was submitted: what to run, its name, and Dask's future of it."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: Any = None
    token: str = ""


class NotPlacedError(Exception):
    """A worker has not got the data of a task: it came after they were sent."""

    def __init__(self, token: str, address: str) -> None:
        super().__init__(token, address)
        self.token = token
        self.address = address


def _make_key(token: str, address: str) -> str:
    return f"table-{token}-{address}"


def _run_task(token: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task on this worker, with the data that were sent to it."""
    worker = load_distributed().get_worker()
    data = worker.data.get(_make_key(token, worker.address))
    if data is None:
        raise NotPlacedError(token, worker.address)
    return function(data, *arguments)


def _pass_on(data: Any) -> Any:
    """Return the data, which Dask has fetched from another worker."""
    return data


class Tasks:
    """Tasks of one client, which all read the same data.

    The data are sent to one worker, through Dask, and from there from worker to worker, each of
    which passes them on to two others; a task gets them as the first argument of its function. A
    worker that comes later gets them before its first task. Tasks of a worker that
    is lost run again on another. If the connection breaks and comes back, data and tasks are sent
    again.

    Parameters
    ----------
    client : distributed.Client or None
        None: the current client.
    data : object
        What all tasks read; it must be picklable.
    table : object, default=None
        The table among the data, if it may be a `CodedTable`, whose file the workers must have.

    Raises
    ------
    ClusterError
        If the client cannot be used, a worker has another environment, or one cannot open the file
        of the table.
    """

    def __init__(self, client: Any, data: Any, table: Any = None) -> None:
        self.client = check_client(client)
        check_workers(self.client)
        check_coded_table(self.client, table)
        self.address = str(self.client.scheduler.address)
        self._data = data
        self._token = ""
        self._placed: dict[str, Any] = {}  # by the address of the worker
        self._placed_at: dict[str, float] = {}
        self._failures: dict[str, tuple[float, float]] = {}  # the first in a row and the last
        self._submitted: dict[int, _Task] = {}
        self._done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._kept: dict[int, Ended] = {}
        self._n_submitted = 0
        self._n_slots = 1
        self._looked = self._seen = -_LOOK
        self.look()
        self._place_everywhere()

    @property
    def n_slots(self) -> int:
        """The number of tasks that the workers run at a time, at least 1."""
        return max(1, self._n_slots)

    @property
    def n_running(self) -> int:
        """The number of tasks that were submitted and have not ended."""
        return len(self._submitted)

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any) -> int:
        """Submit ``function(data, *arguments)``; return the number of the task.

        Parameters
        ----------
        name : str
            What Dask's dashboard shows.
        function : callable
            Importable on the workers.
        *arguments : object
        """
        self._n_submitted += 1
        number = self._n_submitted
        self._submitted[number] = task = _Task(name, function, arguments)
        self._send(number, task)
        return number

    def result(self, number: int) -> Any:
        """Wait for a task, and return its value; others that end meanwhile are kept.

        Raises
        ------
        ClusterError
            As `wait` does, and if the task was lost several times.
        Exception
            That of the task.
        """
        while number not in self._kept:
            for ended in self.wait():
                self._kept[ended.number] = ended
        ended = self._kept.pop(number)
        if ended.error is not None:
            raise ended.error
        if ended.lost is not None:
            raise ClusterError(
                f"A task of Dask cannot be done ({ended.lost}); look into the logs of the workers, "
                "most of which end for want of memory."
            )
        return ended.value

    def wait(self, timeout: float | None = None) -> Iterator[Ended]:
        """Yield tasks that have ended: wait for one, at most so many seconds.

        Raises
        ------
        ClusterError
            If the scheduler is gone, or there have been no workers for two minutes.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            try:
                number, future = self._done.get(timeout=max(0.0, left))
            except queue.Empty:
                self.look()
                if end is not None and time.monotonic() >= end:
                    return
                continue
            ended = self._receive(number, future)
            if ended is not None:
                yield ended
                return

    def cancel(self) -> None:
        """Cancel all tasks; those that run are interrupted if their function looks for that."""
        futures = [task.future for task in self._submitted.values()]
        self._submitted.clear()
        if futures and self.client.status == "running":
            with suppress(Exception):
                self.client.cancel(futures, force=True)
        _release(futures)

    def close(self) -> None:
        """Cancel all tasks and release the data."""
        self.cancel()
        _release(self._placed.values())
        self._placed.clear()

    def look(self) -> None:
        """Read the number of workers' threads, if that was not done just now.

        Raises
        ------
        ClusterError
            If the scheduler is gone, or there have been no workers for two minutes.
        """
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._wait_for_connection()
        with suppress(OSError, TimeoutError):
            self._n_slots = sum(self.client.nthreads().values())
        self._looked = time.monotonic()
        if self._n_slots or self._seen < 0:
            self._seen = self._looked
        elif self._looked - self._seen > _ALONE:
            raise ClusterError(
                f"The Dask scheduler {self.address} has had no workers for {_ALONE:.0f} s; start "
                "some and run this again."
            )

    def _wait_for_connection(self) -> None:
        """Wait while the client connects again; raise an error if it has given up."""
        while self.client.status == "connecting":
            time.sleep(0.1)
        if self.client.status != "running":
            raise ClusterError(
                f"The Dask scheduler {self.address} does not answer any more; start it and its "
                "workers, and run this again."
            )

    def _place(self, address: str) -> None:
        """Send the data to a worker, unless it is gone: then its tasks run again elsewhere."""
        self._wait_for_connection()
        key = _make_key(self._token, address)
        try:
            self._placed[address] = self.client.scatter({key: self._data}, workers=[address])[key]
        except (OSError, TimeoutError, ValueError, KeyError) as error:
            self._check_failure(address, error)
            return
        self._placed_at[address] = time.monotonic()
        self._failures.pop(address, None)

    def _check_failure(self, address: str, error: Exception) -> None:
        """Raise an error if a worker that is there has not received the data for some seconds."""
        now = time.monotonic()
        first, last = self._failures.get(address, (now, now))
        first = now if now - last > _NO_DATA else first
        self._failures[address] = first, now
        is_there = False
        with suppress(OSError, TimeoutError):
            is_there = address in self.client.nthreads()
        if is_there and now - first > _NO_DATA:
            raise ClusterError(
                f"The worker {address} cannot read the data that are sent to it; its log says why. "
                "Give it the packages of this process, and more memory if it lacks that."
            ) from error
        time.sleep(_RETRY)

    def _place_everywhere(self) -> None:
        # Another name than before: what is left of those data may be dropped at any time.
        self._token = secrets.token_hex(6)
        self._placed.clear()
        addresses = list(self.client.nthreads())
        for k, address in enumerate(addresses):
            source = self._placed.get(addresses[(k - 1) // 2]) if k else None
            if source is None:
                self._place(address)
            else:
                self._placed[address] = self._copy(source, address)
        self._wait_for_copies()

    def _copy(self, source: Any, address: str) -> Any:
        """Let a worker fetch the data from that of a future."""
        # Each worker has a name of its own for the data: Dask drops copies that no task names.
        return self.client.submit(
            _pass_on,
            source,
            key=_make_key(self._token, address),
            workers=[address],
            allow_other_workers=False,
        )

    def _wait_for_copies(self) -> None:
        """Wait until every worker that is there has the data, or could not fetch them."""
        distributed = load_distributed()
        while True:
            alive = self.client.nthreads()
            waiting = {
                address: future
                for address, future in self._placed.items()
                if future.status == "pending" and address in alive
            }
            if not waiting:
                break
            errors = TimeoutError, distributed.CancelledError
            with suppress(*errors), self.client.as_current():
                distributed.wait(list(waiting.values()), timeout=_LOOK)
            self._wait_for_connection()
        self._placed = {a: f for a, f in self._placed.items() if f.status == "finished"}
        self._placed_at = dict.fromkeys(self._placed, time.monotonic())

    def _send(self, number: int, task: _Task) -> None:
        key = f"{task.name.replace(_HYPHEN, _OTHER_HYPHEN)}-{self._token}{secrets.token_hex(4)}"
        task.token = self._token
        task.future = future = self.client.submit(
            _run_task, task.token, task.function, *task.arguments, key=key, pure=False
        )
        future.add_done_callback(lambda done: self._done.put((number, done)))

    def _receive(self, number: int, future: Any) -> Ended | None:
        """Return how a task ended; None if it is sent again, or was cancelled here."""
        task = self._submitted.get(number)
        if task is None or task.future is not future:
            return None
        ended = self._read(number, future)
        future.release()
        if ended is None:
            # The connection broke, and with it Dask forgot data and tasks.
            self._wait_for_connection()
            if task.token == self._token:
                self._place_everywhere()
            self._send(number, task)
            return None
        if isinstance(ended.error, NotPlacedError):
            # A worker that has come since; another task may have reported it already.
            address = ended.error.address
            if ended.error.token == self._token and not self._has_data(address):
                self._place(address)
            self._send(number, task)
            return None
        del self._submitted[number]
        return ended

    def _has_data(self, address: str) -> bool:
        return address in self._placed and time.monotonic() - self._placed_at[address] < _LOOK

    def _read(self, number: int, future: Any) -> Ended | None:
        """Return how a task ended, or None if it was lost with the connection."""
        distributed = load_distributed()
        for patience in (_LOOK * 2**k for k in count()):
            try:
                return Ended(number, value=future.result(timeout=patience))
            except TimeoutError:
                # The result is on its way; or its worker died, and another computes it again.
                self.look()
            except (distributed.CancelledError, OSError):
                return None
            except distributed.scheduler.KilledWorker as error:
                return Ended(number, lost=describe_loss(error))
            except Exception as error:  # noqa: BLE001 - that of the task
                if not _is_cancelled_wait(error):
                    return Ended(number, error=error)
                self.look()
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _release(futures: Iterable[Any]) -> None:
    """Let the workers drop results now, not when the last reference to a future is collected."""
    for future in futures:
        future.release()


def _is_cancelled_wait(error: Exception) -> bool:
    """Return whether Dask's wait for a result was cancelled; the task itself goes on.

    A wait that runs out of time can cancel a transfer that another wait shares; the function
    `distributed.utils.sync` then has neither a result nor an error, and fails itself.
    """
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    sync = load_distributed().utils.sync
    return (
        isinstance(error, UnboundLocalError)
        and place is not None
        and place.tb_frame.f_code is sync.__code__
    )


def describe_loss(error: Any) -> str:
    """Describe why Dask gave a task up: a `KilledWorker`."""
    times = 1 + int(getattr(error, "allowed_failures", 3))
    worker = getattr(getattr(error, "last_worker", None), "address", "unknown")
    return f"{times} workers died while they ran it, the last one at {worker}"
