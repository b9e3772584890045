"""Cost-sensitive decisions from the probabilities of any classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda.combine import places_of, read_classes, read_weights
from arboleda.decide._costs import (
    best_decisions,
    expected_costs,
    read_cost_matrix,
    read_row_costs,
)
from arboleda.decide._posterior_classifier import (
    Array,
    Calibration,
    Floats,
    HeldOut,
    Numbers,
    PosteriorClassifier,
)
from arboleda.decide._posterior_weights import compute_mean_cost, learn_weights

__all__ = ["CostSensitiveClassifier"]


class CostSensitiveClassifier(PosteriorClassifier):
    """Wrapper of a classifier that predicts the class with the lowest expected cost.

    The prediction is argmin_j sum_k L[k, j] P(k | x), the decision j with the lowest expected cost
    under the model's posterior. **L[k, j] is the cost of predicting j when the truth is k: rows are
    the truth, columns the prediction.** With two classes this is a threshold: the second class is
    predicted where P(1 | x) > (L01 - L00) / (L01 - L00 + L10 - L11) (Elkan 2001). The rule needs
    reliable probabilities: set ``calibration``, or ``method="threshold"``, which tunes the
    decisions to the costs on held-out rows.

    Parameters
    ----------
    estimator : estimator
        Any classifier with ``predict_proba`` or, with ``calibration``, with ``decision_function``.
        An estimator in scikit-learn's ``FrozenEstimator`` is not refitted: `fit` then only
        calibrates it and tunes thresholds, which requires rows that it was not trained on.
    cost_matrix : array-like, mapping or pandas data frame, default=None
        The costs L. An array is in the order of ``classes_`` (sorted labels), with a row for each
        true class and a column for each predicted one. A mapping ``{true: {predicted: cost}}`` or
        ``{(true, predicted): cost}`` names the classes; errors that it does not name cost 1, and
        correct predictions 0. A data frame names true classes in its index and predicted ones in
        its columns, in any order. Negative costs are gains. None: each error costs 1. The study
        accepts the same forms. Stacking and voting ensembles, including scikit-learn's, encode the
        classes as integers for their members: a member requires an array.
    method : {"posterior", "threshold"}, default="posterior"
        "posterior": the rule above. "threshold": argmin_j sum_k L[k, j] w_k P(k | x), where the
        class weights w minimize the mean cost on out-of-fold posteriors. With two classes this is
        the exact threshold of lowest cost; with more, a local minimum that no change of a single
        weight improves.
    calibration : {"sigmoid", "isotonic", "temperature"}, default=None
        Method of calibration by scikit-learn's ``CalibratedClassifierCV`` ("temperature" requires
        version 1.8). None: no calibration.
    cv : int, splitter or iterable, default=None
        Folds of the calibration and of "threshold"; None: 5 stratified folds, without shuffling.
    n_jobs : int, default=None
        Number of models fitted in parallel; None: one, where models of this library use all cores.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model; with ``calibration`` a ``CalibratedClassifierCV``.
    classes_ : ndarray of shape (n_classes,)
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        L in the order of ``classes_``; rows are the truth.
    posterior_weights_ : ndarray of shape (n_classes,)
        With "threshold": the weights w, whose geometric mean is 1.
    threshold_ : float
        With two classes, if each error costs more than the correct prediction: the second class is
        predicted where its probability is above this threshold. `predict` uses the weights, which
        are more precise near 0 and 1.
    n_features_in_ : int
    feature_names_in_ : ndarray

    Notes
    -----
    Costs that differ between rows (such as amounts) are passed to `predict`, `expected_cost`,
    `mean_cost` and `score`, and with "threshold" to `fit`, as ``costs``: an array of shape
    (n_samples, n_classes, n_classes), or a mapping of either form to the costs of all rows, whose
    other costs are those of ``cost_matrix``. In pipelines and cross-validation an array is routed
    by scikit-learn's metadata routing (``set_predict_request(costs=True)``).

    `predict_proba` returns the model's probabilities, also with "threshold"; `score` is the
    negative mean cost, which searches maximize.

    References
    ----------
    Elkan, C. (2001), "The foundations of cost-sensitive learning", IJCAI. Bishop, C. M. (2006),
    "Pattern Recognition and Machine Learning", section 1.5.2. Sheng, V. S., Ling, C. X. (2006),
    "Thresholding for making classifiers cost-sensitive", AAAI.

    Examples
    --------
    >>> from arboleda import CostSensitiveClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> bunch = load_breast_cancer()
    >>> X, y = bunch.data, bunch.target_names[bunch.target]
    >>> costs = {("malignant", "benign"): 10, ("benign", "malignant"): 1}
    >>> model = CostSensitiveClassifier(GaussianNB(), cost_matrix=costs, calibration="isotonic")
    >>> model.fit(X, y).cost_matrix_
    array([[ 0.,  1.],
           [10.,  0.]])
    >>> round(model.threshold_, 4)  # of "malignant"
    0.0909
    >>> careless = GaussianNB().fit(X, y)
    >>> int(((careless.predict(X) == "benign") & (y == "malignant")).sum())
    23
    >>> int(((model.predict(X) == "benign") & (y == "malignant")).sum())
    4
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PosteriorClassifier._parameter_constraints,
        "cost_matrix": "no_validation",  # checked in fit, against the classes
        "method": [StrOptions({"posterior", "threshold"})],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        cost_matrix: Any = None,
        method: Literal["posterior", "threshold"] = "posterior",
        calibration: Calibration | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cost_matrix = cost_matrix
        self.method = method
        self.calibration: Calibration | None = calibration
        self.cv = cv
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the model and, with ``method="threshold"``, the weights of its posteriors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any input that the model supports.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the model, the calibration and the mean cost.
        costs : array-like of shape (n_samples, n_classes, n_classes) or mapping, default=None
            Costs of each row, for ``method="threshold"`` only.
        **fit_params : dict
            Parameters for the model, by scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the costs do not match the classes, the model has no ``predict_proba`` and
            ``calibration`` is None, or ``costs`` are given with ``method="posterior"``.
        """
        is_tuned = self.method == "threshold"
        if costs is not None and not is_tuned:
            raise ValueError(
                "costs of each row are used in fit by method='threshold' only: with "
                "method='posterior' pass them to predict"
            )
        params = fit_params
        if sample_weight is not None:
            params = {**fit_params, "sample_weight": sample_weight}
        with restore_on_failure(self):
            classes, true = read_classes(y)
            matrix = read_cost_matrix(self.cost_matrix, classes)
            row_costs = None
            if costs is not None:
                row_costs = read_row_costs(costs, matrix, classes, len(true))
            held_out = self._fit_posteriors(X, y, params, held_out=is_tuned)
            self.cost_matrix_ = matrix
            self._learn_weights(held_out, matrix if row_costs is None else row_costs)
        return self

    def _learn_weights(self, held_out: HeldOut | None, costs: Floats) -> None:
        for name in ("posterior_weights_", "threshold_"):
            self.__dict__.pop(name, None)
        weights = np.ones(len(self.classes_))
        if held_out is not None:
            if costs.ndim == 3:
                costs = costs[held_out.rows]
            weights = learn_weights(held_out.posteriors, held_out.true, costs, held_out.weight)
            self.posterior_weights_ = weights
        if len(weights) != 2:
            return
        losses = np.diag(self.cost_matrix_[:, ::-1]) - np.diag(self.cost_matrix_)
        if (losses > 0).all():
            false_alarm, miss = weights * losses
            self.threshold_: float = float(false_alarm / (false_alarm + miss))

    def _read_costs(self, costs: Any, n_rows: int) -> Floats:
        if costs is None:
            return self.cost_matrix_
        return read_row_costs(costs, self.cost_matrix_, self.classes_, n_rows)

    def _decide(self, X: Any, costs: Any) -> Numbers:
        posteriors = self._compute_posteriors(X)
        weights = getattr(self, "posterior_weights_", 1.0)
        return best_decisions(posteriors * weights, self._read_costs(costs, len(posteriors)))

    def predict(self, X: Any, costs: Any = None) -> Array:
        """Predict the class of lowest expected cost; a tie goes to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : array-like of shape (n_samples, n_classes, n_classes) or mapping, default=None
            Costs of each row: ``costs[i, k, j]`` of predicting class j when the truth is k, or
            {(true, predicted): costs of all rows}. None: the costs of ``cost_matrix``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        labels: Array = self.classes_[self._decide(X, costs)]
        return labels

    def expected_cost(self, X: Any, costs: Any = None) -> Floats:
        """Compute the expected cost of each decision under the model's probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : array-like of shape (n_samples, n_classes, n_classes) or mapping, default=None
            As for `predict`.

        Returns
        -------
        expected : ndarray of shape (n_samples, n_classes)
            sum_k L[k, j] P(k | x); with ``method="posterior"`` the minimum of a row is predicted.
        """
        posteriors = self._compute_posteriors(X)
        return expected_costs(posteriors, self._read_costs(costs, len(posteriors)))

    def mean_cost(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """Compute the mean cost of the predictions for rows with known classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        costs : array-like of shape (n_samples, n_classes, n_classes) or mapping, default=None
            As for `predict`.

        Returns
        -------
        cost : float

        Raises
        ------
        ValueError
            If y has a class that was not in the training data.
        """
        decided = self._decide(X, costs)
        true = _encode_classes(y, self.classes_)
        check_consistent_length(decided, true)
        weight = None if sample_weight is None else read_weights(sample_weight, true)
        return compute_mean_cost(true, decided, self._read_costs(costs, len(true)), weight)

    def score(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """Return the negative `mean_cost`; higher is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        costs : array-like of shape (n_samples, n_classes, n_classes) or mapping, default=None
            As for `predict`.

        Returns
        -------
        score : float
        """
        return -self.mean_cost(X, y, sample_weight, costs)


def _encode_classes(y: Any, classes: Array) -> Numbers:
    """Return the class index of each row."""
    found, numbers = read_classes(y)
    unseen = [label for label in found.tolist() if label not in classes.tolist()]
    if unseen:
        raise ValueError(
            f"y has the class {unseen[0]!r}, which was not in fit: the classes with costs are "
            f"{classes.tolist()}"
        )
    return places_of("y", found, classes)[numbers]
