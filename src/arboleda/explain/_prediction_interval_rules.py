"""Split conformal intervals: how far calibration rows fall outside what the model says of them.

All are one rule. The model gives a base interval [low, high] of a row and a unit; the score of a
row is max(low - y, y - high) / unit, how many units it lies outside (below 0: inside). With q the
limit among the scores of n calibration rows, the answer is [low - q unit, high + q unit].

    absolute      low = high = prediction, unit = 1            Papadopoulos et al. 2002
    normalized    low = high = prediction, unit = spread + b   Papadopoulos, Haralambous 2011
    quantile      low, high = two quantiles, unit = 1          Romano, Patterson, Candes 2019
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from arboleda.explain._conformal import Floats, limit_of, rows_of, without_steps
from arboleda.explain._member_answers import MemberAnswers
from arboleda.explain._outputs import output_reader

__all__ = [
    "Bounds",
    "SplitRule",
    "absolute",
    "check_scores",
    "normalized",
    "predicted",
    "quantile",
    "uncrossed",
]

# Of the rows of calibration, those that learn how the spread varies, or set its floor.
_LEARN_SPREAD, _SET_FLOOR = 0.5, 0.1
# The least unit, in mean spreads: rows on which a model is certain of a wrong answer stay finite.
_FLOOR = 0.1


class Bounds(NamedTuple):
    """Lower and upper bounds for each of several coverages, and the prediction between."""

    lower: Floats  # (n_coverages, n_rows)
    upper: Floats
    prediction: Floats  # (n_rows,)


class Base(NamedTuple):
    """What is known of rows before calibration; all of shape (n_rows,)."""

    prediction: Floats
    low: Floats
    high: Floats
    unit: Floats


class Model(ABC):
    """A fitted estimator that says a base interval."""

    @abstractmethod
    def base(self, X: Any) -> Base:
        """Ask it about rows."""


class SplitRule:
    """Scores of calibration rows.

    Parameters
    ----------
    model : Model
    X : table of n rows
    y : ndarray of shape (n,)
    """

    def __init__(self, model: Model, X: Any, y: Floats) -> None:
        self._model = model
        base = model.base(X)
        with np.errstate(over="ignore"):
            scores = np.maximum(base.low - y, y - base.high) / base.unit
        check_scores(scores)
        self.scores = np.sort(scores)

    @property
    def n_rows(self) -> int:
        """Calibration rows."""
        return len(self.scores)

    def guaranteed(self, coverage: float) -> float:
        """Coverage that is a theorem."""
        return coverage

    def bounds(self, X: Any, coverages: tuple[float, ...]) -> Bounds:
        """Answer about new rows."""
        base = self._model.base(X)
        lower = np.empty((len(coverages), len(base.low)))
        upper = np.empty_like(lower)
        for k, coverage in enumerate(coverages):
            limit = limit_of(self.scores, coverage)
            with np.errstate(over="ignore"):
                lower[k] = base.low - limit * base.unit
                upper[k] = base.high + limit * base.unit
        # Where quantiles are pulled in by more than their distance, the middle stays.
        return Bounds(*uncrossed(lower, upper), base.prediction)


def uncrossed(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Put the middle for both bounds where they have changed places."""
    crossed = lower > upper
    lower[crossed] = upper[crossed] = lower[crossed] / 2 + upper[crossed] / 2
    return lower, upper


def check_scores(scores: Floats) -> None:
    """Refuse residuals that float64 cannot hold."""
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(
            f"the difference of y and its prediction in row {row} is beyond float64: multiply y by "
            "a constant, such as 1 / abs(y).max(), and fit again"
        )


def predicted(estimator: Any, X: Any) -> Floats:
    """Predictions of a fitted regressor, one finite number a row."""
    said = output_reader(estimator)(X)
    name = type(estimator).__name__
    if said.kind != "value":
        raise ValueError(f"{name} is no regressor: of classes ask prediction_set")
    if said.values.shape[1] != 1:
        raise ValueError(
            f"{name} predicts {said.values.shape[1]} numbers a row: of several quantiles use "
            "method='quantile', of several targets ask for each by itself"
        )
    return said.values[:, 0]


