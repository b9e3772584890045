"""Proportional hazards regression: Cox (1972), with the ties of Efron (1977) or Breslow (1974)."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._engine.columns import DenseTable, Schema, SparseTable
from arboleda._engine.table import check_table
from arboleda._engine.target import check_total_weight, read_weight
from arboleda._utils.concordance import concordance_index
from arboleda._utils.survival_times import SurvivalTimes, read_survival_times
from arboleda.survival._curve_predictions import CurveEvaluator, CurvePredictions
from arboleda.survival._partial_likelihood import PartialLikelihood
from arboleda.survival._score_curves import compute_proportional_hazards
from arboleda.survival._survival_boosting import check_has_event

__all__ = ["CoxRegression"]

Floats = npt.NDArray[np.float64]
# Halvings of a Newton step that does not raise the likelihood.
MAX_HALVINGS = 40


class CoxRegression(NamesOtherParameters, CurvePredictions, BaseEstimator):  # type: ignore[misc]
    r"""Cox regression: the hazard of a row is a baseline hazard times exp(x' b).

    The coefficients b maximise the partial log-likelihood minus ``alpha / 2`` times the sum of
    their squares, by Newton's method. With d events at a time and R the rows at risk, the
    partial log-likelihood adds up the log-hazards of the events minus

    .. math:: \sum_{l=0}^{d-1} \log \left( \sum_{j \in R} e^{x_j' b}
        - \frac{l}{d} \sum_{j \in D} e^{x_j' b} \right)

    where D are the rows with these events (Efron); Breslow's form leaves the second sum out. Sample
    weights multiply the log-hazards of the events and all exponentials; the logarithms are
    multiplied by the mean weight of the events at that time, as in R's ``coxph``.

    Parameters
    ----------
    alpha : float, default=0.0
        Ridge penalty of the coefficients, on the scale of the log-likelihood of all rows, which
        grows with their weights. Scale the columns before with a penalty.
    ties : {"efron", "breslow"}, default="efron"
        How events at the same time count. Without such ties both are equal. With "breslow" a row of
        weight 2 counts as the row twice; with "efron" it does not, since the row twice is a tie.
    max_iter : int, default=100
        Largest number of Newton steps.
    tol : float, default=1e-9
        A step ends the fit if the log-likelihood rises by less than this share of its size.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The log of the hazard ratio of one unit of each column.
    standard_error_ : ndarray of shape (n_features,)
        Square roots of the diagonal of the inverse information; with a penalty they are too small
        for confidence intervals, and so they are with weights that are not numbers of equal rows.
    log_likelihood_ : float
        The partial log-likelihood, without the penalty.
    mean_ : ndarray of shape (n_features,)
        Weighted column means of the training rows, at which the baseline hazard is taken.
    unique_times_ : ndarray of shape (n_event_times,)
        Distinct times of the events in training, ascending.
    baseline_hazard_ : ndarray of shape (n_event_times,)
        Cumulative hazard of a row of column means at these times.
    time_range_ : ndarray of shape (2,)
        First and last time of the training rows, censored ones included.
    n_iter_ : int
        Newton steps.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names of the columns.

    See Also
    --------
    RandomSurvivalForest : Neither linear nor with proportional hazards.

    References
    ----------
    D. Cox (1972), "Regression models and life-tables", Journal of the Royal Statistical Society B
    34(2).

    B. Efron (1977), "The efficiency of Cox's likelihood function for censored data", Journal of the
    American Statistical Association 72(359).

    N. Breslow (1974), "Covariance analysis of censored survival data", Biometrics 30(1).

    Examples
    --------
    Events of rows with x = 1, 0, 1, 0 in this order. With h = exp(b) the partial likelihood is
    h / (2 h + 2) times 1 / (h + 2) times h / (h + 1), which is largest where h^2 = h + 4:

    >>> import numpy as np
    >>> from arboleda import CoxRegression
    >>> y = np.array([(True, 1.0), (True, 2.0), (True, 3.0), (True, 4.0)], dtype="?,f8")
    >>> model = CoxRegression().fit([[1.0], [0.0], [1.0], [0.0]], y)
    >>> np.exp(model.coef_).round(4).tolist(), round((1 + 17**0.5) / 2, 4)
    ([2.5616], 2.5616)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "ties": [StrOptions({"efron", "breslow"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
    }

    coef_: Floats
    schema_: Schema

    def __init__(
        self,
        *,
        alpha: float = 0.0,
        ties: Literal["efron", "breslow"] = "efron",
        max_iter: int = 100,
        tol: float = 1e-9,
    ) -> None:
        self.alpha = alpha
        self.ties: Literal["efron", "breslow"] = ties
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate the coefficients and the baseline hazard.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers, without missing values.
        y : structured ndarray or data frame of n_samples rows
            Two fields or columns: whether the event was observed (bool, 0 and 1, or words such as
            "dead" and "alive"), and the time of the event or of censoring.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored. None: all weights are 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X has missing values or text, the lengths differ, no row of positive weight has the
            event, weights are negative or all zero, or it is not clear which field or value is the
            event. The estimator is left unchanged.

        Warns
        -----
        ConvergenceWarning
            If ``max_iter`` steps are not enough, as if a column orders all events: then the
            likelihood has no maximum without a penalty.
        """
        with restore_on_failure(self):
            self._validate_params()
            table = self._read_table(X, reset=True)
            times = read_survival_times(y)
            check_consistent_length(table, times.time)
            numbers, weight = _as_numbers(table), read_weight(sample_weight, table)
            check_total_weight(weight)
            if weight is not None and not weight.all():
                kept = weight > 0.0
                numbers, weight = numbers[kept], weight[kept]
                times = SurvivalTimes(times.event[kept], times.time[kept])
                check_has_event(times)
            self.mean_: Floats = np.average(numbers, axis=0, weights=weight)
            likelihood = PartialLikelihood.of(numbers - self.mean_, times, self.ties, weight)
            self._climb(likelihood)
            self.unique_times_: Floats = np.unique(times.time[times.event])
            self.time_range_: Floats = np.array([times.time.min(), times.time.max()])
            hazards = likelihood.compute_jumps(self.coef_)
            sizes = np.bincount(np.searchsorted(self.unique_times_, likelihood.event_time), hazards)
            self.baseline_hazard_: Floats = np.cumsum(sizes)
        return self

    def _climb(self, likelihood: PartialLikelihood) -> None:
        """Take Newton steps, halved until they raise the penalised likelihood."""
        beta = np.zeros(likelihood.x.shape[1])
        value, gradient, information = self._evaluate(likelihood, beta)
        self.n_iter_ = 0
        is_done = not beta.size
        while not is_done and self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            step = np.linalg.lstsq(information, gradient, rcond=None)[0]
            for _ in range(MAX_HALVINGS):
                found = self._evaluate(likelihood, beta + step)
                if found[0] >= value:
                    break
                step = step / 2.0
            else:
                break  # no step raises the likelihood further: rounding
            beta = beta + step
            is_done = found[0] - value <= self.tol * (abs(value) + 1.0)
            value, gradient, information = found
        else:
            if not is_done:
                warnings.warn(
                    f"the coefficients did not converge in max_iter={self.max_iter} steps: the "
                    "likelihood may have no maximum, as if a column orders all events; set alpha "
                    "above 0, or raise max_iter",
                    ConvergenceWarning,
                    stacklevel=3,
                )
        self.coef_ = beta
        self.log_likelihood_ = float(value + 0.5 * self.alpha * beta @ beta)
        variance = np.diag(np.linalg.pinv(information)) if beta.size else beta
        self.standard_error_: Floats = np.sqrt(np.maximum(variance, 0.0))

    def _evaluate(
        self, likelihood: PartialLikelihood, beta: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the penalised log-likelihood, its gradient and the negative Hessian."""
        value, gradient, information = likelihood.evaluate(beta)
        penalty = 0.5 * self.alpha * float(beta @ beta)
        eye = self.alpha * np.eye(len(beta))
        return value - penalty, gradient - self.alpha * beta, information + eye

    def predict(self, X: Any) -> Floats:
        """Predict the risk of each row: the log of its hazard ratio to a row of column means.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            Larger means earlier events.
        """
        return self._compute_risk(self._check_input(X))

    def _compute_risk(self, table: DenseTable) -> Floats:
        risk: Floats = (_as_numbers(table) - self.mean_) @ self.coef_
        return risk

    def _check_input(self, X: Any) -> DenseTable:
        check_is_fitted(self)
        return self._read_table(X, reset=False)

    def _make_evaluator(self, table: DenseTable, *, is_survival: bool) -> CurveEvaluator:
        risk = self._compute_risk(table)

        def evaluate(rows: slice, times: Floats) -> Floats:
            hazard = compute_proportional_hazards(
                risk[rows], self.baseline_hazard_, self.unique_times_, times
            )
            return np.exp(-hazard) if is_survival else hazard

        return evaluate

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute Harrell's concordance index of `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : structured ndarray or data frame of n_samples rows
            As in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair of rows counts the product of their weights.

        Returns
        -------
        score : float
            Share of the comparable pairs that the risk orders like the times; 0.5 for ties.
        """
        times = read_survival_times(y, requires_event=False)
        risk = self.predict(X)
        check_consistent_length(times.time, risk)
        return concordance_index(times, risk, sample_weight=sample_weight)

    def _read_table(self, X: Any, *, reset: bool) -> DenseTable:
        table = check_table(self, X, reset=reset)
        if isinstance(table, SparseTable):
            raise TypeError(
                "X is sparse, which CoxRegression does not support: pass a dense table, for "
                "example X.toarray()"
            )
        for j, column in enumerate(table.columns):
            missing = np.flatnonzero(np.isnan(column))
            if missing.size:
                raise ValueError(
                    f"Input X contains NaN: column {self.schema_.describe(j)} is missing in row "
                    f"{missing[0]}, and CoxRegression does not support missing values: impute "
                    "them, for example with sklearn.impute.SimpleImputer"
                )
        return table


def _as_numbers(table: DenseTable) -> Floats:
    """Return the columns of a table as an array of shape (n_rows, n_columns)."""
    numbers = np.empty(table.shape)
    for j, column in enumerate(table.columns):
        numbers[:, j] = column
    return numbers
