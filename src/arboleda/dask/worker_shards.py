"""Sums over the shards of a fit, through the connections that workers of Dask have anyway.

Shards form a tree in which each has up to eight children. An item, such as an array of sums, goes
up the tree, is merged with the items of the others on its way, and the result comes down again.
Two shards send theirs to each other. A shard reads the items of its neighbours from one connection
each, which stays open while the fit computes: a neighbour that dies is noticed at once. ::

    thread of the fit              event loop of the worker             event loop of a neighbour

    add(values) ---- offer --->  outbox (an item a taker)  --- send_items --->  _receive_from
        ^                                                                            |
        `------- get ----  inbox (a queue a source)  <-- _receive_from <-- send_items'
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from arboleda._utils.errors import ShardLostError
from arboleda.dask.exchange import HANDLER, AttemptId, Item, Traffic, open_exchange
from arboleda.dask.tasks import load_distributed

__all__ = ["ShardStatus", "WorkerShards", "find_children", "find_parent"]

FAN_IN = 8
# Seconds between looks whether the task is still wanted.
_LOOK = 0.5

_Words = NDArray[np.uint64]
_STATES_OF_WANTED_TASKS = {"executing", "long-running"}


def find_parent(number: int) -> int | None:
    """Return the shard that merges the items of this one; None for the first shard.

    Examples
    --------
    >>> [find_parent(number) for number in (0, 1, 8, 9)]
    [None, 0, 0, 1]
    """
    return None if number == 0 else (number - 1) // FAN_IN


def find_children(number: int, count: int) -> range:
    """Return the shards whose items this one merges.

    Examples
    --------
    >>> find_children(0, 12), find_children(1, 12)
    (range(1, 9), range(9, 12))
    """
    first = FAN_IN * number + 1
    return range(min(first, count), min(first + FAN_IN, count))


class _Ended(NamedTuple):
    """Stands in an inbox for the items that will not come."""

    reason: str


@dataclass(frozen=True)
class ShardStatus:
    """What a shard does: the shard that it waits for, if any, and for how many seconds."""

    number: int
    n_calls: int
    waits_for: int | None = None
    seconds: float = 0.0


@dataclass
class _Wait:
    """The shard that the fit waits for, and since when."""

    source: int | None = None
    since: float = field(default_factory=time.monotonic)


class WorkerShards:
    """The connection of a shard to those on other workers: see `arboleda._engine.shards.Shards`.

    It is used by one task, in its thread, as a context manager. An error within the context ends
    the fit of the other shards, too.

    Parameters
    ----------
    attempt : AttemptId
    number : int
        Of this shard.
    addresses : sequence of str
        The worker of every shard.

    Raises
    ------
    ShardLostError
        By all methods, if another shard failed or its worker is lost, or the task was cancelled.
    """

    def __init__(self, attempt: AttemptId, number: int, addresses: Sequence[str]) -> None:
        self._attempt = attempt
        self._number = number
        self._addresses = tuple(addresses)
        self._worker: Any = load_distributed().get_worker()
        self._key = self._worker.get_current_task()
        self._parent = find_parent(number)
        self._children = find_children(number, len(self._addresses))
        self._sources = [*self._children, *([] if self._parent is None else [self._parent])]
        self._inboxes: dict[int, SimpleQueue[Item | _Ended]] = {
            source: SimpleQueue() for source in self._sources
        }
        self._failure: str | None = None
        self._sequence = 0
        self._wait = _Wait()
        self._receivers: list[asyncio.Task[None]] = []

    @property
    def number(self) -> int:
        """The number of this shard."""
        return self._number

    @property
    def count(self) -> int:
        """How many shards there are."""
        return len(self._addresses)

    @property
    def place(self) -> str:
        """The number of this shard and its worker."""
        return f"shard {self._number} on {self._worker.address}"

    @property
    def memory_limit(self) -> int | None:
        """The limit of the worker."""
        return getattr(self._worker.memory_manager, "memory_limit", None) or None

    @property
    def failure(self) -> str | None:
        """Why the fit cannot go on, if so."""
        return self._failure

    @property
    def traffic(self) -> Traffic:
        """What this shard has sent so far."""
        return replace(self._outbox.traffic, calls=self._sequence)

    @property
    def status(self) -> ShardStatus:
        """What this shard waits for."""
        wait = self._wait
        seconds = 0.0 if wait.source is None else time.monotonic() - wait.since
        return ShardStatus(self._number, self._sequence, wait.source, seconds)

    def register(self, snapshot: Any) -> None:
        """Make the status of this shard readable on its worker, and a snapshot of its rounds."""
        self._outbox.shards = self
        self._outbox.snapshot = snapshot

    def add(self, values: _Words) -> None:
        """Replace each value by its sum over all shards, modulo 2**64."""
        self._reduce("add", values, np.add)

    def maximum(self, values: _Words) -> None:
        """Replace each value by the largest of all shards."""
        self._reduce("maximum", values, np.maximum)

    def count_opened(self, n_nodes: int, n_histograms: int, n_codes: int) -> None:
        """Count what the next call adds for nodes of a tree that are opened together."""
        traffic = self._outbox.traffic
        traffic.opened_nodes += n_nodes
        traffic.opened_histograms += n_histograms
        traffic.opened_codes += n_codes
        traffic.opening_calls += 1

    def gather(self, item: bytes) -> list[bytes]:
        """Return the items of all shards, in the order of shards."""
        items = {self._number: item}
        self._begin()
        for child in self._children:
            items |= self._receive_items(child)
        if self._parent is not None:
            self._offer([self._parent], Item("gather", [*items.values()], [*items]))
            items = self._receive_items(self._parent)
        self._offer(self._children, Item("gather", [*items.values()], [*items]))
        return [items[number] for number in sorted(items)]

    def _receive_items(self, source: int) -> dict[int, bytes]:
        item = self._receive(source, "gather")
        return dict(zip(item.numbers, map(bytes, item.values), strict=True))

    def _reduce(self, method: str, values: _Words, merge: np.ufunc) -> None:
        self._begin()
        if self.count == 2:  # the items of both cross, and none waits for the other's
            other = 1 - self._number
            self._offer([other], Item(method, [values.tobytes()]))
            merge(values, self._receive_words(other, method, values.size), out=values)
            return
        for child in self._children:
            merge(values, self._receive_words(child, method, values.size), out=values)
        if self._parent is not None:
            self._offer([self._parent], Item(method, [values.tobytes()]))
            np.copyto(values, self._receive_words(self._parent, method, values.size))
        if self._children:
            self._offer(self._children, Item(method, [values.tobytes()]))

    def _receive_words(self, source: int, method: str, size: int) -> _Words:
        (packed,) = self._receive(source, method).values
        words = np.frombuffer(packed, np.uint64)
        if words.size != size:
            raise RuntimeError(
                f"shard {source} called {method} with {words.size} values, shard {self._number} "
                f"with {size}: all shards must call the same"
            )
        return words

    def _begin(self) -> None:
        if self._failure is not None:
            raise ShardLostError(self._failure)
        self._sequence += 1

    def _offer(self, takers: Sequence[int], item: Item) -> None:
        loop = self._worker.loop.asyncio_loop
        for taker in takers:
            loop.call_soon_threadsafe(self._outbox.offer, taker, self._sequence, item)

    def _receive(self, source: int, method: str) -> Item:
        self._wait = _Wait(source)
        item = self._inboxes[source].get()
        self._wait = _Wait()
        if isinstance(item, _Ended):
            raise ShardLostError(self._failure or item.reason)
        if item.method != method:
            raise RuntimeError(
                f"shard {source} called {item.method}, shard {self._number} called {method}: all "
                "shards must call the same"
            )
        return item

    # On the event loop

    async def _open(self) -> None:
        self._outbox = open_exchange(self._worker).open(self._attempt)
        self._outbox.on_failure = self._set_failure
        if self._outbox.ended is not None:
            self._set_failure(self._outbox.ended[0])
            return
        self._receivers = [asyncio.create_task(self._receive_from(s)) for s in self._sources]
        self._receivers.append(asyncio.create_task(self._watch_task()))

    async def _receive_from(self, source: int) -> None:
        """Put the items of another shard into its inbox, until it ends or is lost."""
        address, pool = self._addresses[source], self._worker.rpc
        fit, attempt = self._attempt
        request = {"op": HANDLER, "fit": fit, "attempt": attempt, "taker": self._number}
        reason = "this worker is closing"
        comm = None
        try:
            comm = await pool.connect(address)
            await comm.write({**request, "reply": False})
            while "ended" not in (message := await comm.read()):
                self._inboxes[source].put(Item.from_message(message))
            reason = message["ended"]
            if message["is_failure"]:
                self._outbox.end(reason, is_failure=True)
        except BaseException as error:
            if comm is not None:
                comm.abort()
            if not isinstance(error, Exception):  # the task was cancelled
                raise
            # Whatever it is, the fit must not wait.
            reason = f"shard {source} on {address} is lost ({_describe(error)})"
            self._outbox.end(reason, is_failure=True)
        finally:
            if comm is not None:
                pool.reuse(address, comm)
            self._inboxes[source].put(_Ended(reason))

    async def _watch_task(self) -> None:
        """End the fit when Dask cancels the task, or the client that wanted it is gone."""
        while True:
            await asyncio.sleep(_LOOK)
            task = self._worker.state.tasks.get(self._key)
            if task is None or task.state not in _STATES_OF_WANTED_TASKS:
                self._outbox.end("the fit was cancelled", is_failure=True)

    def _set_failure(self, reason: str) -> None:
        self._failure = reason
        for inbox in self._inboxes.values():
            inbox.put(_Ended(reason))

    async def _close(self, reason: str, is_failure: bool) -> None:
        self._outbox.shards = self._outbox.snapshot = None
        self._outbox.on_failure = lambda reason: None
        self._outbox.end(reason, is_failure=is_failure)
        for receiver in self._receivers:
            receiver.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._receivers, return_exceptions=True)

    def _call(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._worker.loop.asyncio_loop).result()

    def __enter__(self) -> Self:
        self._call(self._open())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        reason = f"{self.place} has ended"
        if value is not None:
            reason = f"{self.place} failed ({_describe(value)})"
            if isinstance(value, ShardLostError):
                reason = str(value)
        self._call(self._close(reason, is_failure=value is not None))


def _describe(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
