"""Tables of metrics of time to an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.concordance import concordance_index, read_risk
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.survival_times import SurvivalTimes, read_survival_times
from arboleda.metrics._concordance import uno_concordance_index
from arboleda.metrics._survival_curves import (
    DCalibration,
    cumulative_dynamic_auc,
    d_calibration,
    integrate,
    survival_brier_score,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["SurvivalTable", "survival_table"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class SurvivalTable(Result):
    """Result of `survival_table`.

    Attributes
    ----------
    metrics : dict
        ``harrell_c``, ``uno_c``, ``mean_auc``, ``integrated_brier`` and ``d_calibration_p``; None
        if a metric is not defined, or needs curves that were not given.
    times : ndarray of shape (n_times,)
        Times at which ``brier`` and ``auc`` are defined; empty without curves.
    brier, auc : ndarray of shape (n_times,)
        Brier score and cumulative/dynamic area under the ROC curve at each time.
    calibration : DCalibration or None
        Shares of the rows in bins of their predicted survival, and the test.
    n_rows, n_events : int
        Rows, and those with the event.
    """

    metrics: dict[str, float | None]
    times: Floats
    brier: Floats
    auc: Floats
    calibration: DCalibration | None
    n_rows: int
    n_events: int

    def _summarize(self) -> dict[str, Any]:
        known = {name: value for name, value in self.metrics.items() if value is not None}
        return {"n_rows": self.n_rows, "n_events": self.n_events, **known}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per metric."""
        return new_frame({"value": self.metrics}, dtype=float)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the Brier score and the area under the ROC curve over time.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        ax.plot(self.times, self.auc, label="area under the ROC curve")
        ax.plot(self.times, self.brier, label="Brier score")
        ax.set_ylim(0.0, 1.0)
        ax.set_xlabel("time")
        ax.legend()
        return ax


def survival_table(
    y_train: Any,
    y: Any,
    risk: npt.ArrayLike,
    survival: npt.ArrayLike | None = None,
    times: npt.ArrayLike | None = None,
) -> SurvivalTable:
    """Compute metrics of predicted risks and survival curves.

    Harrell's and Uno's concordance index, the cumulative/dynamic area under the ROC curve, the
    Brier score, both with inverse censoring weights, and D-calibration. The weights are estimated
    from ``y_train``. Uno's index and the areas only count events before the last time of
    ``y_train`` at which rows are still uncensored.

    Parameters
    ----------
    y_train : structured ndarray or data frame
        Event indicators and times of the training rows.
    y : structured ndarray or data frame of n_samples rows
        Event indicator and time.
    risk : array-like of shape (n_samples,)
        Predicted risk; larger means an earlier event.
    survival : array-like of shape (n_samples, n_times), default=None
        Predicted probabilities of no event up to each time; None: only concordance is computed.
    times : array-like of shape (n_times,), default=None
        Ascending times of the columns of ``survival``. Those at which rows of ``y`` are not
        observed are left out of the areas and Brier scores. D-calibration reads the survival at the
        time of each row as that of the last column up to it.

    Returns
    -------
    SurvivalTable

    Raises
    ------
    ValueError
        If shapes differ, no pair of rows is comparable, a risk is not finite or a probability is
        not in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import survival_table
    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype="?,f8")
    >>> table = survival_table(y, y, risk=[0.9, 0.1, 0.2])
    >>> table.metrics["harrell_c"]
    1.0
    """
    train = read_survival_times(y_train, "y_train", requires_event=False)
    rows = read_survival_times(y, requires_event=False)
    values = read_risk(risk, len(rows))
    tau = _find_tau(train, rows)
    metrics: dict[str, float | None] = {
        "harrell_c": concordance_index(rows, values),
        "uno_c": _try(lambda: uno_concordance_index(train, rows, values, tau=tau)),
        "mean_auc": None,
        "integrated_brier": None,
        "d_calibration_p": None,
    }
    none = np.empty(0)
    n_events = int(rows.event.sum())
    if survival is None or times is None:
        return SurvivalTable(metrics, none, none, none, None, len(rows), n_events)
    at = np.asarray(times, dtype=np.float64)
    curves = np.asarray(survival, dtype=np.float64)
    if curves.shape != (len(rows), len(at)):
        raise ValueError(
            f"survival has the shape {curves.shape}; {len(rows)} rows and {len(at)} times are "
            "expected"
        )
    limit = min(rows.time.max(), tau)
    used = (at >= rows.time.min()) & (at < limit)
    calibration = d_calibration(rows, _survival_at_own_time(rows, curves, at))
    metrics["d_calibration_p"] = calibration.p_value
    if not used.any():
        return SurvivalTable(metrics, none, none, none, calibration, len(rows), n_events)
    # Whatever happens after the limit does not matter at earlier times.
    cut = SurvivalTimes(rows.event & (rows.time < tau), np.minimum(rows.time, tau))
    brier = survival_brier_score(train, cut, curves[:, used], at[used])
    auc, metrics["mean_auc"] = cumulative_dynamic_auc(train, cut, values, at[used])
    if used.sum() > 1:
        metrics["integrated_brier"] = integrate(brier, at[used])
    return SurvivalTable(metrics, at[used], brier, auc, calibration, len(rows), n_events)


def _find_tau(train: SurvivalTimes, rows: SurvivalTimes) -> float:
    """Return the time before which the probability of not being censored is known and positive."""
    last = float(train.time.max())
    ends_uncensored = bool(train.event[train.time == last].all())
    if ends_uncensored and rows.time.max() <= last:
        return float("inf")
    return last


def _survival_at_own_time(rows: SurvivalTimes, curves: Floats, at: Floats) -> Floats:
    padded = np.column_stack([np.ones(len(rows)), curves])
    column = np.searchsorted(at, rows.time, side="right")
    own: Floats = padded[np.arange(len(rows)), column]
    return own


def _try(compute: Any) -> float | None:
    try:
        value: float = compute()
    except ValueError:
        return None
    return value
