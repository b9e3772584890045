"""Waiting for the shards of an attempt: their results, lost workers, slow workers."""

from __future__ import annotations

import logging
import queue
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arboleda.dask.calls import fetch_result
from arboleda.dask.exchange import AttemptId, fail_attempt
from arboleda.dask.placement import PlacedShard
from arboleda.dask.shard_task import ShardOutcome, read_status
from arboleda.dask.tasks import load_distributed
from arboleda.dask.worker_shards import ShardStatus

if TYPE_CHECKING:
    from arboleda.dask.attempts import ShardedFit

__all__ = ["Loss", "Watch"]

_LOG = logging.getLogger("arboleda.dask")
# Seconds between looks at the workers, and for the result of a shard that has ended.
_LOOK, _TRANSFER = 1.0, 300.0
# Seconds to wait for other shards when the first one has the model.
_GRACE = 5.0
# Seconds after which a worker that others wait for is named.
_SLOW = 30.0


@dataclass(frozen=True)
class Loss:
    """An attempt that did not end: the reason, and finished rounds."""

    reason: str
    rounds: Any = None


class Watch:
    """Waits for the shards of one attempt, and looks after their workers meanwhile."""

    def __init__(
        self,
        fit: ShardedFit,
        attempt: AttemptId,
        shards: Sequence[PlacedShard],
        futures: Sequence[Any],
    ) -> None:
        self._fit = fit
        self._attempt = attempt
        self._shards = shards
        self._futures = futures
        self._pending = set(range(len(futures)))
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._outcomes: dict[int, ShardOutcome] = {}
        self._reason: str | None = None
        self._looked = time.monotonic()
        self._named: dict[int, float] = {}
        for number, future in enumerate(futures):
            future.add_done_callback(lambda _, number=number: self._done.put(number))

    def wait(self) -> Any:
        """Return the result of the fit, or a `Loss` when no shard is at work any more.

        Raises
        ------
        Exception
            That of a shard.
        """
        end = float("inf")
        while self._pending and time.monotonic() < end:
            with suppress(queue.Empty):
                self._receive(self._done.get(timeout=_LOOK))
            if time.monotonic() - self._looked >= _LOOK:
                self._look()
            if self._find_result() is not None and end == float("inf"):
                end = time.monotonic() + _GRACE
        first = self._find_result()
        if first is not None:
            self._fit.traffic = [self._outcomes[n].traffic for n in sorted(self._outcomes)]
            for warning in first.warnings:
                warnings.warn(warning, stacklevel=6)
            return first.result
        count = self._fit._work.count_rounds
        rounds = [outcome.rounds for outcome in self._outcomes.values()]
        return Loss(self._reason or "it was cancelled", max(rounds, key=count, default=None))

    def _find_result(self) -> ShardOutcome | None:
        """Return how the first shard ended; the second one if the result of the first is lost."""
        for number, outcome in sorted(self._outcomes.items()):
            if outcome.result is not None and self._pending.isdisjoint(range(number)):
                return outcome
        return None

    def _receive(self, number: int) -> None:
        """Read how a shard ended."""
        distributed = load_distributed()
        future = self._futures[number]
        if number not in self._pending or not future.done():
            return
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, distributed.scheduler.KilledWorker):
                raise error
            outcome = ShardOutcome(lost=str(error))
        else:
            address = self._shards[number].address
            try:
                outcome = fetch_result(self._fit._client, future, address, _TRANSFER)
            except (distributed.CancelledError, OSError) as error:
                reason = f"the result of shard {number} on {address} is lost"
                outcome = ShardOutcome(lost=f"{reason} ({type(error).__name__})")
        self._pending.discard(number)
        self._outcomes[number] = outcome
        if outcome.kept is not None:
            self._fit._keep(*outcome.kept)
        if outcome.lost is not None:
            self._fail(outcome.lost)

    def _fail(self, reason: str) -> None:
        """End the waiting of the other shards."""
        if self._reason is not None:
            return
        self._reason = reason
        self._fit._call_workers(
            fail_attempt,
            self._attempt.fit,
            self._attempt.number,
            reason,
            workers=[self._shards[n].address for n in self._pending],
        )

    def _look(self) -> None:
        """Look for workers that are gone, for slow ones, and for rounds to keep."""
        fit = self._fit
        fit._check_connection()
        try:
            alive = set(fit._client.nthreads())
        except (OSError, TimeoutError):
            return
        finally:
            self._looked = time.monotonic()
        for number in sorted(self._pending):
            address = self._shards[number].address
            if self._futures[number].done():
                self._receive(number)
            elif address not in alive:
                self._pending.discard(number)
                self._fail(f"shard {number} on {address} is lost (the worker is gone)")
        statuses = fit._call_workers(
            read_status,
            self._attempt.fit,
            self._attempt.number,
            fit._n_kept,
            workers=[self._shards[n].address for n in self._pending],
        )
        self._name_slow_workers({a: status for a, (status, _) in statuses.items()})
        for _, kept in statuses.values():
            if kept is not None:
                fit._keep(*kept)

    def _name_slow_workers(self, statuses: Mapping[str, ShardStatus | None]) -> None:
        """Log the workers that all others wait for."""
        waits = [
            status.seconds
            for status in statuses.values()
            if status is not None and status.waits_for is not None
        ]
        longest = max(waits, default=0.0)
        if longest < _SLOW:
            self._named.clear()
            return
        for number in sorted(self._pending):
            address = self._shards[number].address
            status = statuses.get(address)
            is_waiting = status is not None and status.waits_for is not None
            if is_waiting or longest < 2 * self._named.get(number, 0.0):
                continue
            self._named[number] = longest
            what = "has not begun" if status is None else "is at work"
            if address not in statuses:
                what = "does not reply"
            _LOG.warning(
                "%d of %d shards have waited for %.0f s; shard %d (%d rows) on %s %s",
                len(waits),
                len(self._shards),
                longest,
                number,
                self._shards[number].n_rows,
                address,
                what,
            )
