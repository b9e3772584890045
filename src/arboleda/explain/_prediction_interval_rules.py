"""Split conformal intervals, calibrated by the distances of targets from base intervals.

All methods share one rule. The model returns a base interval [low, high] and a unit for each row;
the score of a row is max(low - y, y - high) / unit, its distance outside in units (below 0:
inside). With q the conformal quantile of the scores of n calibration rows, the interval is
[low - q unit, high + q unit].

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

from arboleda.explain._conformal import Floats, compute_limit, take_rows, unwrap_pipeline
from arboleda.explain._outputs import MemberPredictions, make_output_reader

__all__ = [
    "Bounds",
    "SplitRule",
    "calibrate_absolute",
    "calibrate_normalized",
    "calibrate_quantile",
    "check_scores",
    "fix_crossed_bounds",
    "predict_values",
]

# Shares of the calibration rows that fit the spread, or set its lower limit.
_LEARN_SPREAD, _SET_FLOOR = 0.5, 0.1
# Smallest unit, in mean spreads: keeps scores finite where members agree on a wrong prediction.
_FLOOR = 0.1


class Bounds(NamedTuple):
    """Lower and upper bounds for each of several coverages, and the predictions."""

    lower: Floats  # (n_coverages, n_rows)
    upper: Floats
    prediction: Floats  # (n_rows,)


class BaseIntervals(NamedTuple):
    """Intervals and units before calibration; all of shape (n_rows,)."""

    prediction: Floats
    low: Floats
    high: Floats
    unit: Floats


class BaseIntervalModel(ABC):
    """A fitted estimator that predicts base intervals."""

    @abstractmethod
    def predict_base(self, X: Any) -> BaseIntervals:
        """Predict base intervals."""


class SplitRule:
    """Scores of calibration rows.

    Parameters
    ----------
    model : BaseIntervalModel
    X : table of n rows
    y : ndarray of shape (n,)
    """

    def __init__(self, model: BaseIntervalModel, X: Any, y: Floats) -> None:
        self._model = model
        base = model.predict_base(X)
        with np.errstate(over="ignore"):
            scores = np.maximum(base.low - y, y - base.high) / base.unit
        check_scores(scores)
        self.scores: Floats = np.sort(scores)

    @property
    def n_rows(self) -> int:
        """Number of calibration rows."""
        return len(self.scores)

    def compute_guaranteed_coverage(self, coverage: float) -> float:
        """Return the proven coverage."""
        return coverage

    def predict_bounds(self, X: Any, coverages: tuple[float, ...]) -> Bounds:
        """Compute the bounds and predictions of new rows."""
        base = self._model.predict_base(X)
        lower = np.empty((len(coverages), len(base.low)))
        upper = np.empty_like(lower)
        for k, coverage in enumerate(coverages):
            limit = compute_limit(self.scores, coverage)
            with np.errstate(over="ignore"):
                lower[k] = base.low - limit * base.unit
                upper[k] = base.high + limit * base.unit
        # Quantiles moved inwards by more than half their distance cross and become the midpoint.
        return Bounds(*fix_crossed_bounds(lower, upper), base.prediction)


def fix_crossed_bounds(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Replace crossed bounds by their midpoint."""
    crossed = lower > upper
    lower[crossed] = upper[crossed] = lower[crossed] / 2 + upper[crossed] / 2
    return lower, upper


def check_scores(scores: Floats) -> None:
    """Check that residuals are finite in float64."""
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(
            f"the residual of row {row} overflows float64: multiply y by a constant, such as "
            "1 / abs(y).max(), and fit again"
        )


def predict_values(estimator: Any, X: Any) -> Floats:
    """Predict with a fitted regressor, one finite number per row."""
    outputs = make_output_reader(estimator)(X)
    name = type(estimator).__name__
    if outputs.kind != "value":
        raise ValueError(f"{name} is not a regressor: use prediction_set for a classifier")
    if outputs.values.shape[1] != 1:
        raise ValueError(
            f"{name} predicts {outputs.values.shape[1]} numbers per row: use method='quantile' for "
            "several quantiles, or one model per target"
        )
    return outputs.values[:, 0]


