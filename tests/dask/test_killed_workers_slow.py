"""Fits during which workers are killed at random moments give the model of one machine."""

import logging
import os
import random
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.dask.clusters import open_cluster

import arboleda
import arboleda.dask
from arboleda.dask import attempts, watch
from arboleda.persist import model_to_bytes

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

_LOG = logging.getLogger(__name__)  # shown by --log-cli-level=INFO
N_FITS = 50
N_WORKERS = 3
# When workers are killed: while partitions are computed and measured; while shards read them and
# learn the edges of bins; during rounds; when the first shard has ended.
MOMENTS = ("reading", "learning", "rounds", "ending")
VICTIMS = ("any", "first", "two")


class Killer:
    """Kills workers at a moment of a fit, once, and notes when the next attempt begins.

    Parameters
    ----------
    cluster : distributed.LocalCluster
    draw : random.Random
    moment, victim : str
    seconds : float
        Of a fit that is not disturbed.
    """

    def __init__(
        self, cluster: Any, draw: random.Random, moment: str, victim: str, seconds: float
    ) -> None:
        self._cluster = cluster
        self._draw = draw
        self._moment = moment
        self._victim = victim
        self._seconds = seconds
        self._is_armed = True
        self._timers: list[threading.Timer] = []
        self.killed: list[float] = []
        self.n_attempts = 0
        self.recovered: float | None = None

    def reach(self, moment: str, first: str | None = None) -> None:
        """Note that a fit has come to a moment, with its first shard on a worker."""
        if moment == "learning":
            self.n_attempts += 1
            if self.killed:
                self.recovered = time.monotonic()
        if not self._is_armed or moment != {"rounds": "learning"}.get(self._moment, self._moment):
            return
        self._is_armed = False
        # One that dies while it starts is not started again.
        alive = set(self._cluster.scheduler.workers)
        nannies = self._cluster.workers.values()
        pids = {n.worker_address: n.pid for n in nannies if n.worker_address in alive}
        n_victims = min(2 if self._victim == "two" else 1, len(pids))
        chosen = self._draw.sample(sorted(pids), n_victims)
        if self._victim == "first" and first in pids:
            chosen = [first]
        limits = {"reading": (0.0, 0.3), "learning": (0.0, 0.5), "rounds": (0.5, self._seconds)}
        after = self._draw.uniform(*limits.get(self._moment, (0.0, 0.0)))
        for address in chosen:
            self._kill(pids[address], after)
            after += self._draw.uniform(0, 3)

    def _kill(self, pid: int, after: float) -> None:
        def kill() -> None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.killed.append(time.monotonic())

        if after:
            self._timers.append(threading.Timer(after, kill))
            self._timers[-1].start()
        else:
            kill()

    @property
    def wait(self) -> float:
        """Seconds from the first kill to the last attempt after it."""
        return 0.0 if self.recovered is None else self.recovered - min(self.killed)

    def join(self) -> None:
        for timer in self._timers:
            timer.join()


@pytest.fixture
def cluster_client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of three worker processes."""
    # Or the cluster gives up a worker that takes long to start again.
    monkeypatch.setitem(dask.config.config["distributed"]["deploy"], "lost-worker-timeout", "300s")
    with (
        open_cluster(N_WORKERS) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def cut(table: Any, n_parts: int) -> list[Any]:
    limits = np.linspace(0, len(table), n_parts + 1).astype(int)
    return [dask.delayed(table[a:b]) for a, b in pairwise(limits)]


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_fits_with_killed_workers_are_equal(
    cluster_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = cluster_client
    X = np.random.default_rng(0).normal(size=(5_000, 6))
    y = X[:, 0] * X[:, 1] > X[:, 2]
    options = {"max_iter": 15, "max_leaf_nodes": 7, "random_state": 0}
    expected = model_to_bytes(arboleda.HistGradientBoostingClassifier(**options).fit(X, y))
    model = arboleda.dask.HistGradientBoostingClassifier(client=client, **options)
    model.fit(X, y)
    started = time.monotonic()
    model.fit(X, y)
    seconds = time.monotonic() - started

    killers: list[Killer] = []
    measure, submit, receive = (
        attempts.measure_partitions,
        attempts.ShardedFit._submit,
        watch.Watch._receive,
    )

    def measure_and_kill(*arguments: Any, **options: Any) -> Any:
        killers[-1].reach("reading")
        return measure(*arguments, **options)

    def submit_and_kill(fit: Any, attempt: Any, shards: Any) -> Any:
        futures = submit(fit, attempt, shards)
        killers[-1].reach("learning", shards[0].address)
        return futures

    def kill_and_receive(watch: Any, number: int) -> None:
        killers[-1].reach("ending", watch._shards[0].address)
        receive(watch, number)

    monkeypatch.setattr(attempts, "measure_partitions", measure_and_kill)
    monkeypatch.setattr(attempts.ShardedFit, "_submit", submit_and_kill)
    monkeypatch.setattr(watch.Watch, "_receive", kill_and_receive)
    draw = random.Random(0)
    n_fits = 0
    while n_fits < N_FITS:
        client.wait_for_workers(2, timeout=300)
        moment = MOMENTS[n_fits % len(MOMENTS)]
        victim = VICTIMS[n_fits // len(MOMENTS) % len(VICTIMS)]
        killer = Killer(client.cluster, draw, moment, victim, seconds)
        killers.append(killer)
        # Partitions that Dask can compute again, or blocks of a table of this process.
        data = (cut(X, 7), cut(y, 7)) if draw.random() < 0.5 else (X, y)
        started = time.monotonic()
        model.fit(*data)
        ended = time.monotonic()
        killer.join()
        assert model_to_bytes(model.to_local()) == expected, (n_fits, moment, victim)
        n_fits += any(time < ended for time in killer.killed)
        _LOG.info(
            f"{n_fits}: {moment}, {victim}: {len(killer.killed)} killed, {killer.n_attempts} "
            f"attempts, {killer.wait:.1f} s to go on, {ended - started:.1f} s"
        )
    waits = [killer.wait for killer in killers if killer.recovered is not None]
    _LOG.info(
        f"{sum(len(killer.killed) for killer in killers)} kills in {n_fits} fits of {seconds:.1f} "
        f"s, {len(waits)} went on after {statistics.median(waits):.1f} s in the median and "
        f"{max(waits):.1f} s at most"
    )
    assert max(waits) < 120
