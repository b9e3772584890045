"""Time one boosted model from rows on two workers of Dask, beside other libraries and a plain fit.

    python benchmarks/dask_boosting.py                                 10^6 rows, all contestants
    python benchmarks/dask_boosting.py --rows 10000000 --repeats 3     the bars

All fit trees of equal leaves, bins, rounds and learning rate to the same float32 columns and two
classes: the plain class with as many threads as there are workers, and `arboleda.dask`,
`lightgbm.dask` and `xgboost.dask` on workers of one thread, whose partitions lie on them before
the time begins. Each fit runs in a process and a cluster of its own, interleaved, after a small fit
that imports everything. Prints medians of wall seconds and of processor seconds of the fitting
processes, their ratios to the plain fit, and the log-loss on held-out rows. A library that is not
installed is skipped. Needs ``arboleda[dask]``; for all contestants lightgbm, xgboost and pandas.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

CONTESTANTS = {"plain": "", "arboleda": "", "lightgbm": "lightgbm", "xgboost": "xgboost"}
N_PARTITIONS, N_TEST = 8, 100_000
SMALL = 2_000  # rows of a partition of the first fit
Arrays = tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]


def make_partition(number: int, n_rows: int, n_columns: int) -> Arrays:
    """Draw rows of normal columns and labels that depend on ten of them."""
    random = np.random.default_rng(number)
    X = random.standard_normal((n_rows, n_columns), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + np.sin(2 * X[:, 3]) - 0.3 * X[:, 4] ** 2
    score += X[:, 5:10].sum(axis=1) / 2
    return X, (random.random(n_rows) < 1 / (1 + np.exp(-score))).astype(np.int32)


# Contestants: (client, X, y, options) -> a function that predicts the probability of class 1


def choose_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return what both fits of arboleda are given."""
    return {
        "max_iter": given.rounds,
        "max_leaf_nodes": given.leaves,
        "l2_regularization": 1.0,
        "early_stopping": False,
    }


def fit_plain(client: Any, X: Any, y: Any, given: argparse.Namespace) -> Any:
    from arboleda import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        **choose_options(given),
        n_jobs=given.workers,
    ).fit(X, y)
    return lambda X: model.predict_proba(X)[:, 1]


def fit_arboleda(client: Any, X: Any, y: Any, given: argparse.Namespace) -> Any:
    from arboleda.dask import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        client=client,
        **choose_options(given),
        random_state=0,
    ).fit(X, y)
    return lambda X: model.to_local().predict_proba(X)[:, 1]


def fit_lightgbm(client: Any, X: Any, y: Any, given: argparse.Namespace) -> Any:
    from lightgbm import DaskLGBMClassifier

    model = DaskLGBMClassifier(
        client=client,
        n_estimators=given.rounds,
        num_leaves=given.leaves,
        reg_lambda=1.0,
        tree_learner="data",
        verbosity=-1,
    ).fit(X, y)
    return lambda X: model.to_local().predict_proba(X)[:, 1]


def fit_xgboost(client: Any, X: Any, y: Any, given: argparse.Namespace) -> Any:
    from xgboost import dask

    parameters = {
        "objective": "binary:logistic",
        "learning_rate": 0.1,
        "grow_policy": "lossguide",
        "max_leaves": given.leaves,
        "max_depth": 0,
        "max_bin": 255,
        "min_child_weight": 5,  # 20 rows with their hessian at first
        "reg_lambda": 1.0,
        "tree_method": "hist",
    }
    rows = dask.DaskQuantileDMatrix(client, X, y, max_bin=255)
    booster = dask.train(client, parameters, rows, num_boost_round=given.rounds)["booster"]
    return booster.inplace_predict


FITS: dict[str, Callable[..., Any]] = {
    "plain": fit_plain,
    "arboleda": fit_arboleda,
    "lightgbm": fit_lightgbm,
    "xgboost": fit_xgboost,
}


