"""Brier scores, areas under time-dependent ROC curves and calibration of survival curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.integrate import trapezoid
from scipy.stats import chi2

from arboleda._utils.concordance import read_risk
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.survival_times import SurvivalTimes, read_survival_times
from arboleda.metrics._censoring import CensoringCurve, kaplan_meier

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "DCalibration",
    "cumulative_dynamic_auc",
    "d_calibration",
    "integrated_survival_brier_score",
    "read_curves",
    "survival_brier_score",
]

Floats = npt.NDArray[np.float64]


def survival_brier_score(
    y_train: Any, y: Any, survival: npt.ArrayLike, times: npt.ArrayLike
) -> Floats:
    """Compute the Brier score at each time, with inverse censoring weights.

    The mean squared difference of the predicted survival S(t) and the state at t, where rows with
    the event by t have the weight 1 / G(time of the event), rows after t have 1 / G(t), and rows
    that were censored by t have 0.

    Parameters
    ----------
    y_train : structured ndarray or data frame
        Event indicators and times from which G, the probability of not being censored, is
        estimated: usually those of the training rows.
    y : structured ndarray or data frame of n_samples rows
        Event indicator and time.
    survival : array-like of shape (n_samples, n_times)
        Predicted probabilities of no event up to each time.
    times : array-like of shape (n_times,)
        Ascending times, from the first time of ``y`` up to before the last.

    Returns
    -------
    scores : ndarray of shape (n_times,)
        0 is perfect.

    Raises
    ------
    ValueError
        If shapes differ, a probability is not in [0, 1], times are outside the range, or G is
        unknown.

    References
    ----------
    E. Graf, C. Schmoor, W. Sauerbrei, M. Schumacher (1999), "Assessment and comparison of
    prognostic classification schemes for survival data", Statistics in Medicine 18(17-18).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import survival_brier_score
    >>> y = np.array([(True, 1.0), (True, 2.0), (True, 3.0)], dtype="?,f8")
    >>> survival_brier_score(y, y, [[0.0], [0.5], [1.0]], [1.5]).round(4).tolist()
    [0.0833]
    """
    rows = read_survival_times(y, requires_event=False)
    at, curves = read_curves(rows, survival, times)
    censoring = CensoringCurve.fit(read_survival_times(y_train, "y_train", requires_event=False))
    weight_at = _invert(censoring.predict(at))
    weight_of_row = _invert(censoring.predict(rows.time))[:, np.newaxis]
    later = rows.time[:, np.newaxis] > at
    had_event = ~later & rows.event[:, np.newaxis]
    errors = np.where(had_event, curves**2 * weight_of_row, 0.0)
    errors += np.where(later, (1.0 - curves) ** 2 * weight_at, 0.0)
    scores: Floats = errors.mean(axis=0)
    return scores


def integrated_survival_brier_score(
    y_train: Any, y: Any, survival: npt.ArrayLike, times: npt.ArrayLike
) -> float:
    """Compute the mean of `survival_brier_score` over time, by the trapezoidal rule.

    Parameters
    ----------
    y_train, y, survival, times
        As in `survival_brier_score`; at least two times.

    Returns
    -------
    score : float

    Raises
    ------
    ValueError
        As `survival_brier_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import integrated_survival_brier_score
    >>> y = np.array([(True, 1.0), (True, 2.0), (True, 3.0)], dtype="?,f8")
    >>> integrated_survival_brier_score(y, y, np.full((3, 2), 0.5), [1.0, 2.0])
    0.25
    """
    scores = survival_brier_score(y_train, y, survival, times)
    return integrate(scores, np.asarray(times, dtype=np.float64))


def integrate(scores: Floats, times: Floats) -> float:
    """Return the mean of scores over time, by the trapezoidal rule."""
    if len(times) < 2:
        raise ValueError(f"times has {len(times)} entry: a mean over time requires two or more")
    return float(trapezoid(scores, times) / (times[-1] - times[0]))


def cumulative_dynamic_auc(
    y_train: Any, y: Any, risk: npt.ArrayLike, times: npt.ArrayLike, *, tied_tol: float = 1e-8
) -> tuple[Floats, float]:
    """Compute the area under the ROC curve of rows with the event by t against those after t.

    Rows with the event by t are weighted by 1 / G(time of the event).

    Parameters
    ----------
    y_train : structured ndarray or data frame
        As in `survival_brier_score`.
    y : structured ndarray or data frame of n_samples rows
        Event indicator and time.
    risk : array-like of shape (n_samples,) or (n_samples, n_times)
        Predicted risk, which may depend on the time; larger means an earlier event.
    times : array-like of shape (n_times,)
        Ascending times, from the first time of ``y`` up to before the last.
    tied_tol : float, default=1e-8
        Largest difference of neighbouring risks that are considered equal.

    Returns
    -------
    areas : ndarray of shape (n_times,)
        NaN at times by which no row had the event.
    mean : float
        Their mean, weighted by the drops of the Kaplan-Meier estimate of ``y``.

    Raises
    ------
    ValueError
        If shapes differ, a risk is not finite, times are outside the range, or G is 0 or unknown at
        the time of an event.

    References
    ----------
    H. Uno, T. Cai, L. Tian, L. Wei (2007), "Evaluating prediction rules for t-year survivors with
    censored regression models", Journal of the American Statistical Association 102.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import cumulative_dynamic_auc
    >>> y = np.array([(True, 1.0), (True, 2.0), (True, 3.0)], dtype="?,f8")
    >>> areas, mean = cumulative_dynamic_auc(y, y, [3.0, 2.0, 1.0], [1.0, 2.0])
    >>> areas.tolist(), mean
    ([1.0, 1.0], 1.0)
    """
    rows = read_survival_times(y, requires_event=False)
    at = _read_times(rows, times)
    values = np.asarray(risk, dtype=np.float64)
    if values.ndim == 1:
        values = np.broadcast_to(read_risk(values, len(rows))[:, np.newaxis], (len(rows), len(at)))
    elif values.shape != (len(rows), len(at)) or not np.isfinite(values).all():
        raise ValueError(
            f"risk has the shape {values.shape}: {len(rows)} rows and {len(at)} times need one "
            "finite number each"
        )
    weight = np.zeros(len(rows))
    censoring = CensoringCurve.fit(read_survival_times(y_train, "y_train", requires_event=False))
    weight[rows.event] = censoring.compute_inverse(rows.time[rows.event])
    areas = np.array(
        [
            compute_area(
                np.where(rows.time <= t, weight, 0.0), rows.time > t, values[:, k], tied_tol
            )
            for k, t in enumerate(at)
        ]
    )
    return areas, _average_areas(areas, rows, at)


def compute_area(case: Floats, control: npt.NDArray[np.bool_], risk: Floats, tol: float) -> float:
    order = np.argsort(-risk)
    ends = np.append(np.abs(np.diff(risk[order])) > tol, True)
    true = np.cumsum(case[order])
    false = np.cumsum(control[order])
    if not true[-1] > 0.0:
        return float("nan")
    x, y = np.append(0.0, false[ends] / false[-1]), np.append(0.0, true[ends] / true[-1])
    return float(trapezoid(y, x))


def _average_areas(areas: Floats, rows: SurvivalTimes, at: Floats) -> float:
    if len(at) == 1:
        return float(areas[0])
    time, survival = kaplan_meier(rows)
    values = np.append(1.0, survival)[np.searchsorted(time, at, side="right")]
    drops = -np.diff(values, prepend=1.0)
    used = drops > 0.0
    if not used.any():
        return float("nan")
    return float(np.sum(areas[used] * drops[used]) / (1.0 - values[-1]))


@dataclass(frozen=True, repr=False)
class DCalibration(Result):
    """Result of `d_calibration`.

    Attributes
    ----------
    shares : ndarray of shape (n_bins,)
        Share of the rows in each bin of the predicted survival at their own time; of a calibrated
        model they are equal, up to chance.
    statistic, p_value : float
        Pearson's chi-squared test of equal shares. A small p-value is evidence of miscalibration.
    """

    shares: Floats
    statistic: float
    p_value: float

    def _summarize(self) -> dict[str, Any]:
        return {"n_bins": len(self.shares), "statistic": self.statistic, "p_value": self.p_value}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per bin: ``lower``, ``upper`` and ``share``."""
        edges = np.linspace(0.0, 1.0, len(self.shares) + 1)
        return new_frame({"lower": edges[:-1], "upper": edges[1:], "share": self.shares})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the shares as bars, with a line at their value for a calibrated model.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        n_bins = len(self.shares)
        ax.bar((np.arange(n_bins) + 0.5) / n_bins, self.shares, 0.9 / n_bins)
        ax.axhline(1.0 / n_bins, color="black", linewidth=1)
        ax.set_xlabel("predicted survival at the time of the row")
        ax.set_ylabel("share of rows")
        return ax


def d_calibration(y: Any, survival_at_time: npt.ArrayLike, *, n_bins: int = 10) -> DCalibration:
    """Test whether predicted survival curves are calibrated over all probabilities.

    If they are, the predicted survival at the time of the event is uniform. A row that was censored
    at the predicted survival s counts as spread over [0, s].

    Parameters
    ----------
    y : structured ndarray or data frame of n_samples rows
        Event indicator and time.
    survival_at_time : array-like of shape (n_samples,)
        Predicted survival of each row at its own time.
    n_bins : int, default=10
        Number of bins of equal width.

    Returns
    -------
    DCalibration

    Raises
    ------
    ValueError
        If lengths differ, a probability is not in [0, 1], or ``n_bins`` is below 2.

    References
    ----------
    H. Haider, B. Hoehn, S. Davis, R. Greiner (2020), "Effective ways to build and evaluate
    individual survival distributions", Journal of Machine Learning Research 21.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import d_calibration
    >>> y = np.array([(True, 1.0), (True, 2.0), (False, 3.0)], dtype="?,f8")
    >>> d_calibration(y, [0.9, 0.4, 0.5], n_bins=2).shares.round(3).tolist()
    [0.667, 0.333]
    """
    rows = read_survival_times(y, requires_event=False)
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, got {n_bins}")
    s = np.asarray(survival_at_time, dtype=np.float64)
    if s.shape != (len(rows),) or not ((s >= 0.0) & (s <= 1.0)).all():
        raise ValueError(f"survival_at_time must hold {len(rows)} probabilities in [0, 1]")
    bins = np.minimum((s * n_bins).astype(np.int64), n_bins - 1)
    counts = np.bincount(bins[rows.event], minlength=n_bins).astype(np.float64)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    censored = s[~rows.event]
    # The share of [0, s] in each bin; all of the lowest bin where s is 0.
    covered = np.clip(censored[:, np.newaxis] - edges[:-1], 0.0, 1.0 / n_bins)
    total = covered.sum(axis=1, keepdims=True)
    covered[total[:, 0] == 0.0, 0] = 1.0
    counts += np.sum(covered / np.where(total > 0.0, total, 1.0), axis=0)
    expected = len(rows) / n_bins
    statistic = float(np.sum((counts - expected) ** 2 / expected))
    return DCalibration(counts / len(rows), statistic, float(chi2.sf(statistic, n_bins - 1)))


def read_curves(
    rows: SurvivalTimes, survival: npt.ArrayLike, times: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Check and return times and survival probabilities."""
    at = _read_times(rows, times)
    curves = np.asarray(survival, dtype=np.float64)
    if curves.ndim == 1 and len(at) == 1:
        curves = curves[:, np.newaxis]
    if curves.shape != (len(rows), len(at)):
        raise ValueError(
            f"survival has the shape {curves.shape}; {len(rows)} rows and {len(at)} times are "
            "expected"
        )
    wrong = np.argwhere(~((curves >= 0.0) & (curves <= 1.0)))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(
            f"survival is {curves[row, column]} in row {row} at time {at[column]:g}: probabilities "
            "must be between 0 and 1"
        )
    return at, curves


def _read_times(rows: SurvivalTimes, times: npt.ArrayLike) -> Floats:
    at = np.atleast_1d(np.asarray(times, dtype=np.float64))
    first, last = rows.time.min(), rows.time.max()
    if at.ndim != 1 or not at.size or not (np.diff(at) > 0.0).all():
        raise ValueError("times must be a list of ascending, distinct times")
    outside = ~((at >= first) & (at < last))
    if outside.any():
        raise ValueError(
            f"times has {at[outside][0]:g}, but the rows of y are only observed from {first:g} to "
            f"{last:g}: give times from {first:g} up to before {last:g}"
        )
    return at


def _invert(probability: Floats) -> Floats:
    """Return 1 / G; 0 where G is 0, as no row is observed there."""
    return np.divide(1.0, probability, out=np.zeros_like(probability), where=probability > 0.0)
