"""Lower bounds of the time to an event, for any survival model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.number_types import is_real
from arboleda._utils.results import NotebookDisplay, Result
from arboleda._utils.survival_times import SurvivalTimes, read_survival_times
from arboleda.explain._conformal import (
    Floats,
    as_native_table,
    compute_rank,
    read_coverage,
    take_rows,
    warn_few_rows,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["SurvivalBounds", "SurvivalInterval", "survival_interval"]

# An estimated probability of a late censoring below this counts as this: no row weighs too much.
SMALLEST_PROBABILITY = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalBounds(Result):
    """Lower bounds of the times of new rows.

    Attributes
    ----------
    lower : ndarray of shape (n_rows,)
        The event comes at this time or later, with probability ``coverage``. Between 0, if nothing
        can be said, and ``horizon``.
    coverage : float
    horizon : float
        The largest possible bound.
    """

    lower: Floats
    coverage: float
    horizon: float

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_rows": len(self.lower),
            "coverage": self.coverage,
            "horizon": self.horizon,
            "median_lower": float(np.median(self.lower)) if self.lower.size else np.nan,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the bounds as a pandas data frame with the column ``lower``."""
        return new_frame({"lower": self.lower})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the bounds in ascending order.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        n_rows = len(self.lower)
        ax.step((np.arange(n_rows) + 0.5) / max(n_rows, 1), np.sort(self.lower), where="mid")
        ax.axhline(self.horizon, color="grey", lw=0.8, ls="--", label="horizon")
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel("share of the rows")
        ax.set_ylabel(f"time reached with probability {self.coverage:g}")
        ax.legend(loc="lower right")
        return ax


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalInterval(NotebookDisplay):
    """A calibrated survival model, as returned by `survival_interval`.

    Attributes
    ----------
    coverage : float
        Share of rows whose event comes at their bound or later.
    horizon : float
        The largest possible bound.
    scores : ndarray of shape (n_rows,)
        By how much the model's quantile is above the time, for the calibration rows that were
        observed to the horizon; ascending.
    weights : ndarray of shape (n_rows,)
        Their weights.
    estimator : estimator
        The survival model.
    censoring_model : classifier or None
        The fitted model of late censoring; None: all weights are equal.
    """

    coverage: float
    horizon: float
    scores: Floats
    weights: Floats
    estimator: Any
    censoring_model: Any

    def _summarize(self) -> dict[str, Any]:
        return {"coverage": self.coverage, "horizon": self.horizon, "n_rows": self.n_rows}

    @property
    def n_rows(self) -> int:
        """Number of calibration rows that were observed to the horizon."""
        return len(self.scores)

    def predict(self, X: Any) -> SurvivalBounds:
        """Predict lower bounds for new rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows, in the form that the model expects.

        Returns
        -------
        bounds : SurvivalBounds
        """
        table = as_native_table(X)
        quantiles = _predict_quantiles(self.estimator, table, self.coverage, self.horizon)
        shifts = self._find_shifts(_compute_weights(self.censoring_model, table, len(quantiles)))
        lower = np.clip(quantiles - shifts, 0.0, self.horizon)
        return SurvivalBounds(lower, self.coverage, self.horizon)

    def _find_shifts(self, weights: Floats) -> Floats:
        """Return the weighted conformal quantile of the scores for rows of some weights."""
        if self.censoring_model is None:
            ranks = np.full(len(weights), compute_rank(self.coverage, self.n_rows))
        else:
            sums = np.cumsum(self.weights)
            needed = self.coverage * (sums[-1] + weights)
            ranks = np.searchsorted(sums, needed * (1.0 - 1e-12)) + 1
        found: Floats = np.append(self.scores, np.inf)[np.minimum(ranks, self.n_rows + 1) - 1]
        return found


