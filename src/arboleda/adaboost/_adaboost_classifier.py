"""AdaBoost and its family for classification: Freund and Schapire (1997)."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_consistent_length

from arboleda._base.folds import hold_out
from arboleda._base.members import checked_table, rows_of
from arboleda._base.mixins import copy_input_tags, restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.targets import encode_classes
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.target import read_target, read_weight
from arboleda.adaboost._algorithms import ALGORITHMS, BoostingProblem, Floats, Indices, RoundOutcome
from arboleda.adaboost._boosted_classifier import BoostedClassifier
from arboleda.adaboost._loop import EstimatorMembers, MemberFitter, OnDegenerate, Round, boost
from arboleda.adaboost._rounds import (
    RoundRecords,
    Validation,
    check_algorithm,
    check_last_error,
    log_round,
)
from arboleda.adaboost._tree_members import (
    BoostedTreeMembers,
    BoostingLimits,
    boost_trees,
    engine_can_boost,
)
from arboleda.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor

AlgorithmName = Literal["discrete", "M1", "M2", "MH", "MR", "SAMME", "real", "gentle", "logit"]


class AdaBoostClassifier(MetaEstimatorMixin, BoostedClassifier):  # type: ignore[misc]
    """AdaBoost: members fitted one after the other, with more weight on misclassified rows.

    Each member is a clone of one scikit-learn compatible estimator. It is fitted on weighted rows,
    its votes get a weight that depends on its error, and the rows that it misclassifies get more
    weight for the next member. Names, defaults and meaning of the parameters are those of
    scikit-learn, and with ``algorithm="SAMME"`` so are the predictions; the other eight algorithms
    follow the papers.

    Parameters
    ----------
    estimator : estimator, default=None
        Estimator that the members are clones of; None: a `DecisionTreeClassifier` of depth 1 (a
        stump), or for "gentle" and "logit" a `DecisionTreeRegressor`, as these need regressors.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Shrinkage factor of the weights of the votes.
    algorithm : {"discrete", "M1", "M2", "MH", "MR", "SAMME", "real", "gentle", "logit"}, \
            default="SAMME"
        With e the weighted error of a member:

        - "discrete": two classes; vote weights ``1/2 log((1 - e) / e)``.
        - "M1": any number of classes; ``log((1 - e) / e)``. Every member must have e < 1/2.
        - "SAMME": the same plus ``log(K - 1)``, so e < 1 - 1/K is sufficient.
        - "M2", "MR": weights of pairs of a row and a wrong class; members vote with plausibilities
          (their probabilities), weighted by pseudo-loss or by the smallest normalizer.
        - "MH": weights of pairs of a row and a class; one member per class against the rest, or one
          arboleda tree for all. Votes are half the log-odds of the members' probabilities, times
          the weight with the smallest normalizer, which is 1 for arboleda trees.
        - "real": members vote with the logarithms of their probabilities.
        - "gentle", "logit": regression members that reduce the exponential loss, or the deviance,
          which gives less weight to mislabeled rows. More than two classes: one member per class.
    random_state : int, RandomState or None, default=None
        Seed of the members and of drawn rows.
    on_degenerate : {"stop", "reset"}, default="stop"
        What to do after a member without error, or no better than random guessing (which is not
        kept). "stop": end boosting. "reset": continue with the weights of a bootstrap sample.
    weight_trimming : float, default=None
        The rows of least weight, with at most this share of the total weight, are left out of a
        round. Values from 0.01 to 0.1 make late rounds faster at hardly any loss of accuracy.
    n_iter_no_change : int, default=None
        Number of rounds without a smaller error on held-out rows after which boosting stops; the
        model then ends with the best round. None: no rows are held out.
    validation_fraction : float, default=0.1
        Share of the rows to hold out, stratified by class; only used with ``n_iter_no_change``.
    n_jobs : int, default=None
        Number of threads for arboleda trees; None and -1: all available cores. The result does not
        depend on it. Other members are fitted in turn, with their own ``n_jobs``.
    verbose : int, default=0
        1: print the progress about ten times; 2: after every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
        Number of classes.
    estimator_ : estimator
        Estimator that the members are clones of.
    estimators_ : list of estimators, or ndarray of shape (n_rounds, n_classes)
        Fitted members; an array if a round has one for each class.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_rounds,)
        Weight of the votes of each round (negative with "MH" if they are wrong more often than
        right), and the weighted error of its members: for "M2" and "MR" the pseudo-loss of the
        pairs, for "MH" and "gentle" the error over all pairs of a row and a class.
    edges_ : ndarray of shape (n_rounds,)
        Error of random guessing (1/2; for "SAMME" 1 - 1/K) minus the error of the members.
    normalizers_ : ndarray of shape (n_rounds,)
        Z of each round: sum of the new row weights before normalization.
    training_error_bound_, edge_bound_ : ndarray of shape (n_rounds,)
        Upper bounds of the (weighted) training error after each round, where there are any.
    best_iteration_ : int
        Number of rounds of the fitted model.
    validation_errors_ : ndarray
        Error on the held-out rows after each round, including rounds after the best one. Only with
        ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        Weighted mean of the feature importances of the members; only if these have any.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if all of them are strings.

    Notes
    -----
    Trees of arboleda are boosted by the engine from one binned table, unless they have
    ``ccp_alpha``, ``class_weight``, or with "M2", "MH" and "MR" a criterion other than the default.
    With "M2", "MH" and "MR", a round is one such tree, split by the weights of pairs of a row and a
    class: its leaves score all classes, and ``predict`` of a single tree returns the class with the
    largest score. ``predict_proba`` of a single tree, and the values of its leaves, are the
    probabilities of an ensemble of only that round, before shrinkage.

    Other members are fitted with ``sample_weight`` if their ``fit`` takes it, else on n_samples
    rows drawn with replacement in proportion to the weights.

    Differences from scikit-learn: attributes of rounds have one entry per round; data frames are
    passed on to the members as data frames; a useless member in a later round raises a warning.

    References
    ----------
    Y. Freund, R. Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", Journal of Computer and System Sciences 55.
    R. Schapire, Y. Singer (1999), "Improved boosting algorithms using confidence-rated
    predictions", Machine Learning 37.
    J. Friedman, T. Hastie, R. Tibshirani (2000), "Additive logistic regression: a statistical view
    of boosting", Annals of Statistics 28.
    J. Zhu, H. Zou, S. Rosset, T. Hastie (2009), "Multi-class AdaBoost", Statistics and Its
    Interface 2.

    Examples
    --------
    >>> from arboleda import AdaBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(algorithm="discrete", n_estimators=100).fit(X, y)
    >>> model.score(X, y), bool((model.margins(X, y) > 0).all())
    (1.0, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "algorithm": [StrOptions(set(ALGORITHMS))],
        "random_state": ["random_state"],
        "on_degenerate": [StrOptions({"stop", "reset"})],
        "weight_trimming": [Interval(RealNotInt, 0.0, 1.0, closed="left"), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(RealNotInt, 0.0, 1.0, closed="neither")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    estimator_: Any
    n_features_in_: int
    validation_errors_: Floats
    classes_: npt.NDArray[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: AlgorithmName = "SAMME",
        random_state: int | np.random.RandomState | None = None,
        on_degenerate: OnDegenerate = "stop",
        weight_trimming: float | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.random_state = random_state
        self.on_degenerate = on_degenerate
        self.weight_trimming = weight_trimming
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose

    @name_other_arguments
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the boosted classifier.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Any table that the members accept; data frames are passed on as data frames.
        y : array-like of shape (n_samples,)
            The classes, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative initial weights; rows of weight 0 are ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range or does not suit the target, the lengths differ, y has
            missing values, or the first member is no better than random guessing. The estimator
            stays unchanged.
        """
        self._validate_params()
        with restore_on_failure(self):
            self.classes_, target = encode_classes(read_target(y, numeric=False), self)
            check_algorithm(self)
            self.__dict__.pop("validation_errors_", None)
            self.estimator_ = self._resolve_estimator()
            in_engine = engine_can_boost(self.estimator_, self.algorithm)
            (self._fit_trees if in_engine else self._fit_estimators)(X, target, sample_weight)
        return self

    def _fit_estimators(self, X: Any, target: Indices, sample_weight: Any) -> None:
        """Boost members of any kind."""
        self.__dict__.pop("schema_", None)
        X = checked_table(self, X, reset=True)
        check_consistent_length(X, target)
        row_weight = read_weight(sample_weight, X)
        weight = np.ones(len(target)) if row_weight is None else row_weight
        # Scale by a power of two, which is exact: the sum of huge weights stays finite.
        weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
        algorithm, random = self._algorithm, check_random_state(self.random_state)
        if self.n_classes_ == 1:
            no_votes = np.empty(0)
            self._members = EstimatorMembers(
                algorithm, self.classes_, [], RoundRecords.of([]), no_votes
            )
            return
        validation = None
        validation_X: Any = None
        if self.n_iter_no_change is not None:
            training_rows, validation_rows = self._split_rows(target, weight, random)
            validation = self._make_validation(target[validation_rows], weight[validation_rows])
            validation_X = rows_of(X, validation_rows)
            X, target, weight = (
                rows_of(X, training_rows),
                target[training_rows],
                weight[training_rows],
            )
        sums: Any = 0.0

        def watch(n_done: int, members: Round, outcome: RoundOutcome) -> bool:
            nonlocal sums
            log_round(self.verbose, n_done, self.n_estimators, outcome.error)
            if validation is None:
                return False
            sums = sums + outcome.weight * algorithm.compute_votes(
                members, validation_X, self.classes_
            )
            return validation.record(sums)

        fitter = MemberFitter(self.estimator_, X, self.weight_trimming, random)
        problem = BoostingProblem(target, self.classes_, weight / weight.sum())
        members, useless = boost(
            algorithm, problem, fitter, self.n_estimators, self.on_degenerate, watch
        )
        self._set_members(members, useless, validation)

    def _fit_trees(self, X: Any, target: Indices, sample_weight: Any) -> None:
        """Boost arboleda trees with the engine, all from one binned table."""
        if self.n_classes_ == 1 and is_regressor(self.estimator_):  # no votes to sum
            self.estimator_ = DecisionTreeClassifier(max_depth=1)
        example: DecisionTree = clone(self.estimator_)
        y = target.astype(np.float64) if is_regressor(example) else self.classes_[target]
        training = example._training(X, y, sample_weight, reader=self)
        random = check_random_state(self.random_state)
        limits = BoostingLimits(
            self.n_estimators,
            self.weight_trimming or 0.0,
            self.on_degenerate == "reset",
            resolve_n_jobs(self.n_jobs),
            seed=int(random.randint(np.iinfo(np.int32).max)),
        )
        validation, validation_rows = None, None
        if self.n_iter_no_change is not None and self.n_classes_ > 1:
            weight = training.full_weight
            training_rows, validation_rows = self._split_rows(target, weight, random)
            validation = self._make_validation(target[validation_rows], weight[validation_rows])
            if example.max_bins is not None:  # bins of the training rows only
                bins = training.X.code(
                    limits.n_threads, example.max_bins, training_rows.astype(np.uint32)
                )
                training = replace(training, table=bins)

        def watch(n_done: int, error: float, sums: Floats | None) -> bool:
            log_round(self.verbose, n_done, self.n_estimators, error)
            return validation is not None and sums is not None and validation.record(sums)

        members, useless = boost_trees(
            self._algorithm,
            example,
            training,
            target,
            limits,
            validation_rows,
            watch if self.verbose or validation is not None else None,
        )
        self._set_members(members, useless, validation)

    def _set_members(
        self,
        members: EstimatorMembers | BoostedTreeMembers,
        useless: float | None,
        validation: Validation | None,
    ) -> None:
        """Store the members of the rounds up to the best one."""
        check_last_error(self, len(members), useless)
        if validation is not None:
            self.validation_errors_ = np.array(validation.errors)
            members = members.first(validation.best_round)
        self._members = members

    def _make_validation(self, target: Indices, weight: Floats) -> Validation:
        assert self.n_iter_no_change is not None
        return Validation(self._algorithm, target, weight, self.n_iter_no_change)

    def _split_rows(
        self, target: Indices, weight: Floats, random: np.random.RandomState
    ) -> tuple[Indices, Indices]:
        """Split the rows of positive weight into training and validation rows."""
        seed = int(random.randint(np.iinfo(np.int32).max))
        rows = np.flatnonzero(weight)
        training_rows, validation_rows = hold_out(
            self.validation_fraction, target, rows, stratify=True, seed=seed
        )
        lost = np.setdiff1d(target[validation_rows], target[training_rows])
        if len(lost):
            raise ValueError(
                f"validation_fraction={self.validation_fraction} holds out all rows of class "
                f"{self.classes_[lost[0]]!r}: lower it, add rows of that class, or set "
                "n_iter_no_change=None."
            )
        return training_rows, validation_rows

    # Parameters

    def _resolve_estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        if ALGORITHMS[self.algorithm].learns == "numbers":
            return DecisionTreeRegressor(max_depth=1)
        return DecisionTreeClassifier(max_depth=1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self._resolve_estimator())
        tags.classifier_tags.multi_class = self.algorithm != "discrete"
        return tags