class _PointModel(BaseIntervalModel):
    """Base intervals that are point predictions, with unit 1."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def predict_base(self, X: Any) -> BaseIntervals:
        values = predict_values(self._estimator, X)
        return BaseIntervals(values, values, values, np.ones_like(values))


class _SpreadModel(BaseIntervalModel):
    """Point predictions with the spread of a second model, or of the members, as the unit."""

    def __init__(self, estimator: Any, errors: Any | None, floor: float) -> None:
        self._estimator = estimator
        self._errors = errors
        self._floor = floor

    def predict_base(self, X: Any) -> BaseIntervals:
        values = predict_values(self._estimator, X)
        return BaseIntervals(values, values, values, self.compute_spread(X) + self._floor)

    def compute_spread(self, X: Any) -> Floats:
        if self._errors is None:
            return MemberPredictions(self._estimator, X).compute_spread()
        return np.maximum(predict_values(self._errors, X), 0.0)


class _QuantileModel(BaseIntervalModel):
    """Base intervals between two quantiles predicted by a model."""

    def __init__(self, estimator: Any, coverage: float) -> None:
        self._estimator = estimator
        self._levels = [(1 - coverage) / 2, 0.5, (1 + coverage) / 2]

    def predict_base(self, X: Any) -> BaseIntervals:
        last, table = unwrap_pipeline(self._estimator, X)
        if hasattr(last, "predict_quantiles"):
            levels = self._levels
            values = np.asarray(last.predict_quantiles(table, levels), dtype=np.float64)
        else:
            levels = _read_quantile_levels(last)
            values = make_output_reader(self._estimator)(X).values
        if values.shape != (len(values), len(levels)):
            raise ValueError(
                f"{type(last).__name__} predicts an array of shape {values.shape} for "
                f"{len(levels)} quantiles: give a single-target model"
            )
        low, high = values.min(axis=1), values.max(axis=1)
        middle = values[:, levels.index(0.5)] if 0.5 in levels else low / 2 + high / 2
        return BaseIntervals(middle, low, high, np.ones(len(values)))


def _read_quantile_levels(estimator: Any) -> list[float]:
    """Return the levels of a multi-quantile booster, in the order of its outputs."""
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    levels = np.empty(0)
    if params.get("loss") == "quantile":
        levels = np.atleast_1d(params["quantile" if "quantile" in params else "alpha"])
    if levels.size < 2:
        raise ValueError(
            f"method='quantile' needs a model of at least two quantiles, but "
            f"{type(estimator).__name__} is not one: fit HistGradientBoostingRegressor(loss="
            "'quantile', quantile=[0.05, 0.5, 0.95]) or a forest with keep_rows=True"
        )
    return [float(level) for level in levels]


def calibrate_absolute(estimator: Any, X: Any, y: Floats) -> SplitRule:
    """Calibrate by absolute residuals; every interval has the same width."""
    return SplitRule(_PointModel(estimator), X, y)


def calibrate_quantile(estimator: Any, X: Any, y: Floats, coverage: float) -> SplitRule:
    """Calibrate predicted quantiles by moving both bounds by a constant.

    A model with ``predict_quantiles`` predicts the levels of ``coverage``.
    """
    return SplitRule(_QuantileModel(estimator, coverage), X, y)


def calibrate_normalized(
    estimator: Any, X: Any, y: Floats, errors: Any | None, random: Any
) -> SplitRule:
    """Calibrate by residuals in units of a spread that varies from row to row.

    The unit must be independent of the scored rows, so some calibration rows are held out: half of
    them to fit ``errors`` to their absolute residuals, or a tenth if the spread is that of the
    members; their mean spread sets the lower limit of the unit.
    """
    n_rows = len(y)
    share = _SET_FLOOR if errors is None else _LEARN_SPREAD
    n_held_out = max(1, round(share * n_rows))
    if n_held_out == n_rows:
        raise ValueError(
            f"method='normalized' holds out {n_held_out} calibration row(s) and none is left: give "
            "more rows"
        )
    order = check_random_state(random).permutation(n_rows)
    held_out, scored = np.sort(order[:n_held_out]), np.sort(order[n_held_out:])
    X_held_out = take_rows(X, held_out)
    with np.errstate(over="ignore"):
        residuals = np.abs(y[held_out] - predict_values(estimator, X_held_out))
    check_scores(residuals)
    fitted = None if errors is None else clone(errors).fit(X_held_out, residuals)
    if fitted is None:
        MemberPredictions(estimator, X_held_out).check_mean()
    spread = _SpreadModel(estimator, fitted, 0.0).compute_spread(X_held_out)
    floor = _FLOOR * (_compute_mean(spread) or _compute_mean(residuals)) or 1.0
    return SplitRule(_SpreadModel(estimator, fitted, floor), take_rows(X, scored), y[scored])


def _compute_mean(sizes: Floats) -> float:
    """Compute the mean of non-negative numbers whose sum may overflow."""
    largest = float(sizes.max())
    return largest * float(np.mean(sizes / largest)) if largest else 0.0
