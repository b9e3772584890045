"""AdaBoost for regression: Freund and Schapire (1997), AdaBoost.R; Drucker (1997), AdaBoost.R2."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_random_state, column_or_1d
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_y, check_consistent_length

from arboleda._base.members import checked_table
from arboleda._base.mixins import copy_input_tags, restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.target import read_target, read_weight
from arboleda.adaboost._boosted_regressor import BoostedRegressor
from arboleda.adaboost._regressor_members import (
    BoostedTrees,
    EstimatorFitter,
    TreeFitter,
    engine_can_boost,
)
from arboleda.adaboost._regressor_rounds import (
    DensityRounds,
    DrawnRounds,
    Floats,
    Loss,
    holdout_split,
)
from arboleda.adaboost._rounds import check_member_kind
from arboleda.adaboost._tree_members import SavedTrees, complete_trees
from arboleda.persist import Field, SavedArray
from arboleda.tree import DecisionTreeRegressor


class AdaBoostRegressor(MetaEstimatorMixin, BoostedRegressor):  # type: ignore[misc]
    """AdaBoost for regression: each member focuses on rows that were predicted badly.

    The prediction is the weighted median of the members: the smallest of their predictions at which
    the cumulative weight reaches half of the total.

    "R2" (Drucker 1997) draws rows with replacement, badly predicted ones more often. It has the
    parameters, random draws and predictions of scikit-learn's ``AdaBoostRegressor``.

    "R" (Freund & Schapire 1997) is the original. It reduces regression to binary problems "is y at
    least v?", one for every v between the smallest and the largest target, and boosts these as
    AdaBoost does. Instead of one weight, a row has a piecewise linear density over v, and the error
    of a member is the integral of the density between its predictions and the targets. As in
    AdaBoost, the errors bound the training error of the ensemble (``training_error_bound_``).

    Parameters
    ----------
    estimator : estimator, default=None
        Regressor that the members are clones of; None: ``DecisionTreeRegressor(max_depth=3)``.
    n_estimators : int, default=50
        Maximum number of members. Boosting stops early at a member without error, and at one with
        an error of 1/2 or more, which is not kept unless it is the first.
    learning_rate : float, default=1.0
        Shrinkage factor of the weights of the members and of the updates of the row weights.
    loss : {"linear", "square", "exponential"}, default="linear"
        Loss of a row in "R2", where its share is its absolute error divided by the largest one: the
        share, its square, or 1 - exp(-share).
    algorithm : {"R2", "R"}, default="R2"
        Boosting algorithm.
    random_state : int, RandomState or None, default=None
        Seed of the drawn rows, the held-out rows and the members.
    n_iter_no_change : int, default=None
        Number of rounds without a smaller error on held-out rows after which boosting stops; the
        model then ends with the best round. None: no rows are held out.
    validation_fraction : float, default=0.1
        Share of the rows to hold out; only used with ``n_iter_no_change``.
    n_jobs : int, default=None
        Number of threads; None: all cores. The result does not depend on it.

    Attributes
    ----------
    estimator_ : estimator
        Regressor that the members are clones of.
    estimators_ : sequence of estimators
        Fitted members.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Weights of the members in the median: the learning rate times log((1 - error) / error).
    estimator_errors_ : ndarray of shape (n_rounds,)
        Errors of the members under their training weights.
    training_error_bound_ : ndarray of shape (n_rounds,)
        Upper bound of the weighted mean squared error on the training rows after each round:
        ``(max y - min y)^2 2 Z prod 2 sqrt(e (1 - e))`` (theorem 12 of the paper, whose proof has
        the factor 2 Z; it is at most 1). Only for "R".
    best_iteration_ : int
        Number of rounds of the fitted model.
    feature_importances_ : ndarray of shape (n_features,)
        Weighted mean of the feature importances of the members; only if these have any.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if all of them are strings.

    Notes
    -----
    A member of "R" should minimize the error under the density, which is a sum of squares only in
    the first round: there the density of row i is ``D_i |v - y_i|``, and the error of a prediction
    h is ``D_i (h - y_i)^2 / 2``. Later, the density is multiplied by step functions that decrease
    with the distance from y_i. Members are therefore fitted by weighted least squares as an
    approximation, with weights u_i for which ``u_i |v - y_i|`` has the row's share of the density.
    Members that do not take weights are fitted on rows drawn with these weights. For arboleda
    trees, the splits are found in this way, and the value of each leaf is then the exact minimizer
    of the error of its rows under the density. The paper leaves this choice to the learner.

    Members are fitted on the original y. In "R", predictions beyond the training targets are
    clipped to their range, also in ``predict``.

    Trees of arboleda (``DecisionTreeRegressor``) are grown by the engine: the table is binned once
    for all rounds, and drawn rows are weighted by their counts rather than copied. Other members,
    and trees with ``min_samples_leaf`` or ``min_samples_split`` in "R2", which count copies as
    separate rows, are fitted one by one.

    References
    ----------
    Y. Freund, R. Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", Journal of Computer and System Sciences 55, section 5.3.

    H. Drucker (1997), "Improving regressors using boosting techniques", ICML.

    Examples
    --------
    >>> from arboleda import AdaBoostRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostRegressor(algorithm="R", n_estimators=20).fit(X, y)
    >>> bool(((model.predict(X) - y) ** 2).mean() <= model.training_error_bound_[-1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"linear", "square", "exponential"})],
        "algorithm": [StrOptions({"R", "R2"})],
        "random_state": ["random_state"],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": [None, Integral],
    }

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        "_members": SavedTrees(),
        "_bounds": SavedArray(np.float64),
        "_range": SavedArray(np.float64),
        "estimator_errors_": SavedArray(np.float64),
    }

    estimator_: Any
    n_features_in_: int
    estimator_errors_: Floats

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: Loss = "linear",
        algorithm: Literal["R2", "R"] = "R2",
        random_state: int | np.random.RandomState | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs

    @name_other_arguments
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members one after the other.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Any table that the members accept; data frames are passed on as data frames.
        y : array-like of shape (n_samples,)
            The target, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights, to which the weights of the first round are proportional.
            Rows of weight 0 are ignored. None: all rows have the same weight.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, the lengths differ, y has missing or infinite values, or
            fitting a member fails. The model stays unchanged.
        """
        self._validate_params()
        if self.algorithm == "R" and self.loss != "linear":
            raise ValueError(
                f"loss={self.loss!r} is for algorithm='R2': algorithm='R' has its own loss, so "
                "leave loss at its default."
            )
        with restore_on_failure(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        target = self._read_target(y)
        self.estimator_ = self._resolve_estimator()
        n_threads = resolve_n_jobs(self.n_jobs)
        fitter: EstimatorFitter | TreeFitter
        if engine_can_boost(self.estimator_, self.algorithm):
            example: DecisionTreeRegressor = clone(self.estimator_)
            training = example._training(X, target, sample_weight, reader=self)
            row_weight = training.weight
            fitter = TreeFitter(example, training, n_threads)
        else:
            self.__dict__.pop("schema_", None)
            table = checked_table(self, X, reset=True)
            check_consistent_length(table, target)
            row_weight = read_weight(sample_weight, table)
            _check_weight_sum(row_weight)
            fitter = EstimatorFitter(self.estimator_, table, target)
        weight = np.ones(len(target)) if row_weight is None else row_weight
        self._boost(fitter, target, weight, n_threads)

    def _resolve_estimator(self) -> Any:
        if self.estimator is None:
            return DecisionTreeRegressor(max_depth=3)
        advice = "a regressor, or AdaBoostClassifier for classes"
        return check_member_kind(self.estimator, "regressor", advice)

    def _read_target(self, y: Any) -> Floats:
        y = _check_y(read_target(y, numeric=True), y_numeric=True, estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {y.dtype}: convert dates and durations to numbers first."
            )
        target: Floats = column_or_1d(y, warn=True).astype(np.float64)
        with np.errstate(over="ignore"):
            extent = np.ptp(target)
        if not np.isfinite(extent):
            raise ValueError(
                f"y ranges from {target.min()} to {target.max()}, and the difference overflows "
                "float64: divide y by a number."
            )
        return target

    def _boost(
        self, fitter: EstimatorFitter | TreeFitter, target: Floats, weight: Floats, n_threads: int
    ) -> None:
        random = check_random_state(self.random_state)
        validation = None
        if self.n_iter_no_change is not None:
            weight, validation = holdout_split(
                target, weight, self.validation_fraction, self.n_iter_no_change, random
            )
        rounds: DensityRounds | DrawnRounds
        if self.algorithm == "R":
            rounds = DensityRounds(target, weight, self.learning_rate, n_threads)
        else:
            rounds = DrawnRounds(target, weight, self.loss, self.learning_rate)
        weights: list[float] = []
        errors: list[float] = []
        while len(weights) < self.n_estimators:
            predictions = rounds.fit_member(fitter, random)
            result = rounds.score_member(predictions)
            if result.weight == 0.0:
                if weights:
                    break
                _warn_useless_member(self.estimator_, result.error)
            weights.append(result.weight)
            errors.append(result.error)
            should_stop = validation is not None and validation.record(
                predictions, result.weight, n_threads
            )
            if result.ends or should_stop:
                break
        n_rounds = len(weights) if validation is None else validation.best_round
        self._members = fitter.collect_members(np.array(weights[:n_rounds]))
        self.estimator_errors_ = np.array(errors[:n_rounds])
        self._bounds = np.array([])
        self._range = np.array([-np.inf, np.inf])
        if isinstance(rounds, DensityRounds):
            self._bounds = np.array(rounds.bounds[:n_rounds])
            self._range = np.array([rounds.lowest, rounds.highest])

    def _defect(self) -> str | None:
        members = self._members
        assert isinstance(members, BoostedTrees)  # a file holds no others
        self.estimator_ = clone(members.example)
        n_bounds = len(members) if self.algorithm == "R" else 0
        if len(self.estimator_errors_) != len(members) or len(self._bounds) != n_bounds:
            return "the model needs one error and one bound per tree"
        if len(self._range) != 2 or not self._range[0] <= self._range[1]:
            return "the predictions have no valid range"
        return complete_trees(members, self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, DecisionTreeRegressor() if self.estimator is None else self.estimator)
        return tags


def _check_weight_sum(weight: Floats | None) -> None:
    with np.errstate(over="ignore"):
        if weight is not None and not np.isfinite(weight.sum()):
            raise ValueError(
                "the sum of sample_weight overflows float64: divide all weights by the same number"
            )


def _warn_useless_member(member: Any, error: float) -> None:
    warnings.warn(
        f"The error of the first {type(member).__name__} is {error:.3g}, not below 1/2: boosting "
        "stops after it. Use a more flexible estimator, such as deeper trees, or "
        "algorithm='R2' with another loss.",
        stacklevel=6,
    )
