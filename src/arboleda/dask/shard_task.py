"""The task of a shard: one fit on the rows of its partitions, in step with all other shards."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from arboleda._utils.errors import ShardLostError
from arboleda.dask.exchange import AttemptId, Traffic, open_exchange
from arboleda.dask.handshake import read_versions
from arboleda.dask.partitions import read_part
from arboleda.dask.tasks import load_distributed
from arboleda.dask.worker_shards import ShardStatus, WorkerShards

__all__ = [
    "Keep",
    "ShardOutcome",
    "ShardTask",
    "ShardWork",
    "Snapshot",
    "WorkerFacts",
    "read_status",
    "run_shard",
    "visit_worker",
]

# Shards that return the result, and their rounds after a loss: they are the same in all.
_RESULTS, _KEEPERS = 2, 8
# Called after a round with the number of rounds, and the bytes of a model of them.
Keep = Callable[[int, bytes], None]


class ShardWork(Protocol):
    """What every shard does; it is sent to the workers."""

    def run(
        self,
        parts: Sequence[tuple[Any, ...]],
        validation: Sequence[tuple[Any, ...]] | None,
        shards: WorkerShards,
        rounds: Any,
        keep: Keep,
        keep_every: int | None,
    ) -> Any:
        """Fit to the partitions of this shard; return the result, the same in all shards.

        The first shard calls ``keep`` after every so many rounds; None: never.
        A `ShardLostError` has the finished rounds, from which another attempt goes on.
        """

    def count_rounds(self, rounds: Any) -> int:
        """Return the number of finished rounds; 0 for None."""


@dataclass(frozen=True)
class ShardTask:
    """A shard of an attempt at a fit."""

    attempt: AttemptId
    number: int
    addresses: tuple[str, ...]
    work: ShardWork
    keep_every: int | None = None


@dataclass(frozen=True)
class ShardOutcome:
    """How a shard ended: with the result (None for most), or lost with the rounds so far.

    ``kept`` are the rounds that it kept last for the checkpoint.
    """

    result: Any = None
    lost: str | None = None
    rounds: Any = None
    kept: tuple[int, bytes] | None = None
    traffic: Traffic = field(default_factory=Traffic)
    warnings: tuple[Warning, ...] = ()


class Snapshot:
    """The latest rounds that a running shard has kept for the checkpoint."""

    def __init__(self) -> None:
        self.latest: tuple[int, bytes] | None = None

    def keep(self, n_rounds: int, content: bytes) -> None:
        """Replace the rounds that were kept before."""
        self.latest = n_rounds, content


def run_shard(
    task: ShardTask,
    rounds: Any,
    sources: Sequence[Any],
    validation: Sequence[Any] | None,
) -> ShardOutcome:
    """Run the task of a shard on its worker."""
    # Other tasks, among them shards of another fit, need not wait for the end of this one.
    load_distributed().secede()
    shards = WorkerShards(task.attempt, task.number, task.addresses)
    snapshot = Snapshot()
    is_first = task.number == 0
    try:
        with shards, ExitStack() as stack:
            caught = stack.enter_context(_record_warnings()) if is_first else []
            shards.register(snapshot)
            parts = [read_part(source) for source in sources]
            others = None if validation is None else [read_part(source) for source in validation]
            result = task.work.run(parts, others, shards, rounds, snapshot.keep, task.keep_every)
    except ShardLostError as error:
        rounds = error.rounds if task.number < _KEEPERS else None
        reason = shards.failure or str(error)
        return ShardOutcome(None, reason, rounds, snapshot.latest, shards.traffic)
    return ShardOutcome(
        result=result if task.number < _RESULTS else None,
        kept=snapshot.latest,
        traffic=shards.traffic,
        warnings=tuple(w.message for w in caught if isinstance(w.message, UserWarning)),
    )


@contextmanager
def _record_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Record the warnings of a fit, for the process that wants it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield caught


@dataclass(frozen=True)
class WorkerFacts:
    """A worker that can run shards: its threads, its limit of memory (0: none), its versions."""

    n_threads: int
    memory_limit: int
    versions: dict[str, str]


def visit_worker(dask_worker: Any) -> WorkerFacts:
    """Prepare a worker for shards."""
    open_exchange(dask_worker)
    limit = getattr(dask_worker.memory_manager, "memory_limit", None)
    return WorkerFacts(dask_worker.state.nthreads, int(limit or 0), read_versions())


def read_status(
    fit: str, attempt: int, n_kept: int, dask_worker: Any
) -> tuple[ShardStatus | None, tuple[int, bytes] | None]:
    """Return what the shard on this worker does, and rounds that it kept since ``n_kept``."""
    outbox = open_exchange(dask_worker).open(AttemptId(fit, attempt))
    shards = outbox.shards
    kept = None if outbox.snapshot is None else outbox.snapshot.latest
    if kept is not None and kept[0] <= n_kept:
        kept = None
    return None if shards is None else shards.status, kept
