"""Time isolation forests in arboleda and scikit-learn: fit, and scores of all rows.

    python benchmarks/isolation_forest.py                   1,000,000 rows of 20 columns
    python benchmarks/isolation_forest.py --rows 10000      small, to see that everything runs

Processor seconds with one thread.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest as SklearnForest

from arboleda import IsolationForest


def measure(forest: Any, X: Any) -> tuple[float, float]:
    """Return the seconds of fitting, and of scoring all rows."""
    began = time.process_time()
    forest.fit(X)
    fitted = time.process_time()
    forest.score_samples(X)
    return fitted - began, time.process_time() - fitted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--extension-level", type=int, default=0)
    arguments = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(arguments.rows, arguments.columns))
    shared = {"n_estimators": arguments.trees, "random_state": 0, "n_jobs": 1}
    ours = measure(IsolationForest(**shared, extension_level=arguments.extension_level), X)
    print(f"arboleda      fit {ours[0]:8.3f} s  scores {ours[1]:8.3f} s")
    theirs = measure(SklearnForest(**shared), X)
    print(f"scikit-learn  fit {theirs[0]:8.3f} s  scores {theirs[1]:8.3f} s")
    print(f"ratio         {sum(ours) / sum(theirs):.3f}")


if __name__ == "__main__":
    main()
