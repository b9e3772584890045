"""Prediction intervals for any regressor, with coverage that does not depend on its accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._utils.frames import new_frame
from arboleda._utils.results import NotebookDisplay, Result
from arboleda.explain._conformal import (
    COVERAGES,
    Floats,
    as_native_table,
    as_target_array,
    compute_limit,
    read_coverage,
    read_coverages,
    read_pair,
    warn_few_rows,
)
from arboleda.explain._coverage_curve import CoverageCurve
from arboleda.explain._prediction_interval_plus import CvPlus, JackknifePlusAfterBootstrap, PlusRule
from arboleda.explain._prediction_interval_rules import (
    SplitRule,
    calibrate_absolute,
    calibrate_normalized,
    calibrate_quantile,
)
from arboleda.plot import intervals

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Intervals", "PredictionInterval", "prediction_interval"]

Method = Literal["auto", "absolute", "normalized", "quantile", "jackknife+ab", "cv+"]
_OF_CALIBRATION = ("absolute", "normalized", "quantile")
_OF_TRAINING = ("jackknife+ab", "cv+")


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Result):
    """Prediction intervals, one per row.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_rows,)
        Bounds, which belong to the interval; infinite if there are too few calibration rows.
    prediction : ndarray of shape (n_rows,)
        Prediction of the model; not always inside the interval.
    coverage : float
        Nominal coverage.
    """

    lower: Floats
    upper: Floats
    prediction: Floats
    coverage: float

    @property
    def width(self) -> Floats:
        """Upper minus lower bound; infinite if one of them is or the difference overflows."""
        with np.errstate(over="ignore"):
            width: Floats = self.upper - self.lower
        return width

    def covers(self, y: Any) -> npt.NDArray[np.bool_]:
        """Return which values lie inside their interval.

        Parameters
        ----------
        y : array-like of shape (n_rows,)

        Returns
        -------
        inside : ndarray of bool, shape (n_rows,)
        """
        values = as_target_array(y, numeric=True)
        if values.shape != self.lower.shape:
            raise ValueError(
                f"y has shape {values.shape}, but there are {len(self.lower)} intervals"
            )
        inside: npt.NDArray[np.bool_] = (self.lower <= values) & (values <= self.upper)
        return inside

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_rows": len(self.prediction),
            "coverage": self.coverage,
            "median_width": float(np.median(self.width)) if self.width.size else np.nan,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per interval as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``prediction``, ``lower`` and ``upper``.
        """
        return new_frame({"prediction": self.prediction, "lower": self.lower, "upper": self.upper})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the intervals in the order of their predictions, at most 200 of them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        return intervals(self, ax)


