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
    pids : dict of str to int
        The processes of workers, by address.
    draw : random.Random
    moment, victim : str
    seconds : float
        Of a fit that is not disturbed.
    """

    def __init__(
        self, pids: dict[str, int], draw: random.Random, moment: str, victim: str, seconds: float
    ) -> None:
        self._pids = pids
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
        chosen = self._draw.sample(sorted(self._pids), 2 if self._victim == "two" else 1)
        if self._victim == "first" and first is not None:
            chosen = [first]
        limits = {"reading": (0.0, 0.3), "learning": (0.0, 0.5), "rounds": (0.5, self._seconds)}
        after = self._draw.uniform(*limits.get(self._moment, (0.0, 0.0)))
        for address in chosen:
            self._kill(address, after)
            after += self._draw.uniform(0, 3)

    def _kill(self, address: str, after: float) -> None:
        def kill() -> None:
            with suppress(ProcessLookupError):
                os.kill(self._pids[address], signal.SIGKILL)
                self.killed.append(time.monotonic())

        if after:
            self._timers.append(threading.Timer(after, kill))
            self._timers[-1].start()
        else:
            kill()

    def join(self) -> None:
        for timer in self._timers:
            timer.join()


@pytest.fixture
def cluster_client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of three worker processes."""
    # Or the cluster gives up a worker that takes long to start again.
    monkeypatch.setitem(dask.config.config["distributed"]["deploy"], "lost-worker-timeout", "300s")
    with (
        distributed.LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
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
    for number in range(N_FITS):
        client.wait_for_workers(2, timeout=300)
        pids = client.run(os.getpid, on_error="ignore")
        moment = MOMENTS[number % len(MOMENTS)]
        victim = VICTIMS[number // len(MOMENTS) % len(VICTIMS)]
        killers.append(Killer(pids, draw, moment, victim, seconds))
        # Partitions that Dask can compute again, or blocks of a table of this process.
        data = (cut(X, 7), cut(y, 7)) if draw.random() < 0.5 else (X, y)
        started = time.monotonic()
        model.fit(*data)
        ended = time.monotonic()
        killers[-1].join()
        assert model_to_bytes(model.to_local()) == expected, (number, moment, victim)
        killed = killers[-1].killed
        recovered = killers[-1].recovered or ended
        _LOG.info(
            f"{number}: {moment}, {victim}: {len(killed)} killed, {killers[-1].n_attempts} "
            f"attempts, {recovered - min(killed):.1f} s to go on, {ended - started:.1f} s"
        )
    waits = [k.recovered - min(k.killed) for k in killers if k.recovered is not None]
    n_killed = sum(len(killer.killed) for killer in killers)
    _LOG.info(
        f"{n_killed} kills in {N_FITS} fits of {seconds:.1f} s, {len(waits)} went on after "
        f"{statistics.median(waits):.1f} s in the median and {max(waits):.1f} s at most"
    )
    assert n_killed >= N_FITS
    assert max(waits) < 120
