"""What a worker holds for the shards of other workers, to whom it goes through Dask's connections.

Items are tagged with the fit, the attempt at it and a sequence number; what belongs to an earlier
attempt is never delivered.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from arboleda.dask.tasks import load_distributed

__all__ = [
    "HANDLER",
    "AttemptId",
    "Item",
    "Outbox",
    "Traffic",
    "close_fit",
    "fail_attempt",
    "open_exchange",
]

HANDLER = "arboleda_send_items"
_CLOSED = "the fit has ended"
# Up to here copies take less time than to describe an array.
_FEW_BYTES = 1 << 18


class AttemptId(NamedTuple):
    """An attempt at a fit; there is another one when a worker was lost."""

    fit: str
    number: int


class Item(NamedTuple):
    """What one shard passes to another: the method that both called, and its values as bytes.

    Of a method that gathers, there are the values of each of the shards ``numbers``.
    """

    method: str
    values: Sequence[bytes]
    numbers: Sequence[int] = ()

    @property
    def n_bytes(self) -> int:
        """Bytes of the values."""
        return sum(len(value) for value in self.values)

    def to_message(self) -> dict[str, Any]:
        """Return what Dask sends: few bytes in one piece with the rest, many apart, uncopied."""
        if self.n_bytes <= _FEW_BYTES:
            return self._asdict()
        serialize = load_distributed().protocol.to_serialize
        arrays = [serialize(np.frombuffer(value, np.uint8)) for value in self.values]
        return self._replace(values=arrays)._asdict()

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Item:
        """Return the item of a message."""
        return cls(message["method"], message["values"], message["numbers"])


@dataclass
class Traffic:
    """What a shard has sent: calls of its methods, items, and bytes of their values.

    Their size follows from the numbers of nodes that were opened in growing trees, some of them in
    vain, of histograms and of codes with their rows that were sent for them, and of calls for that.
    """

    calls: int = 0
    items: int = 0
    bytes: int = 0
    opened_nodes: int = 0
    opened_histograms: int = 0
    opened_codes: int = 0
    opening_calls: int = 0


class Outbox:
    """Items of one attempt that its neighbours may take from this worker.

    It belongs to the event loop. A taker has at most two items here: a shard ends a call only when
    it has an item that its neighbour made after taking the item before.
    """

    def __init__(self) -> None:
        self.traffic = Traffic()
        self.shards: Any = None  # the `WorkerShards` of a running task
        self.snapshot: Any = None
        self.ended: tuple[str, bool] | None = None  # why, and whether it was a failure
        self.on_failure: Callable[[str], None] = lambda reason: None
        self._items: defaultdict[int, deque[tuple[int, Item]]] = defaultdict(deque)
        self._changes: dict[int, asyncio.Event] = {}

    def offer(self, taker: int, sequence: int, item: Item) -> None:
        """Hold an item until it is taken."""
        self._items[taker].append((sequence, item))
        self._get_change(taker).set()

    def end(self, reason: str, *, is_failure: bool) -> None:
        """Deliver the reason from now on; after a failure no item is delivered."""
        if self.ended is not None and not (is_failure and not self.ended[1]):
            return
        self.ended = reason, is_failure
        if is_failure:
            self._items.clear()
            self.on_failure(reason)
        for change in self._changes.values():
            change.set()

    async def take(self, taker: int, sequence: int) -> dict[str, Any]:
        """Return the item of a number in the sequence when it is there, or why it will not be."""
        change = self._get_change(taker)
        while True:
            waiting = self._items[taker]
            if waiting and waiting[0][0] == sequence:
                _, item = waiting.popleft()
                self.traffic.items += 1
                self.traffic.bytes += item.n_bytes
                return item.to_message()
            if self.ended is not None:
                return {"ended": self.ended[0], "is_failure": self.ended[1]}
            change.clear()
            await change.wait()

    def _get_change(self, taker: int) -> asyncio.Event:
        return self._changes.setdefault(taker, asyncio.Event())


class Exchange:
    """The outboxes of a worker, by attempt."""

    def __init__(self) -> None:
        self._outboxes: dict[AttemptId, Outbox] = {}
        self._closed: deque[str] = deque(maxlen=1000)

    def open(self, attempt: AttemptId) -> Outbox:
        """Return the outbox of an attempt, which a neighbour may want before the task begins."""
        outbox = self._outboxes.get(attempt)
        if outbox is None:
            outbox = Outbox()
            if attempt.fit in self._closed:
                outbox.end(_CLOSED, is_failure=True)
            else:
                self._outboxes[attempt] = outbox
        return outbox

    def close(self, fit: str) -> None:
        """Forget a fit; requests for it end with an error, also later ones."""
        self._closed.append(fit)
        for attempt in [attempt for attempt in self._outboxes if attempt.fit == fit]:
            self._outboxes.pop(attempt).end(_CLOSED, is_failure=True)

    async def send_items(self, comm: Any, fit: str, attempt: int, taker: int) -> Any:
        """Handle the request of another worker: write items for its shard as they come."""
        outbox = self.open(AttemptId(fit, attempt))
        for sequence in count(1):
            message = await outbox.take(taker, sequence)
            await comm.write(message)
            if "ended" in message:
                break
        return load_distributed().core.Status.dont_reply


_exchanges: WeakKeyDictionary[Any, Exchange] = WeakKeyDictionary()


def open_exchange(dask_worker: Any) -> Exchange:
    """Return the exchange of a worker; at first, make it handle requests of other workers.

    It runs on the event loop, through `distributed.Client.run`, before shards are submitted.
    """
    exchange = _exchanges.get(dask_worker)
    if exchange is None:
        exchange = _exchanges[dask_worker] = Exchange()
        dask_worker.handlers[HANDLER] = exchange.send_items
    return exchange


def fail_attempt(fit: str, attempt: int, reason: str, dask_worker: Any) -> None:
    """End the waiting of a shard on this worker with an error; the same for later calls."""
    open_exchange(dask_worker).open(AttemptId(fit, attempt)).end(reason, is_failure=True)


def close_fit(fit: str, dask_worker: Any) -> None:
    """Forget everything about a fit on this worker."""
    open_exchange(dask_worker).close(fit)