def survival_interval(
    estimator: Any,
    *,
    calibration: tuple[Any, Any],
    censoring: npt.ArrayLike,
    coverage: float = 0.9,
    horizon: float | None = None,
    censoring_model: Any = None,
) -> SurvivalInterval:
    """Calibrate a survival model to predict lower bounds of the time to the event.

    With q(x) the model's quantile of level 1 - coverage, at most the horizon h, a calibration row
    that was observed to the horizon has the score q(x) - min(t, h), and the bound of a new row is
    q(x) less the conformal quantile of these scores. Rows with late censoring times stand for all:
    each weighs 1 / P(censored at h or later | x). The event of a new row comes at its bound or
    later with at least the probability ``coverage``, however wrong the model is, if rows are
    exchangeable, the time is independent of the censoring time given the columns, and the weights
    are right.

    Parameters
    ----------
    estimator : estimator
        A fitted model with the method ``predict_quantile(X, q)``.
    calibration : (X, y)
        Rows that the model was not fitted on, and their events and times: a structured array or a
        frame, as the survival models take it.
    censoring : array-like of shape (n_calibration,)
        When each row was or would have been censored, such as the end of the study minus the day of
        entry. It must be known for rows with the event, too.
    coverage : float, default=0.9
        Probability that the event comes at the bound or later.
    horizon : float, default=None
        The largest possible bound; rows whose censoring time is earlier are not used. None: the
        median of ``censoring``. Choose it without looking at the times.
    censoring_model : classifier, default=None
        A clone is fitted to whether the rows of ``calibration`` were censored at the horizon or
        later. None: censoring does not depend on the columns, and all weights are equal.

    Returns
    -------
    interval : SurvivalInterval
        With ``predict(X)``.

    Raises
    ------
    TypeError
        If the estimator has no ``predict_quantile``, or ``calibration`` is no pair.
    ValueError
        If lengths differ, an event is later than the censoring time of its row or a censored row
        has another censoring time than its time, no row was observed to the horizon, or an option
        is out of range.

    Warns
    -----
    UserWarning
        If so few rows were observed to the horizon that all bounds are 0.

    References
    ----------
    E. Candes, L. Lei, Z. Ren (2023), "Conformalized survival analysis", Journal of the Royal
    Statistical Society B 85(1).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import RandomSurvivalForest
    >>> from arboleda.explain import survival_interval
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> event_time = rng.exponential(np.exp(X[:, 0]))
    >>> censoring = rng.uniform(0.5, 3.0, size=2000)
    >>> y = np.array(
    ...     list(zip(event_time <= censoring, np.minimum(event_time, censoring))),
    ...     dtype=[("event", bool), ("time", float)],
    ... )
    >>> forest = RandomSurvivalForest(n_estimators=20, random_state=0).fit(X[:500], y[:500])
    >>> bounds = survival_interval(
    ...     forest, calibration=(X[500:1500], y[500:1500]), censoring=censoring[500:1500]
    ... ).predict(X[1500:])
    >>> bool((event_time[1500:] >= bounds.lower).mean() > 0.86)
    True
    """
    if not callable(getattr(estimator, "predict_quantile", None)):
        raise TypeError(
            f"{type(estimator).__name__} has no method predict_quantile: pass a survival tree, "
            "forest or boosting"
        )
    pair: Any = calibration
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(
            f"calibration must be a pair, calibration=(X, y), got {type(calibration).__name__}"
        )
    wanted = read_coverage(coverage)
    table, times = as_native_table(pair[0]), read_survival_times(pair[1])
    if table.shape[0] != len(times):
        raise ValueError(f"X of calibration has {table.shape[0]} rows, but y has {len(times)}")
    ends = _read_censoring(censoring, times)
    latest = float(np.median(ends)) if horizon is None else _read_horizon(horizon)
    is_late = ends >= latest
    if not is_late.any():
        raise ValueError(
            f"horizon={latest} is later than all censoring times, of which the last is "
            f"{ends.max()}: set an earlier one"
        )
    model = None
    if censoring_model is not None and not is_late.all():
        model = clone(censoring_model).fit(table, is_late)
    late = take_rows(table, np.flatnonzero(is_late))
    weights = _compute_weights(model, late, int(is_late.sum()))
    quantiles = _predict_quantiles(estimator, late, wanted, latest)
    scores = quantiles - np.minimum(times.time[is_late], latest)
    order = np.argsort(scores, kind="stable")
    warn_few_rows(wanted, len(scores), "calibration rows that were observed to the horizon")
    return SurvivalInterval(wanted, latest, scores[order], weights[order], estimator, model)


def _read_horizon(horizon: Any) -> float:
    if not is_real(horizon) or isinstance(horizon, bool) or not 0.0 < horizon < np.inf:
        raise ValueError(f"horizon must be a positive number, got {horizon!r}")
    return float(horizon)


def _read_censoring(censoring: npt.ArrayLike, times: SurvivalTimes) -> Floats:
    ends = np.asarray(censoring, dtype=np.float64)
    if ends.shape != times.time.shape:
        raise ValueError(
            f"censoring has the shape {ends.shape}, but calibration has {len(times)} rows"
        )
    wrong = np.flatnonzero(~np.isfinite(ends))
    if wrong.size:
        raise ValueError(
            f"censoring is {ends[wrong[0]]} in row {wrong[0]}: give the time at which the row "
            "would have been censored, or leave the row out"
        )
    for is_wrong, what in (
        (times.event & (ends < times.time), "before its event"),
        (~times.event & (ends != times.time), "but the row was censored"),
    ):
        wrong = np.flatnonzero(is_wrong)
        if wrong.size:
            row = wrong[0]
            raise ValueError(
                f"censoring is {ends[row]} in row {row}, {what} at {times.time[row]}: give the "
                "time at which each row was or would have been censored"
            )
    return ends


def _compute_weights(model: Any, table: Any, n_rows: int) -> Floats:
    """Return 1 / P(censored at the horizon or later) of rows; 1 without a model."""
    if model is None:
        return np.ones(n_rows)
    probability = np.asarray(model.predict_proba(table))[:, list(model.classes_).index(True)]
    weights: Floats = 1.0 / np.maximum(probability, SMALLEST_PROBABILITY)
    return weights


def _predict_quantiles(estimator: Any, table: Any, coverage: float, horizon: float) -> Floats:
    """Return the quantiles of level 1 - coverage, at most the horizon."""
    quantiles = np.asarray(estimator.predict_quantile(table, 1.0 - coverage), dtype=np.float64)
    known = np.where(np.isnan(quantiles), np.inf, quantiles)  # a curve that ends above the level
    found: Floats = np.minimum(known, horizon)
    return found
