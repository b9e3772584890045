"""Compare LambdaMART with LightGBM's: time and NDCG@10, in turns.

    python benchmarks/ranking.py                      10^5 documents in 10^3 queries
    python benchmarks/ranking.py --queries 10000      10^6 documents

Generates queries of about 100 documents with 50 columns and relevance 0 to 4, fits both libraries
with the same leaves, learning rate, bins, truncation level and two threads, in turns, and prints
the best of several times and NDCG@10 on a fifth as many other queries. Set ARBOLEDA_FORCE_SIMD=avx2
for registers as wide as LightGBM's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt

from arboleda import HistGradientBoostingRanker
from arboleda.metrics import ranking_table

Array = npt.NDArray[Any]
LEAVES, LEARNING_RATE, MIN_ROWS, TRUNCATION = 31, 0.1, 20, 30
N_COLUMNS, N_THREADS = 50, 2


def make_documents(n_queries: int, seed: int) -> tuple[Array, Array, Array]:
    """Generate documents with their relevance, and the sizes of the queries."""
    random = np.random.default_rng(seed)
    sizes = random.integers(50, 151, n_queries)
    X = random.standard_normal((sizes.sum(), N_COLUMNS), dtype=np.float32)
    score = (
        X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * np.abs(X[:, 4]) - X[:, 5] ** 2 / 4
    )
    score += np.repeat(
        random.standard_normal(n_queries), sizes
    )  # some queries have better documents
    score += 1.5 * random.standard_normal(len(X))
    bounds = np.quantile(score, [0.5, 0.75, 0.9, 0.97])
    return X, np.digitize(score, bounds).astype(np.int32), sizes


def fit_arboleda(X: Array, y: Array, sizes: Array, rounds: int) -> Any:
    """Fit arboleda's ranker."""
    model = HistGradientBoostingRanker(
        max_iter=rounds,
        max_leaf_nodes=LEAVES,
        learning_rate=LEARNING_RATE,
        min_samples_leaf=MIN_ROWS,
        truncation_level=TRUNCATION,
        early_stopping=False,
        n_jobs=N_THREADS,
    )
    return model.fit(X, y, group=sizes)


def fit_lightgbm(X: Array, y: Array, sizes: Array, rounds: int) -> Any:
    """Fit LightGBM's ranker."""
    model = lightgbm.LGBMRanker(
        n_estimators=rounds,
        num_leaves=LEAVES,
        learning_rate=LEARNING_RATE,
        min_child_samples=MIN_ROWS,
        lambdarank_truncation_level=TRUNCATION,
        max_bin=255,
        n_jobs=N_THREADS,
        verbose=-1,
    )
    return model.fit(X, y, group=sizes)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    X, y, sizes = make_documents(arguments.queries, seed=0)
    X_test, y_test, test_sizes = make_documents(arguments.queries // 5, seed=1)
    qid = np.repeat(np.arange(len(test_sizes)), test_sizes)
    fits: dict[str, Callable[..., Any]] = {"arboleda": fit_arboleda, "LightGBM": fit_lightgbm}
    seconds: dict[str, list[float]] = {name: [] for name in fits}
    ndcg = {}
    for _ in range(arguments.repeats):
        for name, fit in fits.items():
            begin = time.perf_counter()
            model = fit(X, y, sizes, arguments.rounds)
            seconds[name].append(time.perf_counter() - begin)
            ndcg[name] = ranking_table(y_test, model.predict(X_test), qid=qid).metrics["ndcg@10"]
    print(f"{len(X):,} documents in {arguments.queries:,} queries, {arguments.rounds} rounds")
    for name in fits:
        print(f"{name:9} {min(seconds[name]):7.2f} s, NDCG@10 {ndcg[name]:.4f}")
    print(f"ratio {min(seconds['arboleda']) / min(seconds['LightGBM']):.2f}")


if __name__ == "__main__":
    main()