@dataclass(frozen=True, eq=False, repr=False)
class PredictionInterval(NotebookDisplay):
    """A calibrated model that predicts intervals, as returned by `prediction_interval`.

    Attributes
    ----------
    method : str
        Method of calibration.
    coverage : float
        Default share of rows to be covered by `predict`.
    rule : object
        The residuals, and the rule that converts them to bounds.
    """

    method: str
    coverage: float
    rule: SplitRule | PlusRule

    def _summarize(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "coverage": self.coverage,
            "guaranteed_coverage": self.guaranteed_coverage,
            "n_rows": self.n_rows,
        }

    @property
    def n_rows(self) -> int:
        """Number of rows whose residuals determine the widths."""
        return self.rule.n_rows

    @property
    def guaranteed_coverage(self) -> float:
        """Coverage that is proven for exchangeable rows, whatever the accuracy of the model.

        ``coverage`` itself for the methods with calibration rows; about 2 coverage - 1 for those
        with training rows, which cover about ``coverage`` in practice.
        """
        return self.rule.compute_guaranteed_coverage(self.coverage)

    @property
    def half_width(self) -> float:
        """Half of the width shared by all intervals, for ``method="absolute"``.

        Raises
        ------
        ValueError
            If widths differ from row to row.
        """
        if self.method != "absolute" or not isinstance(self.rule, SplitRule):
            raise ValueError(
                f"half_width is defined for method='absolute' only: with method={self.method!r} "
                "the width differs from row to row"
            )
        return compute_limit(self.rule.scores, self.coverage)

    def predict(self, X: Any, coverage: float | None = None) -> Intervals:
        """Predict intervals for new rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows, in the form that the model expects.
        coverage : float, default=None
            Another share of rows to be covered, without recalibration. Intervals become wider as it
            increases.

        Returns
        -------
        intervals : Intervals
            With ``lower``, ``upper``, ``prediction``, ``width``, ``covers(y)`` and ``to_frame()``.
        """
        if coverage is None:
            wanted = self.coverage
        else:
            wanted = read_coverage(coverage)
            warn_few_rows(wanted, self.n_rows, "calibration rows")
        lower, upper, prediction = self.rule.predict_bounds(as_native_table(X), (wanted,))
        return Intervals(lower[0], upper[0], prediction, wanted)

    def coverage_curve(self, X: Any, y: Any, coverages: Any = COVERAGES) -> CoverageCurve:
        """Compute the empirical coverage of some rows for several nominal coverages.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows not used for fitting or calibration.
        y : array-like of shape (n_rows,)
        coverages : iterable of float
            Nominal coverages.

        Returns
        -------
        curve : CoverageCurve
            With ``to_frame()`` and ``plot()``.
        """
        wanted = read_coverages(coverages)
        X, target = read_pair((X, y), "(X, y)", numeric=True)
        lower, upper, _ = self.rule.predict_bounds(X, wanted)
        with np.errstate(over="ignore"):
            size = (upper - lower).mean(axis=1)
        return CoverageCurve(
            promised=np.array(wanted),
            covered=((lower <= target) & (target <= upper)).mean(axis=1),
            size=size,
            size_name="mean width",
            n_rows=len(target),
            name=self.method,
        )


