"""Decisions of least expected cost over any classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda.combine._members import places_of
from arboleda.combine._target import read_classes, read_weights
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
from arboleda.decide._posterior_weights import cost_of_decisions, learned_weights
from arboleda.tree._restore_on_failure import restore_on_failure

__all__ = ["CostSensitiveClassifier"]


class CostSensitiveClassifier(PosteriorClassifier):
    """Any classifier, deciding so that the expected cost of its errors is least.

    It predicts argmin_j sum_k L[k, j] P(k | x): of all decisions j, the one of least expected cost
    under the model's posterior. **L[k, j] is the cost of predicting j when the truth is k: rows are
    the truth, columns the prediction.** With two classes that is a threshold: the second class is
    predicted where P(1 | x) > (L01 - L00) / (L01 - L00 + L10 - L11) (Elkan 2001). This needs
    probabilities that can be trusted: ask for ``calibration``, or for ``method="threshold"``, which
    learns from the costs that decisions had on rows held out.

    Parameters
    ----------
    estimator : estimator
        Any classifier with ``predict_proba``, or, with ``calibration``, with ``decision_function``.
        One in scikit-learn's ``FrozenEstimator`` is used as it is: `fit` then only calibrates it
        and learns thresholds, which needs rows that it has not seen.
    cost_matrix : array-like, mapping or pandas data frame, default=None
        The costs L. An array has the order of ``classes_`` (sorted labels): a row for each true
        class, a column for each predicted one. A mapping ``{true: {predicted: cost}}`` or
        ``{(true, predicted): cost}`` names the classes: an error that it does not name costs 1, a
        correct prediction 0. A data frame names true classes in its index and predicted ones in its
        columns, in any order. Negative costs are gains. None: 1 for each error. The study takes
        the same forms. Stacks and votes number the classes for their members, scikit-learn's too:
        a member needs an array.
    method : {"posterior", "threshold"}, default="posterior"
        "posterior": the rule above. "threshold": argmin_j sum_k L[k, j] w_k P(k | x), where the
        weights w of the classes make the mean cost least on posteriors out of fold. With two
        classes that is the threshold of least cost, found exactly among all; with more, weights
        none of which can be changed to lower the cost.
    calibration : {"sigmoid", "isotonic", "temperature"}, default=None
        How to calibrate the posteriors, by scikit-learn's ``CalibratedClassifierCV``
        ("temperature" needs version 1.8 of it).
    cv : int, splitter or iterable, default=None
        Folds of the calibration and of "threshold"; None: 5, stratified, in the order of the rows.
    n_jobs : int, default=None
        Models fitted at the same time; None: one, and those of this library on all cores.

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
        With two classes where each error costs more than the right prediction: the second one is
        predicted where its probability is above this. Near 0 or 1 the weights, by which `predict`
        decides, tell posteriors apart that this cannot.
    n_features_in_ : int
    feature_names_in_ : ndarray

    Notes
    -----
    Costs that differ from row to row (amounts, say) are given to `predict`, `expected_cost`,
    `mean_cost` and `score`, and for "threshold" to `fit`, as ``costs``: an array of shape
    (n_samples, n_classes, n_classes), or a mapping of either form to costs of all rows, whose
    other costs are those of ``cost_matrix``. Inside pipelines and cross-validation an array goes
    where scikit-learn's metadata routing is told to send it (``set_predict_request(costs=True)``).

    `predict_proba` is the model's, also with "threshold"; `score` is minus the mean cost, so that
    searches look for the least.

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
        "cost_matrix": "no_validation",  # read with the classes, which it must fit
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
        self.calibration = calibration
        self.cv = cv
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the model, and learn weights of its posteriors if asked.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            What the model takes.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            For the model, the calibration and the mean cost.
        costs : array-like of shape (n_samples, n_classes, n_classes) or mapping, default=None
            Costs of each row, with ``method="threshold"``, which learns from them.
        **fit_params : dict
            For the model, by scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the costs do not fit the classes, the model has no probabilities and no calibration
            is asked for, or ``costs`` are given to a method that learns nothing from them.
        """
        tuned = self.method == "threshold"
        if costs is not None and not tuned:
            raise ValueError(
                "costs of each row are learned from by method='threshold' only: with "
                "method='posterior' give them to predict"
            )
        params = fit_params
        if sample_weight is not None:
            params = {**fit_params, "sample_weight": sample_weight}
        with restore_on_failure(self):
            classes, true = read_classes(y)
            matrix = read_cost_matrix(self.cost_matrix, classes)
            of_rows = None
            if costs is not None:
                of_rows = read_row_costs(costs, matrix, classes, len(true))
            held_out = self._fit_posteriors(X, y, params, held_out=tuned)
            self.cost_matrix_ = matrix
            self._learn_weights(held_out, matrix if of_rows is None else of_rows)
        return self

    def _learn_weights(self, held_out: HeldOut | None, costs: Floats) -> None:
        for name in ("posterior_weights_", "threshold_"):
            self.__dict__.pop(name, None)
        weights = np.ones(len(self.classes_))
        if held_out is not None:
            if costs.ndim == 3:
                costs = costs[held_out.rows]
            weights = learned_weights(held_out.posteriors, held_out.true, costs, held_out.weight)
            self.posterior_weights_ = weights
        if len(weights) != 2:
            return
        losses = np.diag(self.cost_matrix_[:, ::-1]) - np.diag(self.cost_matrix_)
        if (losses > 0).all():
            false_alarm, miss = weights * losses
            self.threshold_ = float(false_alarm / (false_alarm + miss))

    def _costs(self, costs: Any, n_rows: int) -> Floats:
        if costs is None:
            return self.cost_matrix_
        return read_row_costs(costs, self.cost_matrix_, self.classes_, n_rows)

    def _decided(self, X: Any, costs: Any) -> Numbers:
        posteriors = self._posteriors(X)
        weights = getattr(self, "posterior_weights_", 1.0)
        return best_decisions(posteriors * weights, self._costs(costs, len(posteriors)))

    def predict(self, X: Any, costs: Any = None) -> Array:
        """Class of least expected cost; of equals the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : array-like of shape (n_samples, n_classes, n_classes) or mapping, default=None
            Costs of each row: ``costs[i, k, j]`` of predicting class j when the truth is k, or
            {(true, predicted): costs of all rows}. None: those of ``cost_matrix``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        labels: Array = self.classes_[self._decided(X, costs)]
        return labels

    def expected_cost(self, X: Any, costs: Any = None) -> Floats:
        """Cost of each decision that the model's probabilities lead to expect.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : array-like of shape (n_samples, n_classes, n_classes) or mapping, default=None
            As for `predict`.

        Returns
        -------
        expected : ndarray of shape (n_samples, n_classes)
            sum_k L[k, j] P(k | x); with ``method="posterior"`` the least of a row is the decision.
        """
        posteriors = self._posteriors(X)
        return expected_costs(posteriors, self._costs(costs, len(posteriors)))

    def mean_cost(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """Mean cost of the decisions for rows whose classes are known.

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
            If y holds a class that the model has not seen.
        """
        decided = self._decided(X, costs)
        true = _numbers_of(y, self.classes_)
        check_consistent_length(decided, true)
        weight = None if sample_weight is None else read_weights(sample_weight, true)
        return cost_of_decisions(true, decided, self._costs(costs, len(true)), weight)

    def score(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """Minus the `mean_cost`: the greater the better.

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


def _numbers_of(y: Any, classes: Array) -> Numbers:
    """Numbers of the classes of rows."""
    found, numbers = read_classes(y)
    unseen = [label for label in found.tolist() if label not in classes.tolist()]
    if unseen:
        raise ValueError(
            f"y holds the class {unseen[0]!r}, which was not in fit: the classes with costs are "
            f"{classes.tolist()}"
        )
    return places_of("y", found, classes)[numbers]
