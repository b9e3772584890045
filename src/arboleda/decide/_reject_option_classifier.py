"""Rows left undecided where a model is not sure enough."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda.combine._reject import labels_with_reject
from arboleda.combine._target import read_classes, read_weights
from arboleda.decide._accuracy_coverage import curve_of
from arboleda.decide._costs import best_decisions, expected_costs, read_cost_matrix
from arboleda.decide._posterior_classifier import (
    Array,
    Calibration,
    Floats,
    HeldOut,
    Numbers,
    PosteriorClassifier,
)
from arboleda.decide._posterior_weights import weighted_mean
from arboleda.tree._restore_on_failure import restore_on_failure

__all__ = ["RejectOptionClassifier"]

_CHOICES = ("threshold", "reject_cost", "target_coverage", "target_accuracy")


class RejectOptionClassifier(PosteriorClassifier):
    """Any classifier, which leaves a row undecided where its posterior is not clear enough.

    It predicts the most probable class where max_k P(k | x) >= theta, and the reject label
    elsewhere. Chow's rule (1970) has theta = 1 - c, if an error costs 1 and a reject c: rejecting
    more would cost more than the errors it avoids. With a cost matrix, the decision is that of
    least expected cost, and a row is rejected where even that is more than the reject cost. With
    theta = 1 only rows of certainty are decided; with theta <= 1/K all are.

    Say when to reject by one of ``threshold``, ``reject_cost``, ``target_coverage`` and
    ``target_accuracy``; no default could be right. Rejects are as good as the probabilities are:
    where these cannot be trusted, ask for ``calibration``.

    Parameters
    ----------
    estimator : estimator
        Any classifier with ``predict_proba``, or, with ``calibration``, with ``decision_function``.
        One in scikit-learn's ``FrozenEstimator`` is used as it is: `fit` then only calibrates it
        and finds the threshold, which needs rows that it has not seen.
    threshold : float in [0, 1], default=None
        theta. Not with a cost matrix, which knows no threshold on probabilities.
    reject_cost : float, default=None
        What a reject costs, in the unit of ``cost_matrix``; without one an error costs 1.
    target_coverage : float in [0, 1], default=None
        The share of rows to decide at least: the threshold is found on rows out of fold.
    target_accuracy : float in [0, 1], default=None
        The accuracy wanted on the rows decided: of the thresholds that have it on rows out of fold,
        the one that decides most.
    cost_matrix : array-like, mapping or pandas data frame, default=None
        Costs L[k, j] of predicting j when the truth is k, as in `CostSensitiveClassifier`.
    reject_label : label, default=None
        None: -1 where labels are numbers, "reject" where they are text.
    calibration : {"sigmoid", "isotonic", "temperature"}, default=None
        How to calibrate the posteriors, by scikit-learn's ``CalibratedClassifierCV``
        ("temperature" needs version 1.8 of it).
    cv : int, splitter or iterable, default=None
        Folds of the calibration and of the targets; None: 5, stratified, in the order of the rows.
    n_jobs : int, default=None
        Models fitted at the same time; None: one, and those of this library on all cores.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model; with ``calibration`` a ``CalibratedClassifierCV``.
    classes_ : ndarray of shape (n_classes,)
    reject_label_ : label
    threshold_ : float
        theta, without a cost matrix.
    reject_cost_ : float
        A row is rejected where the least expected cost is above this; 1 - theta without a matrix.
    n_features_in_ : int
    feature_names_in_ : ndarray

    References
    ----------
    Chow, C. K. (1970), "On optimum recognition error and reject tradeoff", IEEE Transactions on
    Information Theory 16. Bishop, C. M. (2006), "Pattern Recognition and Machine Learning", section
    1.5.3.

    Examples
    --------
    >>> from arboleda import RejectOptionClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> bunch = load_breast_cancer()
    >>> X, y = bunch.data, bunch.target_names[bunch.target]
    >>> model = RejectOptionClassifier(GaussianNB(), reject_cost=0.1, calibration="sigmoid")
    >>> model.fit(X, y).threshold_
    0.9
    >>> said = model.predict(X)
    >>> decided = said != model.reject_label_
    >>> decided.mean().round(3).item(), (said == y)[decided].mean().round(3).item()
    (0.965, 0.954)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PosteriorClassifier._parameter_constraints,
        "threshold": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "reject_cost": [Interval(Real, None, None, closed="neither"), None],
        "target_coverage": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "target_accuracy": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "cost_matrix": "no_validation",  # read with the classes, which it must fit
        "reject_label": "no_validation",
    }

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: float | None = None,
        reject_cost: float | None = None,
        target_coverage: float | None = None,
        target_accuracy: float | None = None,
        cost_matrix: Any = None,
        reject_label: Any = None,
        calibration: Calibration | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.reject_cost = reject_cost
        self.target_coverage = target_coverage
        self.target_accuracy = target_accuracy
        self.cost_matrix = cost_matrix
        self.reject_label = reject_label
        self.calibration = calibration
        self.cv = cv
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the model, and find the threshold if a target is given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            What the model takes.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            For the model, the calibration, and the shares of the targets.
        **fit_params : dict
            For the model, by scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If it is not said, or said twice, when to reject; the target accuracy is not reached;
            the costs do not fit the classes; the reject label is a class; or the model has no
            probabilities and no calibration is asked for.
        """
        choice = self._choice()
        params = fit_params
        if sample_weight is not None:
            params = {**fit_params, "sample_weight": sample_weight}
        with restore_on_failure(self):
            classes, _ = read_classes(y)
            self._matrix = read_cost_matrix(self.cost_matrix, classes)
            self._labels = labels_with_reject(classes, self.reject_label)
            self.reject_label_ = self._labels.tolist()[-1]
            held_out = self._fit_posteriors(
                X, y, params, held_out=choice in ("target_coverage", "target_accuracy")
            )
            self._settle(choice, held_out)
        return self

    def _choice(self) -> str:
        given = [name for name in _CHOICES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"say when to reject by one of {', '.join(_CHOICES)}; given: "
                f"{' and '.join(given) or 'none'}"
            )
        if given == ["threshold"] and self.cost_matrix is not None:
            raise ValueError(
                "threshold is one on probabilities, but with a cost_matrix rows are rejected by "
                "their expected cost: give reject_cost or a target"
            )
        return given[0]

    def _settle(self, choice: str, held_out: HeldOut | None) -> None:
        """Find the least confidence with which a row is decided."""
        if held_out is not None:
            decided, confidence = self._judged(held_out.posteriors)
            curve = curve_of(confidence, decided == held_out.true, held_out.weight)
            wanted = {choice.removeprefix("target_"): getattr(self, choice)}
            self._least = curve.threshold_for(**wanted)
        elif self.threshold is not None:
            self._least = float(self.threshold)
        else:
            cost = float(self.reject_cost)  # type: ignore[arg-type]
            self._least = 1.0 - cost if self.cost_matrix is None else -cost
        self.__dict__.pop("threshold_", None)
        if self.cost_matrix is None:
            self.threshold_ = self._least
            self.reject_cost_ = 1.0 - self._least
        else:
            self.reject_cost_ = -self._least

    def _judged(self, posteriors: Floats) -> tuple[Numbers, Floats]:
        """Decisions, were none rejected, and how sure each is."""
        decided = best_decisions(posteriors, self._matrix)
        if self.cost_matrix is None:
            return decided, posteriors.max(axis=1)
        return decided, -expected_costs(posteriors, self._matrix).min(axis=1)

    def reject(self, X: Any) -> npt.NDArray[np.bool_]:
        """Whether rows are left undecided.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        rejected : ndarray of bool, shape (n_samples,)
        """
        _, confidence = self._judged(self._posteriors(X))
        rejected: npt.NDArray[np.bool_] = confidence < self._least
        return rejected

    def predict(self, X: Any) -> Array:
        """Class, or ``reject_label_`` where the model is not sure enough.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Of the type of the classes if the reject label fits in it, else objects.
        """
        check_is_fitted(self)
        decided, confidence = self._judged(self._posteriors(X))
        labels: Array = self._labels[
            np.where(confidence < self._least, len(self.classes_), decided)
        ]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows that are decided, and rightly: a reject counts as an error.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        predicted = self.predict(X)
        classes, numbers = read_classes(y)
        check_consistent_length(predicted, numbers)
        # As objects, so that labels of other types are different and no error.
        right = predicted.astype(object) == classes.astype(object)[numbers]
        weight = None if sample_weight is None else read_weights(sample_weight, numbers)
        return weighted_mean(right, weight)