def prediction_interval(
    estimator: Any,
    *,
    calibration: tuple[Any, Any] | None = None,
    training: tuple[Any, Any] | None = None,
    method: Method = "auto",
    coverage: float = 0.9,
    spread: Any = None,
    cv: Any = 10,
    random_state: Any = None,
) -> PredictionInterval:
    """Calibrate prediction intervals that contain the target with a given probability.

    The errors of a regressor on rows that it was not fitted on show how large its errors on new
    rows of the same kind will be. The coverage depends on this alone, not on the accuracy of the
    model.

    Intervals from residuals of the rows that the model was fitted on would be too short. Give
    either ``calibration=(X, y)``, rows that the fitted model has **not** seen, or
    ``training=(X, y)``, the rows that it was fitted on, for methods that leave each of them out in
    turn.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn regressor, possibly a pipeline; fitted, except for ``"cv+"``.
    calibration : tuple (X, y), default=None
        Rows that the estimator was not fitted on.
    training : tuple (X, y), default=None
        Its training rows, in their original order.
    method : {"auto", "absolute", "normalized", "quantile", "jackknife+ab", "cv+"}, default="auto"
        With ``calibration``:

        - ``"absolute"``, the default: prediction plus and minus the ceil((n + 1) coverage)-th
          smallest absolute residual, the same for all rows.
        - ``"normalized"``: widths proportional to the expected error on each row, estimated by
          ``spread``.
        - ``"quantile"``: two predicted quantiles, moved outwards or inwards by a constant. For
          boosting with several quantiles (the outermost two) and forests with ``keep_rows=True``.

        With ``training``:

        - ``"jackknife+ab"``, the default: for forests and bagging. The residual of each training
          row is out of bag; nothing is refitted.
        - ``"cv+"``: clones of any estimator, each fitted without one fold; with one fold per row
          (``cv=len(y)``), the jackknife+.
    coverage : float, default=0.9
        Share of rows to be covered, between 0 and 1.
    spread : estimator, default=None
        For ``"normalized"``: a regressor; a clone is fitted to the absolute residuals of one half
        of the calibration rows, and the other half calibrates. None: the standard deviation of the
        members' predictions, for forests and bagging; a tenth of the rows is held out to set its
        lower limit.
    cv : int or splitter, default=10
        For ``"cv+"``: the folds.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows held out by ``"normalized"``, and of the folds of ``"cv+"``.

    Returns
    -------
    calibrated : PredictionInterval
        With ``predict(X)``, ``coverage_curve(X, y)`` and ``guaranteed_coverage``.

    Raises
    ------
    ValueError
        If not exactly one of calibration and training is given, the method needs the other, the
        estimator is not a single-target regressor or lacks what the method needs, or residuals
        overflow float64.

    Warns
    -----
    UserWarning
        If there are fewer than coverage / (1 - coverage) rows, too few for the coverage: intervals
        are then infinite.

    Notes
    -----
    The assumption is that calibration rows and new rows are exchangeable. Then, over the draw of
    both, a new row is covered with probability at least ``coverage``, and less than 1 / (n + 1)
    above it if no scores are equal. Over new rows and for the given n calibration rows, the share
    covered follows a beta distribution with parameters k = ceil((n + 1) coverage) and n + 1 - k.
    The coverage is marginal: it may be lower in some subgroups. There is no guarantee for time
    series or under distribution shift. Sample weights are not supported, because the guarantee is
    about identically distributed rows.

    With training rows, 1 - 2 alpha is proven for alpha = 1 - coverage (a little less with few folds
    of many rows; for "jackknife+ab" if the number of members is itself random), and about 1 - alpha
    is observed unless the model is unstable.

    References
    ----------
    H. Papadopoulos, K. Proedrou, V. Vovk, A. Gammerman (2002), "Inductive confidence machines for
    regression". H. Papadopoulos, H. Haralambous (2011), "Reliable prediction intervals with
    regression neural networks". J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman (2018),
    "Distribution-free predictive inference for regression". Y. Romano, E. Patterson, E. Candes
    (2019), "Conformalized quantile regression". B. Kim, C. Xu, R. F. Barber (2020), "Predictive
    inference is free with the jackknife+-after-bootstrap". R. F. Barber, E. Candes, A. Ramdas,
    R. Tibshirani (2021), "Predictive inference with the jackknife+".

    Examples
    --------
    >>> from arboleda import RandomForestRegressor
    >>> from arboleda.explain import prediction_interval
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(100, random_state=0).fit(X[:300], y[:300])
    >>> calibrated = prediction_interval(forest, training=(X[:300], y[:300]), coverage=0.9)
    >>> intervals = calibrated.predict(X[300:])
    >>> bool(abs(intervals.covers(y[300:]).mean() - 0.9) < 0.05)
    True
    """
    coverage = read_coverage(coverage)
    pair, chosen = _select_rows(calibration, training, method)
    name = "training" if calibration is None else "calibration"
    X, y = read_pair(pair, name, numeric=True)
    if spread is not None and chosen != "normalized":
        raise ValueError(f"spread is only valid for method='normalized', got method={chosen!r}")
    rule: SplitRule | PlusRule
    if chosen == "absolute":
        rule = calibrate_absolute(estimator, X, y)
    elif chosen == "normalized":
        rule = calibrate_normalized(estimator, X, y, spread, random_state)
    elif chosen == "quantile":
        rule = calibrate_quantile(estimator, X, y, coverage)
    elif chosen == "jackknife+ab":
        rule = JackknifePlusAfterBootstrap(estimator, X, y)
    else:
        rule = CvPlus(estimator, X, y, cv, random_state)
    warn_few_rows(coverage, rule.n_rows, f"{name} rows")
    return PredictionInterval(chosen, coverage, rule)


def _select_rows(calibration: Any, training: Any, method: str) -> tuple[Any, str]:
    """Return the given pair of rows and targets, and the method to use."""
    methods = ("auto", *_OF_CALIBRATION, *_OF_TRAINING)
    if method not in methods:
        raise ValueError(f"method must be one of {', '.join(methods)}, got {method!r}")
    if (calibration is None) == (training is None):
        raise ValueError(
            "give exactly one of calibration=(X, y), rows that the estimator has not seen, and "
            "training=(X, y), the rows that it was fitted on"
        )
    if training is None:
        if method in _OF_TRAINING:
            raise ValueError(f"method={method!r} needs the training rows: training=(X, y)")
        return calibration, "absolute" if method == "auto" else method
    if method in _OF_CALIBRATION:
        raise ValueError(
            f"method={method!r} needs rows that the estimator has not seen: calibration=(X, y)"
        )
    return training, "jackknife+ab" if method == "auto" else method