@contextmanager
def start_workers(n_workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=":0",
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def hold_partitions(client: Any, n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Draw the partitions on the workers, the first half of them on the first one, and so on."""
    from distributed import wait

    import dask
    from dask import array

    workers = sorted(client.nthreads())
    parts = []
    for number in range(N_PARTITIONS):
        part = dask.delayed(make_partition, nout=2)(number, n_rows, n_columns)
        worker = workers[number * len(workers) // N_PARTITIONS]
        parts.append(client.persist(part, workers=[worker], allow_other_workers=False))
    X = array.concatenate(
        [array.from_delayed(part[0], (n_rows, n_columns), np.float32) for part in parts]
    )
    y = array.concatenate([array.from_delayed(part[1], (n_rows,), np.int32) for part in parts])
    X, y = client.persist([X, y])
    wait([X, y])
    return X, y


def measure_processor_time(dask_worker: Any = None) -> float:
    times = os.times()
    return times.user + times.system


def time_fit(client: Any, X: Any, y: Any, given: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    def sum_processor_time() -> float:
        if client is None:
            return measure_processor_time()
        return sum(client.run(measure_processor_time).values())

    processor, started = sum_processor_time(), time.perf_counter()
    predict = FITS[given.one](client, X, y, given)
    seconds = time.perf_counter() - started
    return predict, {"wall": seconds, "processor": sum_processor_time() - processor}


def run_one(given: argparse.Namespace) -> None:
    """Fit one contestant in this process and print the measures as JSON."""
    n_rows = given.rows // N_PARTITIONS
    if given.one == "plain":
        tables = []
        for n in (SMALL, n_rows):
            parts = [make_partition(i, n, given.columns) for i in range(N_PARTITIONS)]
            tables.append(tuple(np.concatenate(each) for each in zip(*parts, strict=True)))
            del parts
        for X, y in tables:
            predict, result = time_fit(None, X, y, given)
    else:
        with start_workers(given.workers) as client:
            for n in (SMALL, n_rows):
                X, y = hold_partitions(client, n, given.columns)
                predict, result = time_fit(client, X, y, given)
    X, y = make_partition(N_PARTITIONS, N_TEST, given.columns)
    p = np.clip(predict(X), 1e-7, 1 - 1e-7)
    result["log_loss"] = float(-np.mean(np.where(y == 1, np.log(p), np.log(1 - p))))
    print(json.dumps(result), flush=True)


def run_apart(name: str, arguments: list[str]) -> dict[str, Any]:
    command = [sys.executable, __file__, *arguments, "--one", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--only", help="contestants, by commas")
    parser.add_argument("--one", choices=CONTESTANTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        run_one(given)
        return
    names = given.only.split(",") if given.only else list(CONTESTANTS)
    for name in names:
        if CONTESTANTS[name] and find_spec(CONTESTANTS[name]) is None:
            print(f"{name} is skipped: it is not installed")
    names = [name for name in names if not CONTESTANTS[name] or find_spec(CONTESTANTS[name])]
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores; "
        f"{given.rows} x {given.columns}, {given.rounds} rounds of {given.leaves} leaves, "
        f"{given.workers} workers, {given.repeats} repeats"
    )
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(given.repeats):
        for name in names:
            results[name].append(run_apart(name, sys.argv[1:]))
            print(f"{name}: {results[name][-1]}", flush=True)
    median = {
        name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        for name, runs in results.items()
    }
    first = median[names[0]]
    print(
        f"{'':10} {'wall s':>8} {'of ' + names[0]:>9} {'CPU s':>8} {'of ' + names[0]:>9} log-loss"
    )
    for name, found in median.items():
        print(
            f"{name:10} {found['wall']:8.2f} {found['wall'] / first['wall']:9.2f} "
            f"{found['processor']:8.2f} {found['processor'] / first['processor']:9.2f} "
            f"{found['log_loss']:8.4f}"
        )


if __name__ == "__main__":
    main()
