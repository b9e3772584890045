"""A fit in shards, from this process: placed, watched, and attempted again after a loss."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from arboleda._utils.errors import ClusterError
from arboleda.dask.calls import call_workers
from arboleda.dask.checkpoints import Checkpoint
from arboleda.dask.exchange import AttemptId, Traffic, close_fit
from arboleda.dask.handshake import check_versions, check_workers, read_versions
from arboleda.dask.partitions import (
    DataLostError,
    Partition,
    PartitionFacts,
    measure_partitions,
    summarize_facts,
)
from arboleda.dask.placement import PlacedShard, check_memory, place_shards
from arboleda.dask.shard_task import (
    ShardTask,
    ShardWork,
    WorkerFacts,
    run_shard,
    visit_worker,
)
from arboleda.dask.tasks import describe_loss, load_distributed
from arboleda.dask.watch import Loss, Watch

__all__ = ["ShardedFit"]

_LOG = logging.getLogger("arboleda.dask")
# Seconds between looks at the workers, and to wait for their replies: when an attempt begins, when
# many workers are busy with their imports, and otherwise.
_LOOK, _PATIENCE, _REPLY = 1.0, 20.0, 2.0
# Seconds to wait for a lost worker to be started again, and for any worker at all.
_GRACE, _ALONE = 5.0, 120.0
# Attempts in a row that end without a further round.
_MAX_LOSSES = 8


class ShardedFit:
    """One fit to the rows of many workers.

    Parameters
    ----------
    client : distributed.Client
    name : str
        Of the estimator, for the dashboard.
    work : ShardWork
    read : callable
        Returns the partitions of the training rows and of the validation rows (or None). It is
        called again if they were lost with a worker and cannot be computed again.
    checkpoint : Checkpoint or None

    Raises
    ------
    ClusterError
        If workers cannot be used, or are lost again and again.
    """

    def __init__(
        self,
        client: Any,
        name: str,
        work: ShardWork,
        read: Callable[[], tuple[list[Partition], list[Partition] | None]],
        checkpoint: Checkpoint | None = None,
    ) -> None:
        check_workers(client)
        self._client = client
        self._address = str(client.scheduler.address)
        self._name = name
        self._work = work
        self._read = read
        self._checkpoint = checkpoint
        self._rounds: Any = None
        self._validation_facts: list[PartitionFacts] | None = None
        self._fit = secrets.token_hex(6)
        self._visited: set[str] = set()
        self._n_workers = 0  # the most that there were
        self._n_attempts = 0
        self._n_kept = 0
        self.traffic: list[Traffic] = []  # of the shards of the last attempt

    def run(self) -> Any:
        """Fit, and return the result of `ShardWork.run`."""
        distributed = load_distributed()
        try:
            self._read_partitions()
            if self._checkpoint is not None:
                self._rounds = self._checkpoint.open(summarize_facts(self._facts))
                self._n_kept = self._work.count_rounds(self._rounds)
                if self._n_kept:
                    _LOG.info("going on after the %d rounds of the checkpoint", self._n_kept)
            return self._attempt_until_done()
        except (distributed.CancelledError, OSError):
            # What Dask raises, wherever it is, when the connection breaks.
            if self._is_connected():
                raise
            raise ClusterError(self._describe_loss_of_scheduler()) from None
        finally:
            if self._client.status == "running":
                self._call_workers(close_fit, self._fit, workers=sorted(self._visited))

    def _read_partitions(self) -> None:
        """Read the partitions and measure them, again if they are lost meanwhile."""
        distributed = load_distributed()
        losses = (
            DataLostError,
            distributed.CancelledError,
            distributed.comm.CommClosedError,
            TimeoutError,
        )
        for number in range(_MAX_LOSSES):
            self._check_connection()
            if number:
                check_workers(self._client)
            try:
                self._measure_partitions()
            except losses as error:
                reason = str(error).splitlines()[:1] or [type(error).__name__]
                _LOG.warning("the data were lost, and are read again: %s", *reason)
            except distributed.scheduler.KilledWorker as error:
                raise ClusterError(
                    f"The partitions cannot be computed ({describe_loss(error)}); look into the "
                    "logs of the workers, most of which end for want of memory."
                ) from None
            else:
                return
        raise ClusterError(
            f"The data were lost {_MAX_LOSSES} times while they were measured; look into the logs "
            "of the workers, most of which end for want of memory."
        )

    def _measure_partitions(self) -> None:
        client, is_kept = self._client, self._checkpoint is not None
        self._partitions, self._validation = self._read()
        self._facts = measure_partitions(client, self._partitions, digest=is_kept)
        self._validation_facts = None
        if self._validation is not None:
            self._validation_facts = measure_partitions(client, self._validation)

    def _attempt_until_done(self) -> Any:
        n_losses = 0
        while True:
            shards = self._place_rows()
            n_before = self._work.count_rounds(self._rounds)
            ended = self._attempt(shards)
            if not isinstance(ended, Loss):
                return ended
            self._rounds = max(self._rounds, ended.rounds, key=self._work.count_rounds)
            n_rounds = self._work.count_rounds(self._rounds)
            n_losses = 0 if n_rounds > n_before else n_losses + 1
            if n_losses >= _MAX_LOSSES:
                raise ClusterError(
                    f"The fit was lost {n_losses} times after {n_rounds} rounds, the last time as "
                    f"{ended.reason}; look into the logs of the workers, most of which end for "
                    "want of memory."
                )
            _LOG.warning(
                "attempt %d is lost: %s; going on after %d rounds",
                self._n_attempts,
                ended.reason,
                n_rounds,
            )

    def _keep(self, n_rounds: int, content: bytes) -> None:
        """Write the rounds of a running shard to the checkpoint."""
        if self._checkpoint is not None and n_rounds > self._n_kept:
            self._rounds = self._checkpoint.write(content)
            self._n_kept = n_rounds

    # Workers

    def _visit_workers(self, grace: float) -> dict[str, WorkerFacts]:
        """Prepare the workers; wait some seconds for as many as there were."""
        end = time.monotonic() + grace
        while True:
            self._check_connection()
            found = self._call_workers(visit_worker, timeout=_PATIENCE)
            if len(found) >= max(1, self._n_workers) or (found and time.monotonic() >= end):
                break
            if not found and time.monotonic() >= end + _ALONE:
                raise ClusterError(
                    f"The Dask scheduler {self._address} has had no workers for "
                    f"{_ALONE:.0f} s; start some and run this again."
                )
            time.sleep(_LOOK / 4)
        for address, facts in found.items():
            check_versions(address, facts.versions, read_versions())
        self._visited.update(found)
        self._n_workers = max(self._n_workers, len(found))
        return found

    def _check_connection(self) -> None:
        if not self._is_connected():
            raise ClusterError(self._describe_loss_of_scheduler())

    def _is_connected(self) -> bool:
        """Wait while the client connects again; return whether it has not given up."""
        while self._client.status == "connecting":
            time.sleep(_LOOK / 4)
        return bool(self._client.status == "running")

    def _describe_loss_of_scheduler(self) -> str:
        again = "run this again"
        if self._checkpoint is not None and self._n_kept:
            again += f", which goes on after the {self._n_kept} rounds of the checkpoint"
        return f"The Dask scheduler {self._address} is gone; start it and its workers, and {again}."

    def _call_workers(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        workers: Sequence[str] | None = None,
        timeout: float = _REPLY,
    ) -> dict[str, Any]:
        """Run a function on the event loops of workers; leave out those that fail."""
        with suppress(OSError, ValueError, KeyError):
            replies = call_workers(
                self._client, function, *arguments, workers=workers, timeout=timeout
            )
            return {a: reply for a, reply in replies.items() if not isinstance(reply, Exception)}
        return {}

    # An attempt

    def _place_rows(self) -> list[PlacedShard]:
        """Place the rows on the workers; after a loss, wait for those that they do not fit without.

        Raises
        ------
        ClusterError
            If a worker would need more memory than it has.
        """
        grace = _GRACE
        while True:
            workers = self._visit_workers(grace)
            self._renew_lost_partitions()
            shards = self._place(self._facts, self._partitions, workers)
            limits = {address: facts.memory_limit for address, facts in workers.items()}
            try:
                needed = check_memory(self._facts, shards, limits)
                break
            except ClusterError as error:
                if len(workers) >= self._n_workers or grace == _ALONE:
                    raise
                _LOG.warning("waiting for more workers: %s", error)
                grace = _ALONE
        for number, shard in enumerate(shards):
            _LOG.info(
                "shard %d of %d: %d rows on %s, about %.2f GB",
                number,
                len(shards),
                shard.n_rows,
                shard.address,
                needed[shard.address] / 1e9,
            )
        return shards

    def _attempt(self, shards: Sequence[PlacedShard]) -> Any:
        """Fit once; return the result, or a `Loss`."""
        self._n_attempts += 1
        attempt = AttemptId(self._fit, self._n_attempts)
        futures = self._submit(attempt, shards)
        watch = Watch(self, attempt, shards, futures)
        try:
            return watch.wait()
        finally:
            if any(not future.done() for future in futures):
                with suppress(Exception):
                    self._client.cancel(futures, force=True)

    def _renew_lost_partitions(self) -> None:
        parts = [*self._partitions, *(self._validation or ())]
        if any(f.status in {"lost", "cancelled"} for part in parts for f in part.futures):
            self._read_partitions()

    def _place(
        self,
        facts: Sequence[PartitionFacts],
        partitions: Sequence[Partition],
        workers: Mapping[str, WorkerFacts],
    ) -> list[PlacedShard]:
        futures = [future for part in partitions for future in part.futures]
        holders = self._client.who_has(futures) if futures else {}
        held = []
        for part, fact in zip(partitions, facts, strict=True):
            own: dict[str, int] = {}
            for future in part.futures:
                for address in holders.get(future.key, ()):
                    own[address] = own.get(address, 0) + max(1, fact.n_bytes // len(part.futures))
            held.append(own)
        return place_shards([fact.n_rows for fact in facts], held, sorted(workers))

    def _submit(self, attempt: AttemptId, shards: Sequence[PlacedShard]) -> list[Any]:
        """Submit a task for each shard, pinned to its worker."""
        client = self._client
        addresses = tuple(shard.address for shard in shards)
        # A task of its own: computed again if its worker is lost, and sent to the others by it.
        rounds = self._rounds
        if rounds is not None:
            rounds = client.submit(_return_same, rounds, pure=False)
        validation = self._split_validation(len(shards))
        every = None if self._checkpoint is None else self._checkpoint.every
        futures = []
        for number, shard in enumerate(shards):
            task = ShardTask(attempt, number, addresses, self._work, every)
            key = f"shard {number} of {self._name}-{attempt.fit}-{attempt.number}"
            future = client.submit(
                run_shard,
                task,
                rounds,
                [self._partitions[p].source for p in shard.partitions],
                None if validation is None else validation[number],
                key=key,
                workers=[shard.address],
                allow_other_workers=False,
                pure=False,
            )
            futures.append(future)
        return futures

    def _split_validation(self, n_shards: int) -> list[list[Any]] | None:
        """Return the validation partitions of every shard."""
        if self._validation is None or self._validation_facts is None:
            return None
        names = [str(number) for number in range(n_shards)]
        n_rows = [facts.n_rows for facts in self._validation_facts]
        split: list[list[Any]] = [[] for _ in names]
        placed = place_shards(n_rows, [{}] * len(n_rows), names)
        for own, shard in zip(split, placed, strict=False):
            own += [self._validation[p].source for p in shard.partitions]
        return split


def _return_same(rounds: Any) -> Any:
    return rounds
