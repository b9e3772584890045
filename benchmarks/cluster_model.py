"""Seconds and bytes of a tree that is boosted on the rows of many workers: a formula, and runs.

    python benchmarks/cluster_model.py
    python benchmarks/cluster_model.py --measure 1 2 4 --rows 200000 --latency 0.001

The first form computes what some clusters would take; nothing of it is measured. Workers form a
tree of fan-in 8, with ``levels`` levels below the first worker. A call adds up an array: it goes up
the tree and its sum comes down, so a call of b bytes takes

    2 levels (latency + message + min(8, workers - 1) b / bandwidth);

two workers send theirs to each other, which takes one such message.
A tree sends a histogram of 8 bytes for every code of every column for its root and for the nodes
that it opens, some of them in vain (see docs/decisions/shards.md). How many these are depends on
the rows: the first form takes typical numbers. Rows take time in proportion to
rows x columns / (workers x threads).

The second form fits with so many worker processes of one thread on this machine, with an artificial
delay before each message. It prints the seconds of a tree beside the formula's, with the time of a
row of the first run, and the bytes that shards sent beside the formula's with the opened nodes that
the fit counted: these are equal. Needs ``arboleda[dask]``.
"""

import argparse
import asyncio
import logging
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

FAN_IN = 8
# Seconds of a message in Dask's and our code, and of a row and column of a tree of 31 leaves.
MESSAGE, ROW = 0.7e-3, 1.7e-9
COUNTED = "opened_nodes", "opened_histograms", "opened_codes", "opening_calls"


@dataclass(frozen=True)
class Opened:
    """Nodes opened in growing a tree, histograms and counted codes sent for them, calls for that.

    The defaults are those of trees of 31 leaves on continuous columns.
    """

    nodes: float = 35
    histograms: float = 34
    codes: float = 0
    calls: float = 13


@dataclass(frozen=True)
class Cluster:
    """A fit: bytes and seconds are those of a tree."""

    rows: int
    columns: int
    workers: int
    threads: int = 16
    bins: int = 255
    leaves: int = 31
    bandwidth: float = 1.25e9
    latency: float = 1e-4
    row: float = ROW
    opened: Opened = Opened()

    @property
    def levels(self) -> int:
        """Return the number of levels below the first worker."""
        last, levels = self.workers - 1, 0
        while last > 0:
            last, levels = (last - 1) // FAN_IN, levels + 1
        return levels

    @property
    def calls(self) -> float:
        """Return the calls: before the root, for it, for opened nodes, and for leaves."""
        return 0.0 if self.workers == 1 else 2 + 1 + self.opened.calls + 1

    @property
    def bytes_up(self) -> float:
        """Return the bytes that a worker sends to the one above it."""
        if self.workers == 1:
            return 0.0
        histograms = (1 + self.opened.histograms) * self.columns * self.bins
        before_root, leaves = (4 + 6) * self.workers, 6 * self.leaves
        return 8 * (before_root + histograms + self.opened.nodes + self.opened.codes + leaves)

    @property
    def bytes_sent(self) -> float:
        """Return the bytes that all workers send: up and down."""
        return 2 * (self.workers - 1) * self.bytes_up

    @property
    def waiting(self) -> float:
        one = self.latency + MESSAGE
        joined = min(FAN_IN, self.workers - 1) * self.bytes_up / self.bandwidth
        messages = 1 if self.workers == 2 else 2 * self.levels  # one after the other
        return messages * (self.calls * one + joined)

    @property
    def computing(self) -> float:
        return self.rows * self.columns * self.row / (self.workers * self.threads)

    @property
    def memory(self) -> float:
        """Return the bytes of a worker at its peak, with one copy of the values."""
        return self.rows / self.workers * (15 * self.columns + 100)


def print_predictions() -> None:
    print("computed, not measured; 16 threads a worker, 10 Gbit/s, 0.1 ms")
    print(f"{'rows':>8} {'columns':>8} {'workers':>8} {'s a tree':>9} {'waiting':>8} {'GB':>7}")
    for rows, columns, workers in [
        (10**8, 30, 4),
        (10**9, 30, 8),
        (10**9, 100, 32),
        (10**10, 30, 64),
        (10**10, 100, 256),
    ]:
        fit = Cluster(rows, columns, workers)
        total = fit.computing + fit.waiting
        print(
            f"{rows:8.0e} {columns:8} {workers:8} {total:9.2f} {fit.waiting / total:8.0%} "
            f"{fit.memory / 1e9:7.1f}"
        )


def delay_messages(latency: float, bandwidth: float, dask_worker: Any) -> None:
    """Make a worker wait before it hands over an item, as a network would."""
    from arboleda.dask import exchange

    take = exchange.Outbox.take
    if hasattr(take, "is_delayed"):
        return

    async def take_late(self: Any, taker: int, sequence: int) -> dict[str, Any]:
        before = self.traffic.bytes
        message = await take(self, taker, sequence)
        await asyncio.sleep(latency + (self.traffic.bytes - before) / bandwidth)
        return message

    take_late.is_delayed = True  # type: ignore[attr-defined]
    exchange.Outbox.take = take_late  # type: ignore[method-assign]


def count_per_tree(few: Any, many: Any, n_trees: int, name: str) -> list[float]:
    """Return what each shard counted in a tree, from two fits that differ by so many trees."""
    return [(getattr(b, name) - getattr(a, name)) / n_trees for a, b in zip(few, many, strict=True)]


def measure(given: argparse.Namespace) -> None:
    from distributed import Client, LocalCluster

    from arboleda.dask import HistGradientBoostingRegressor

    draw = np.random.default_rng(0)
    X = draw.normal(size=(given.rows, given.columns))
    y = X[:, 0] * X[:, 1] + draw.normal(size=given.rows)
    row = ROW
    for n_workers in given.measure:
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.ERROR,
            ) as cluster,
            Client(cluster) as client,
        ):
            client.run(delay_messages, given.latency, given.bandwidth)
            times, traffic = {}, {}
            for n_trees in (2, 2, 2 + given.trees):  # the first one imports packages
                model = HistGradientBoostingRegressor(
                    client=client, max_iter=n_trees, early_stopping=False, random_state=0
                )
                started = time.perf_counter()
                model.fit(X, y)
                times[n_trees] = time.perf_counter() - started
                traffic[n_trees] = model._traffic
            count = partial(count_per_tree, traffic[2], traffic[2 + given.trees], given.trees)
        seconds = (times[2 + given.trees] - times[2]) / given.trees
        if n_workers == 1:
            row = seconds / (given.rows * given.columns)
        fit = Cluster(
            given.rows,
            given.columns,
            n_workers,
            threads=1,
            bandwidth=given.bandwidth,
            latency=given.latency,
            row=row,
            opened=Opened(*(count(name)[0] for name in COUNTED)),
        )
        print(
            f"{n_workers} workers: {seconds:.3f} s a tree ({fit.computing + fit.waiting:.3f}), "
            f"{sum(count('bytes')):.1f} bytes sent ({fit.bytes_sent:.1f}), "
            f"{count('calls')[0]:.1f} calls ({fit.calls:.1f}), {fit.opened}; "
            "in brackets by the formula",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", type=int, nargs="+", metavar="WORKERS")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--latency", type=float, default=1e-4, help="seconds")
    parser.add_argument("--bandwidth", type=float, default=1.25e9, help="bytes a second")
    given = parser.parse_args()
    if given.measure:
        measure(given)
    else:
        print_predictions()


if __name__ == "__main__":
    main()
