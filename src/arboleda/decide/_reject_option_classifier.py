"""Classification with a reject option: predictions of low confidence are rejected."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda.combine import labels_with_reject, read_classes, read_weights
from arboleda.decide._accuracy_coverage import make_curve
from arboleda.decide._costs import best_decisions, expected_costs, read_cost_matrix
from arboleda.decide._posterior_classifier import (
    Array,
    Calibration,
    Floats,
    HeldOut,
    Numbers,
    PosteriorClassifier,
)
from arboleda.decide._posterior_weights import compute_weighted_mean

__all__ = ["RejectOptionClassifier"]

_CHOICES = ("threshold", "reject_cost", "target_coverage", "target_accuracy")


class RejectOptionClassifier(PosteriorClassifier):
    """Wrapper of a classifier that rejects rows whose posterior is not clear enough.

    The prediction is the most probable class where max_k P(k | x) >= theta, and the reject label
    elsewhere. Chow's rule (1970) is theta = 1 - c, if an error costs 1 and a rejection c: rejecting
    more rows would cost more than the errors it avoids. With a cost matrix, the prediction is the
    class of lowest expected cost, and a row is rejected if that cost exceeds the reject cost. With
    theta = 1 only certain predictions are accepted; with theta <= 1/K all are.

    Exactly one of ``threshold``, ``reject_cost``, ``target_coverage`` and ``target_accuracy`` is
    required; there is no sensible default. Rejection is only as good as the probabilities: set
    ``calibration`` if they are unreliable.

    Parameters
    ----------
    estimator : estimator
        Any classifier with ``predict_proba`` or, with ``calibration``, with ``decision_function``.
        An estimator in scikit-learn's ``FrozenEstimator`` is not refitted: `fit` then only
        calibrates it and finds the threshold, which requires rows that it was not trained on.
    threshold : float in [0, 1], default=None
        theta. Not supported with a cost matrix, which has no threshold on probabilities.
    reject_cost : float, default=None
        Cost of a rejection, in the unit of ``cost_matrix``; without a matrix an error costs 1.
    target_coverage : float in [0, 1], default=None
        Minimum share of accepted rows; the threshold is found on out-of-fold predictions.
    target_accuracy : float in [0, 1], default=None
        Minimum accuracy on accepted rows; of the thresholds that reach it on out-of-fold
        predictions, the one that accepts the most rows is used.
    cost_matrix : array-like, mapping or pandas data frame, default=None
        Costs L[k, j] of predicting j when the truth is k, as in `CostSensitiveClassifier`.
    reject_label : label, default=None
        Label of rejected rows. None: -1 for numeric labels, "reject" for text.
    calibration : {"sigmoid", "isotonic", "temperature"}, default=None
        Method of calibration by scikit-learn's ``CalibratedClassifierCV`` ("temperature" requires
        version 1.8). None: no calibration.
    cv : int, splitter or iterable, default=None
        Folds of the calibration and of the targets; None: 5 stratified folds, without shuffling.
    n_jobs : int, default=None
        Number of models fitted in parallel; None: one, where models of this library use all cores.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model; with ``calibration`` a ``CalibratedClassifierCV``.
    classes_ : ndarray of shape (n_classes,)
    reject_label_ : label
    threshold_ : float
        theta; defined without a cost matrix only.
    reject_cost_ : float
        A row is rejected if its lowest expected cost is above this; 1 - theta without a matrix.
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
    >>> predicted = model.predict(X)
    >>> accepted = predicted != model.reject_label_
    >>> accepted.mean().round(3).item(), (predicted == y)[accepted].mean().round(3).item()
    (0.965, 0.954)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PosteriorClassifier._parameter_constraints,
        "threshold": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "reject_cost": [Interval(Real, None, None, closed="neither"), None],
        "target_coverage": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "target_accuracy": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "cost_matrix": "no_validation",  # checked in fit, against the classes
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
        self.calibration: Calibration | None = calibration
        self.cv = cv
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the model and, with a target coverage or accuracy, find the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any input that the model supports.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the model, the calibration, and the target coverage or accuracy.
        **fit_params : dict
            Parameters for the model, by scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If not exactly one rejection rule is given; the target accuracy is not reached; the
            costs do not match the classes; the reject label is a class; or the model has no
            ``predict_proba`` and ``calibration`` is None.
        """
        choice = self._check_choice()
        params = fit_params
        if sample_weight is not None:
            params = {**fit_params, "sample_weight": sample_weight}
        with restore_on_failure(self):
            classes, _ = read_classes(y)
            self._matrix = read_cost_matrix(self.cost_matrix, classes)
            self._labels = labels_with_reject(classes, self.reject_label)
            self.reject_label_: Any = self._labels.tolist()[-1]
            held_out = self._fit_posteriors(
                X, y, params, held_out=choice in ("target_coverage", "target_accuracy")
            )
            self._set_threshold(choice, held_out)
        return self

    def _check_choice(self) -> str:
        given = [name for name in _CHOICES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"give exactly one of {', '.join(_CHOICES)}, got {' and '.join(given) or 'none'}"
            )
        if given == ["threshold"] and self.cost_matrix is not None:
            raise ValueError(
                "threshold applies to probabilities, but with a cost_matrix rows are rejected by "
                "their expected cost: give reject_cost or a target"
            )
        return given[0]

    def _set_threshold(self, choice: str, held_out: HeldOut | None) -> None:
        """Set the minimum confidence of accepted rows."""
        if held_out is not None:
            decided, confidence = self._decide(held_out.posteriors)
            curve = make_curve(confidence, decided == held_out.true, held_out.weight)
            target = {choice.removeprefix("target_"): getattr(self, choice)}
            self._min_confidence = curve.threshold_for(**target)
        elif self.threshold is not None:
            self._min_confidence = float(self.threshold)
        else:
            cost = float(self.reject_cost)  # type: ignore[arg-type]
            self._min_confidence = 1.0 - cost if self.cost_matrix is None else -cost
        self.__dict__.pop("threshold_", None)
        if self.cost_matrix is None:
            self.threshold_: float = self._min_confidence
            self.reject_cost_: float = 1.0 - self._min_confidence
        else:
            self.reject_cost_ = -self._min_confidence

    def _decide(self, posteriors: Floats) -> tuple[Numbers, Floats]:
        """Return the decisions without rejection, and the confidence of each."""
        decided = best_decisions(posteriors, self._matrix)
        if self.cost_matrix is None:
            return decided, posteriors.max(axis=1)
        return decided, -expected_costs(posteriors, self._matrix).min(axis=1)

    def reject(self, X: Any) -> npt.NDArray[np.bool_]:
        """Return which rows are rejected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        rejected : ndarray of bool, shape (n_samples,)
        """
        _, confidence = self._decide(self._compute_posteriors(X))
        rejected: npt.NDArray[np.bool_] = confidence < self._min_confidence
        return rejected

    def predict(self, X: Any) -> Array:
        """Predict the class, or ``reject_label_`` where the confidence is too low.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Of the type of the classes if the reject label fits in it, else objects.
        """
        check_is_fitted(self)
        decided, confidence = self._decide(self._compute_posteriors(X))
        labels: Array = self._labels[
            np.where(confidence < self._min_confidence, len(self.classes_), decided)
        ]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows with a correct prediction; a rejection counts as an error.

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
        # As objects, labels of different types compare as unequal without an error.
        is_correct = predicted.astype(object) == classes.astype(object)[numbers]
        weight = None if sample_weight is None else read_weights(sample_weight, numbers)
        return compute_weighted_mean(is_correct, weight)
