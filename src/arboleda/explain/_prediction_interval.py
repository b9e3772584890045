"""Prediction intervals over any regressor: coverage that does not rest on the model being right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._frames import new_frame
from arboleda.explain._conformal import (
    COVERAGES,
    Floats,
    column_of,
    limit_of,
    read_coverage,
    read_coverages,
    read_pair,
    table_of,
    tell_of_few_rows,
)
from arboleda.explain._coverage_curve import CoverageCurve
from arboleda.explain._prediction_interval_plus import CvPlus, JackknifePlusAfterBootstrap, PlusRule
from arboleda.explain._prediction_interval_rules import SplitRule, absolute, normalized, quantile

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Intervals", "PredictionInterval", "prediction_interval"]

Method = Literal["auto", "absolute", "normalized", "quantile", "jackknife+ab", "cv+"]
_OF_CALIBRATION = ("absolute", "normalized", "quantile")
_OF_TRAINING = ("jackknife+ab", "cv+")


@dataclass(frozen=True, eq=False)
class Intervals:
    """One interval a row.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_rows,)
        The bounds, which belong to the interval; infinite where nothing can be said.
    prediction : ndarray of shape (n_rows,)
        What the model predicts; not always inside.
    coverage : float
        Share of rows that are to be covered.
    """

    lower: Floats
    upper: Floats
    prediction: Floats
    coverage: float

    @property
    def width(self) -> Floats:
        """Upper minus lower bound; infinite if one of them is or the difference is too large."""
        with np.errstate(over="ignore"):
            width: Floats = self.upper - self.lower
        return width

    def covers(self, y: Any) -> npt.NDArray[np.bool_]:
        """Tell which values lie inside.

        Parameters
        ----------
        y : array-like of shape (n_rows,)

        Returns
        -------
        inside : ndarray of bool, shape (n_rows,)
        """
        values = column_of(y, numeric=True)
        if values.shape != self.lower.shape:
            raise ValueError(
                f"y has the shape {values.shape}, but there are {len(self.lower)} intervals"
            )
        inside: npt.NDArray[np.bool_] = (self.lower <= values) & (values <= self.upper)
        return inside

    def to_frame(self) -> pd.DataFrame:
        """One row per interval, as a pandas frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``prediction``, ``lower`` and ``upper``.
        """
        return new_frame({"prediction": self.prediction, "lower": self.lower, "upper": self.upper})


@dataclass(frozen=True, eq=False)
class PredictionInterval:
    """What `prediction_interval` returns: a model that answers with intervals.

    Attributes
    ----------
    method : str
        How it was calibrated.
    coverage : float
        Share of rows to be covered, where `predict` is not told otherwise.
    rule : object
        The residuals, and how they become bounds.
    """

    method: str
    coverage: float
    rule: SplitRule | PlusRule

    @property
    def n_rows(self) -> int:
        """Rows whose residuals say how wide intervals are."""
        return self.rule.n_rows

    @property
    def guaranteed_coverage(self) -> float:
        """Coverage that is proved for exchangeable rows, whatever the model is worth.

        ``coverage`` itself by the methods of calibration rows; about 2 coverage - 1 by those of
        training rows, which cover about ``coverage`` in practice.
        """
        return self.rule.guaranteed(self.coverage)

    @property
    def half_width(self) -> float:
        """Half of the width that all intervals share, where they do: by ``method="absolute"``.

        Raises
        ------
        ValueError
            If widths differ from row to row.
        """
        if self.method != "absolute" or not isinstance(self.rule, SplitRule):
            raise ValueError(f"by method={self.method!r} every row has a width of its own")
        return limit_of(self.rule.scores, self.coverage)

    def predict(self, X: Any, coverage: float | None = None) -> Intervals:
        """Say intervals of new rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            As the model takes it.
        coverage : float, default=None
            Another share of rows to be covered; no new calibration is needed. The higher, the
            wider is every interval.

        Returns
        -------
        intervals : Intervals
            With ``lower``, ``upper``, ``prediction``, ``width``, ``covers(y)`` and ``to_frame()``.
        """
        if coverage is None:
            wanted = self.coverage
        else:
            wanted = read_coverage(coverage)
            tell_of_few_rows(wanted, self.n_rows, "rows of calibration")
        lower, upper, prediction = self.rule.bounds(table_of(X), (wanted,))
        return Intervals(lower[0], upper[0], prediction, wanted)

    def coverage_curve(self, X: Any, y: Any, coverages: Any = COVERAGES) -> CoverageCurve:
        """Count how many of some rows are covered, for several coverages.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows that took no part in fitting or calibration.
        y : array-like of shape (n_rows,)
        coverages : iterable of float
            What to ask for.

        Returns
        -------
        curve : CoverageCurve
            With ``to_frame()`` and ``plot()``.
        """
        wanted = read_coverages(coverages)
        X, target = read_pair((X, y), "(X, y)", numeric=True)
        lower, upper, _ = self.rule.bounds(X, wanted)
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
    """Calibrate intervals that hold the target with some probability, over any regressor.

    A model that says 12,300 is off by some hundreds, or by thousands. How far it was off on rows
    that it did not learn from tells how far it will be on others of the same kind: this is all that
    the coverage rests on, not on the model being right.

    Which rows these are has to be said, because intervals from rows that the model knows would be
    too short. Give ``calibration=(X, y)``: rows that the fitted model has **not** seen; or
    ``training=(X, y)``: those that it was fitted on, for methods that leave each of them out in
    turn.

    Parameters
    ----------
    estimator : estimator
        A regressor of scikit-learn's kind, pipelines included; fitted, except for ``"cv+"``.
    calibration : tuple (X, y), default=None
        Rows that the estimator did not learn from.
    training : tuple (X, y), default=None
        Its training rows, in their order.
    method : {"auto", "absolute", "normalized", "quantile", "jackknife+ab", "cv+"}, default="auto"
        Of ``calibration``:

        - ``"absolute"``, the default: prediction plus and minus one width for all rows, the
          ceil((n + 1) coverage)-th smallest absolute residual.
        - ``"normalized"``: widths in proportion to how far off the model is thought to be on each
          row, by ``spread``.
        - ``"quantile"``: two quantiles that the model says, moved out or in by a constant. For
          boosters of several quantiles (the outermost two) and forests with ``keep_rows=True``.

        Of ``training``:

        - ``"jackknife+ab"``, the default: of forests and bagging. Each training row is judged by
          the members whose bags it is not in; nothing is fitted again.
        - ``"cv+"``: clones of any estimator, each fitted without a fold; with a fold for each row
          (``cv=len(y)``) the jackknife+.
    coverage : float, default=0.9
        Share of rows to be covered, between 0 and 1.
    spread : estimator, default=None
        For ``"normalized"``: a regressor; a clone learns the absolute residuals of a half of the
        calibration rows, the other half calibrates. None: the standard deviation of the members'
        answers, of forests and bagging; a tenth of the rows is set aside to set its least value.
    cv : int or splitter, default=10
        For ``"cv+"``: the folds.
    random_state : int, RandomState instance or None, default=None
        Draws the rows set aside by ``"normalized"``, and the folds of ``"cv+"``.

    Returns
    -------
    calibrated : PredictionInterval
        With ``predict(X)``, ``coverage_curve(X, y)`` and ``guaranteed_coverage``.

    Raises
    ------
    ValueError
        If not one of calibration and training is given, a method asks for the other, the estimator
        is no regressor of one target or lacks what the method needs, or residuals are beyond
        float64.

    Warns
    -----
    UserWarning
        If there are too few rows for the coverage, fewer than coverage / (1 - coverage): intervals
        are then infinite.

    Notes
    -----
    The assumption is that rows are exchangeable: calibration rows and those asked about could have
    come in any order. Then, over the draw of both, a new row is covered with probability
    ``coverage`` or more, and less than 1 / (n + 1) more where no scores are equal. Over new rows
    and for the n calibration rows at hand, the share covered follows a beta distribution of
    parameters k = ceil((n + 1) coverage) and n + 1 - k. It is a share of all rows: of some kinds of
    rows fewer may be covered. Where rows have an order in time or new ones come from elsewhere
    nothing is promised; rows have no weights, because the promise is about rows drawn alike.

    Of training rows 1 - 2 alpha is proved for alpha = 1 - coverage (a little less with few folds of
    many rows; for "jackknife+ab" if the number of members is itself drawn), and about 1 - alpha is
    seen except where the model is unstable.

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
    >>> sure = prediction_interval(forest, training=(X[:300], y[:300]), coverage=0.9)
    >>> intervals = sure.predict(X[300:])
    >>> bool(abs(intervals.covers(y[300:]).mean() - 0.9) < 0.05)
    True
    """
    coverage = read_coverage(coverage)
    pair, chosen = _rows_of_method(calibration, training, method)
    name = "training" if calibration is None else "calibration"
    X, y = read_pair(pair, name, numeric=True)
    if spread is not None and chosen != "normalized":
        raise ValueError(f"spread is for method='normalized', but the method is {chosen!r}")
    rule: SplitRule | PlusRule
    if chosen == "absolute":
        rule = absolute(estimator, X, y)
    elif chosen == "normalized":
        rule = normalized(estimator, X, y, spread, random_state)
    elif chosen == "quantile":
        rule = quantile(estimator, X, y, coverage)
    elif chosen == "jackknife+ab":
        rule = JackknifePlusAfterBootstrap(estimator, X, y)
    else:
        rule = CvPlus(estimator, X, y, cv, random_state)
    tell_of_few_rows(coverage, rule.n_rows, f"rows of {name}")
    return PredictionInterval(chosen, coverage, rule)


def _rows_of_method(calibration: Any, training: Any, method: str) -> tuple[Any, str]:
    """The pair that is given, and the method for it."""
    methods = ("auto", *_OF_CALIBRATION, *_OF_TRAINING)
    if method not in methods:
        raise ValueError(f"method must be one of {', '.join(methods)}; got {method!r}")
    if (calibration is None) == (training is None):
        raise ValueError(
            "give one of calibration=(X, y), rows that the estimator has not seen, and "
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
