"""Compare boosting with sampling="auto" and with all rows: time and test loss, in pairs.

    python benchmarks/sampling.py                            10^6 rows, 31 and 255 leaves, ten seeds
    python benchmarks/sampling.py --leaves 31 --seeds 3 --task regression

A seed generates a table of 28 columns (13 normal, 6 lognormal, 4 discrete, 5 derived from others),
100 rounds are boosted on it with either sampling, in turns, and their losses on 200,000 other rows
are compared: log-loss, or half the mean squared error. Prints medians of the times, and the mean
difference of the losses with its standard error over the seeds and the interval of 95 % of the
paired t-test.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.metrics import log_loss

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

HELD_ROWS = 200_000
SAMPLINGS = ("uniform", "auto")
TASKS = ("classification", "regression")
HEADINGS = (
    "leaves", "all rows", "auto", "ratio", "loss, all rows", "loss, auto", "difference", "interval",
)  # fmt: skip
Floats = npt.NDArray[Any]


def make_table(rows: int, task: str, seed: int) -> tuple[Floats, Floats]:
    """Generate a table and a noisy target: classes, or the score behind them with noise."""
    random = np.random.default_rng(seed)
    X = np.empty((rows, 28), np.float32)
    X[:, :13] = random.standard_normal((rows, 13), dtype=np.float32)
    X[:, 13:19] = np.exp(0.5 * random.standard_normal((rows, 6), dtype=np.float32))
    X[:, 19] = random.integers(0, 2, rows)
    X[:, 20] = random.integers(0, 5, rows)
    X[:, 21] = random.poisson(2.0, rows)
    X[:, 22] = random.integers(0, 20, rows)
    derived = (
        X[:, 0] * X[:, 1],
        np.abs(X[:, 2]) + X[:, 13],
        np.hypot(X[:, 3], X[:, 4]),
        X[:, 14] / (0.5 + X[:, 15]),
        np.where(X[:, 19] > 0, X[:, 5], -X[:, 6]),
    )
    for column, (values, noise) in enumerate(zip(derived, (1.0, 0.5, 0.3, 0.2, 0.7), strict=True)):
        X[:, 23 + column] = values + noise * random.standard_normal(rows, dtype=np.float32)
    score = (
        0.5 * derived[0]
        + 0.5 * np.abs(X[:, 2]) * (X[:, 13] - 1)
        + 0.6 * (derived[2] - 1.25)
        + 0.6 * np.sin(2 * X[:, 7])
        + 0.5 * derived[4]
        + 0.4 * (X[:, 14] > X[:, 15])
        + 0.25 * (X[:, 20] - 2) * X[:, 8]
        + 0.15 * (X[:, 21] - 2)
        + 0.4 * (X[:, 22] % 3 == 0)
        + 0.3 * X[:, 9]
        - 0.2 * X[:, 10] ** 2
        + 0.3 * np.log(X[:, 16]) * X[:, 11]
    )
    score = 1.75 * (score - np.median(score))
    if task == "regression":
        return X, score + random.standard_normal(rows)
    y = random.random(rows) < 1 / (1 + np.exp(-score))
    return X, (y ^ (random.random(rows) < 0.03)).astype(np.int32)  # three percent are flipped


def measure(
    sampling: Any, X: Floats, y: Floats, arguments: argparse.Namespace, leaves: int, seed: int
) -> tuple[float, float]:
    """Return the seconds of a fit and its loss on the held-out rows."""
    kind: Any = (
        HistGradientBoostingRegressor
        if arguments.task == "regression"
        else HistGradientBoostingClassifier
    )
    model = kind(
        max_iter=arguments.rounds,
        max_leaf_nodes=leaves,
        l2_regularization=1.0,
        early_stopping=False,
        sampling=sampling,
        random_state=seed,
        n_jobs=arguments.threads,
    )
    start = time.perf_counter()
    model.fit(X[:-HELD_ROWS], y[:-HELD_ROWS])
    seconds = time.perf_counter() - start
    X_test, y_test = X[-HELD_ROWS:], y[-HELD_ROWS:]
    if arguments.task == "regression":
        return seconds, float(np.mean((model.predict(X_test) - y_test) ** 2)) / 2
    return seconds, float(log_loss(y_test, model.predict_proba(X_test)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, default=TASKS[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--leaves", default="31,255")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}", flush=True)
    for leaves in map(int, arguments.leaves.split(",")):
        seconds: dict[str, list[float]] = {name: [] for name in SAMPLINGS}
        losses: dict[str, list[float]] = {name: [] for name in SAMPLINGS}
        for seed in range(arguments.seeds):
            X, y = make_table(arguments.rows + HELD_ROWS, arguments.task, seed)
            for name in SAMPLINGS if seed % 2 == 0 else SAMPLINGS[::-1]:
                taken, loss = measure(name, X, y, arguments, leaves, seed)
                seconds[name].append(taken)
                losses[name].append(loss)
        whole, auto = (statistics.median(seconds[name]) for name in SAMPLINGS)
        change = np.subtract(losses["auto"], losses["uniform"])
        error = stats.sem(change)
        low, high = stats.t.interval(0.95, change.size - 1, change.mean(), error)
        print(
            f"| {leaves} | {whole:.2f} s | {auto:.2f} s | {auto / whole:.2f} "
            f"| {np.mean(losses['uniform']):.5f} | {np.mean(losses['auto']):.5f} "
            f"| {change.mean():+.6f} ({error:.6f}) | {low:+.6f} to {high:+.6f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
