"""Made tables of times to an event, and estimators that take plain numbers as times."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from arboleda import (
    ExtraSurvivalTrees,
    HistGradientBoostingSurvival,
    RandomSurvivalForest,
    SurvivalTree,
)

DTYPE = [("event", "?"), ("time", "f8")]


def structured(event: Any, time: Any) -> npt.NDArray[Any]:
    y = np.empty(len(time), dtype=DTYPE)
    y["event"], y["time"] = event, time
    return y


def made(n: int, seed: int = 0, n_features: int = 4) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return a table whose first column drives the hazard, with ties and censored rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)).round(1)
    time = np.ceil(20 * rng.exponential(np.exp(-X[:, 0])))
    censored_at = np.ceil(rng.exponential(40, n))
    return X, structured(time <= censored_at, np.minimum(time, censored_at))


def of_numbers(y: Any) -> Any:
    """Return times for plain numbers, each row by itself; a third of them are censored."""
    if y is None or getattr(y, "ndim", 1) > 1:
        return y
    numbers = np.real(np.asarray(y))
    if numbers.dtype.kind not in "biuf" or not np.isfinite(numbers).all():
        return y
    time = np.abs(numbers.astype(np.float64))
    return structured(np.floor(10 * time) % 3 != 2, time)


class OfNumbers:
    """Mixin for scikit-learn's checks, which pass numbers as y."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        return super().fit(X, of_numbers(y), sample_weight)  # type: ignore[misc,no-any-return]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return super().score(X, of_numbers(y), sample_weight)  # type: ignore[misc,no-any-return]


class TreeOfNumbers(OfNumbers, SurvivalTree):
    pass


class ForestOfNumbers(OfNumbers, RandomSurvivalForest):
    pass


class ExtraTreesOfNumbers(OfNumbers, ExtraSurvivalTrees):
    pass


class BoosterOfNumbers(OfNumbers, HistGradientBoostingSurvival):
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **other: Any) -> Self:
        y = of_numbers(y)
        if self.loss == "aft" and getattr(y, "dtype", None) == np.dtype(DTYPE):
            y["time"] += 1.0  # events at time 0 have no logarithm
        return HistGradientBoostingSurvival.fit(self, X, y, sample_weight, **other)