class _Point(Model):
    """A prediction and nothing else."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def base(self, X: Any) -> Base:
        values = predicted(self._estimator, X)
        return Base(values, values, values, np.ones_like(values))


class _Spread(Model):
    """A prediction, and how far off it may be: as another model says, or as its members differ."""

    def __init__(self, estimator: Any, errors: Any | None, floor: float) -> None:
        self._estimator = estimator
        self._errors = errors
        self._floor = floor

    def base(self, X: Any) -> Base:
        values = predicted(self._estimator, X)
        return Base(values, values, values, self.spread(X) + self._floor)

    def spread(self, X: Any) -> Floats:
        if self._errors is None:
            return MemberAnswers(self._estimator, X).spread()
        return np.maximum(predicted(self._errors, X), 0.0)


class _Quantiles(Model):
    """Two quantiles that a model says."""

    def __init__(self, estimator: Any, coverage: float) -> None:
        self._estimator = estimator
        self._levels = [(1 - coverage) / 2, 0.5, (1 + coverage) / 2]

    def base(self, X: Any) -> Base:
        last, table = without_steps(self._estimator, X)
        if hasattr(last, "predict_quantiles"):
            levels = self._levels
            values = np.asarray(last.predict_quantiles(table, levels), dtype=np.float64)
        else:
            levels = _levels_of(last)
            values = output_reader(self._estimator)(X).values
        if values.shape != (len(values), len(levels)):
            raise ValueError(
                f"{type(last).__name__} predicts an array of shape {values.shape} for "
                f"{len(levels)} quantiles: one target is expected"
            )
        low, high = values.min(axis=1), values.max(axis=1)
        middle = values[:, levels.index(0.5)] if 0.5 in levels else low / 2 + high / 2
        return Base(middle, low, high, np.ones(len(values)))


def _levels_of(estimator: Any) -> list[float]:
    """Levels of a booster of several quantiles, in the order of its columns."""
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    levels = np.empty(0)
    if params.get("loss") == "quantile":
        levels = np.atleast_1d(params["quantile" if "quantile" in params else "alpha"])
    if levels.size < 2:
        raise ValueError(
            f"method='quantile' needs a model that predicts two quantiles or more, but "
            f"{type(estimator).__name__} does not: fit HistGradientBoostingRegressor(loss="
            "'quantile', quantile=[0.05, 0.5, 0.95]) or a forest with keep_rows=True"
        )
    return [float(level) for level in levels]


def absolute(estimator: Any, X: Any, y: Floats) -> SplitRule:
    """Calibrate by absolute residuals: every interval has the same width."""
    return SplitRule(_Point(estimator), X, y)


def quantile(estimator: Any, X: Any, y: Floats, coverage: float) -> SplitRule:
    """Calibrate quantiles that the model says: widths as the model sees them, moved by a constant.

    A model that is asked for its levels says those of ``coverage``.
    """
    return SplitRule(_Quantiles(estimator, coverage), X, y)


def normalized(estimator: Any, X: Any, y: Floats, errors: Any | None, random: Any) -> SplitRule:
    """Calibrate by residuals in units of a spread that varies from row to row.

    What the unit is made of must know nothing of the rows that are scored, so some rows of the
    calibration are set aside: half of them to fit ``errors`` on their absolute residuals, or a
    tenth where the spread is that of the members; their mean spread sets the floor of the unit.
    """
    n_rows = len(y)
    share = _SET_FLOOR if errors is None else _LEARN_SPREAD
    n_aside = max(1, round(share * n_rows))
    if n_aside == n_rows:
        raise ValueError(
            f"method='normalized' sets aside {n_aside} of the rows of calibration, and no other is "
            "left: give more rows"
        )
    order = check_random_state(random).permutation(n_rows)
    aside, scored = np.sort(order[:n_aside]), np.sort(order[n_aside:])
    X_aside = rows_of(X, aside)
    with np.errstate(over="ignore"):
        residuals = np.abs(y[aside] - predicted(estimator, X_aside))
    check_scores(residuals)
    fitted = None if errors is None else clone(errors).fit(X_aside, residuals)
    if fitted is None:
        MemberAnswers(estimator, X_aside).check_mean()
    spread = _Spread(estimator, fitted, 0.0).spread(X_aside)
    floor = _FLOOR * (_mean(spread) or _mean(residuals)) or 1.0
    return SplitRule(_Spread(estimator, fitted, floor), rows_of(X, scored), y[scored])


def _mean(sizes: Floats) -> float:
    """Mean of numbers that are not negative, whose sum may be beyond float64."""
    largest = float(sizes.max())
    return largest * float(np.mean(sizes / largest)) if largest else 0.0
