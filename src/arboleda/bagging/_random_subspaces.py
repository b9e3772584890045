"""Random subspaces: Ho (1998)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from arboleda.bagging._bagging import RandomSubspace
from arboleda.bagging._member_estimators import MemberClassifier, MemberRegressor
from arboleda.bagging._votes import Voting


class RandomSubspaceClassifier(RandomSubspace, MemberClassifier):
    """Random subspaces: classifiers fitted on all rows and a random subset of the columns.

    Members differ by their columns. Half of the columns, as in the paper, is a good start. The
    method works best with many columns that are each informative. To draw rows too (random
    patches), use `BaggingClassifier` with ``max_features``.

    Parameters
    ----------
    estimator : estimator, default=None
        Classifier that the members are clones of; None: `DecisionTreeClassifier`.
    n_estimators : int, default=100
        Number of members.
    max_features : int or float, default=0.5
        Number of columns that each member draws, or a fraction of all.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    random_n_features : bool, default=False
        Whether each member also draws the number of its columns, uniform on 1 .. ``max_features``.
    warm_start, n_jobs, random_state, verbose, voting
        See `BaggingClassifier`.
    weights : {"uniform", "validation"}, default="uniform"
        "uniform": all members have the same weight. "validation": weights by the accuracy of the
        members on held-out rows; see the notes.
    validation_fraction : float, default=0.1
        Share of the rows to hold out; only used with ``weights="validation"``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
        Number of classes.
    estimator_ : estimator
        Classifier that the members are clones of.
    estimators_ : list of estimators
        Fitted members, whose classes are indices into ``classes_``.
    estimators_features_ : list of ndarray
        Column indices of each member.
    estimators_samples_ : list of ndarray
        Row indices of each member: all of positive weight that are not held out.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights of the members, which sum to 1; all equal with ``weights="uniform"``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if all of them are strings.

    See Also
    --------
    BaggingClassifier : Also draws the rows; its notes on weights hold here too.

    Notes
    -----
    All members are fitted on all rows, so there are no out-of-bag rows to evaluate them, and a
    fully grown tree has no training error. ``weights="validation"`` therefore holds out rows,
    stratified by class; at least one row of each class is trained on. The weights are those of
    `BaggingClassifier`, computed from the accuracy on these rows. A warm start holds out the same
    rows.

    References
    ----------
    T. K. Ho (1998), "The random subspace method for constructing decision forests".

    Examples
    --------
    >>> from arboleda import RandomSubspaceClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomSubspaceClassifier(n_estimators=3, random_state=0).fit(X, y)
    >>> [len(columns) for columns in forest.estimators_features_]
    [2, 2, 2]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MemberClassifier._parameter_constraints,
        **RandomSubspace._parameter_constraints,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_features: int | float = 0.5,
        bootstrap_features: bool = False,
        random_n_features: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        voting: Voting = "soft",
        weights: Literal["uniform", "validation"] = "uniform",
        validation_fraction: float = 0.1,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.bootstrap_features = bootstrap_features
        self.random_n_features = random_n_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting: Voting = voting
        self.weights = weights
        self.validation_fraction = validation_fraction


class RandomSubspaceRegressor(RandomSubspace, MemberRegressor):
    """Random subspaces: regressors fitted on all rows and a random subset of the columns.

    Members differ by their columns; the prediction is their mean. To draw rows too (random
    patches), use `BaggingRegressor` with ``max_features``.

    Parameters
    ----------
    estimator : estimator, default=None
        Regressor that the members are clones of; None: `DecisionTreeRegressor`.
    n_estimators, max_features, bootstrap_features, random_n_features
        See `RandomSubspaceClassifier`.
    warm_start, n_jobs, random_state, verbose
        See `RandomSubspaceClassifier`.
    weights : {"uniform", "validation"}, default="uniform"
        "uniform": all members have the same weight. "validation": weights by the error of the
        members on held-out rows; see the notes.
    validation_fraction : float, default=0.1
        Share of the rows to hold out; only used with ``weights="validation"``.

    Attributes
    ----------
    estimator_ : estimator
        Regressor that the members are clones of.
    estimators_ : list of estimators
        Fitted members.
    estimators_features_ : list of ndarray
        Column indices of each member.
    estimators_samples_ : list of ndarray
        Row indices of each member: all of positive weight that are not held out.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights of the members, which sum to 1; all equal with ``weights="uniform"``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if all of them are strings.

    Notes
    -----
    All members are fitted on all rows, so there are no out-of-bag rows to evaluate them, and a
    fully grown tree has no training error. ``weights="validation"`` therefore holds out random
    rows. The weights are those of `BaggingRegressor`, computed from the mean squared error on these
    rows. A warm start holds out the same rows.

    References
    ----------
    T. K. Ho (1998), "The random subspace method for constructing decision forests".

    Examples
    --------
    >>> from arboleda import RandomSubspaceRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomSubspaceRegressor(n_estimators=4, max_features=3, random_state=0).fit(X, y)
    >>> [len(columns) for columns in forest.estimators_features_]
    [3, 3, 3, 3]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MemberRegressor._parameter_constraints,
        **RandomSubspace._parameter_constraints,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_features: int | float = 0.5,
        bootstrap_features: bool = False,
        random_n_features: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        weights: Literal["uniform", "validation"] = "uniform",
        validation_fraction: float = 0.1,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.bootstrap_features = bootstrap_features
        self.random_n_features = random_n_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.weights = weights
        self.validation_fraction = validation_fraction
