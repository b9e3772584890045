"""Time Bayesian additive regression trees in arboleda and stochtree.

    python benchmarks/bart.py                             every number of rows
    python benchmarks/bart.py --rows 1000 --sweeps 200    small, to see that everything runs

Friedman's first function with 10 columns and noise of standard deviation 1; 200 trees, one chain.
The times include everything from NumPy arrays to the draws, and the predictions for as many new
rows. stochtree (C++) grows and prunes trees; its initialisation by grow-from-root is turned off,
and half of the sweeps are burn-in for both. It predicts the new rows while it samples, so it has
only one time. A package that is not installed is skipped.
"""

from __future__ import annotations

import argparse
import time
import warnings
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def friedman(n_rows: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Generate rows, their means and noisy targets."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n_rows, 10))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    mean += 10 * X[:, 3] + 5 * X[:, 4]
    return X, mean, mean + random.normal(size=n_rows)


def run_arboleda(n_rows: int, n_sweeps: int) -> tuple[float, float, Floats]:
    """Return the seconds of fit and prediction, and the predictions."""
    from arboleda import BARTRegressor

    X, _, y = friedman(n_rows, 0)
    model = BARTRegressor(
        n_draws=n_sweeps // 2, n_burn_in=n_sweeps // 2, n_chains=1, random_state=0
    )
    began = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    predictions = model.predict(friedman(n_rows, 1)[0])
    return fitted - began, time.perf_counter() - fitted, predictions


def run_stochtree(n_rows: int, n_sweeps: int) -> tuple[float, float, Floats]:
    """Return the seconds of fit and prediction together, 0, and the predictions."""
    from stochtree import BARTModel

    X, _, y = friedman(n_rows, 0)
    model = BARTModel()
    began = time.perf_counter()
    model.sample(
        X_train=X,
        y_train=y,
        X_test=friedman(n_rows, 1)[0],
        num_gfr=0,
        num_burnin=n_sweeps // 2,
        num_mcmc=n_sweeps // 2,
        general_params={"random_seed": 0},
        mean_forest_params={"num_trees": 200, "sample_sigma2_leaf": False},
    )
    return time.perf_counter() - began, 0.0, model.y_hat_test.mean(axis=1)


CONTESTANTS = {"arboleda": run_arboleda, "stochtree": run_stochtree}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="300,3000,30000", help="numbers of rows")
    parser.add_argument("--sweeps", type=int, default=1000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for n_rows in map(int, arguments.rows.split(",")):
        mean = friedman(n_rows, 1)[1]
        for name, run in CONTESTANTS.items():
            if find_spec(name) is None:
                print(f"{n_rows:>8} {name:<10} is not installed")
                continue
            fit, predict, predictions = run(n_rows, arguments.sweeps)
            error = float(np.sqrt(np.mean((predictions - mean) ** 2)))
            times = f"fit {fit:8.2f} s  predict {predict:7.2f} s"
            print(f"{n_rows:>8} {name:<10} {times}  rmse {error:.3f}")


if __name__ == "__main__":
    main()
