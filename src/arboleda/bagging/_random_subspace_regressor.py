"""Random subspaces of regressors: Ho (1998)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from arboleda.bagging._member_regressor import MemberRegressor
from arboleda.bagging._random_subspace import RandomSubspace


class RandomSubspaceRegressor(RandomSubspace, MemberRegressor):
    """Random subspaces: regressors fitted on all rows and a random subset of the columns.

    Members differ by what they can see; their mean is predicted. Rows drawn as well are random
    patches: `BaggingRegressor` with ``max_features``.

    Parameters
    ----------
    estimator : estimator, default=None
        What the members are clones of; None: `DecisionTreeRegressor`.
    n_estimators, max_features, bootstrap_features, random_n_features
        As in `RandomSubspaceClassifier`.
    warm_start, n_jobs, random_state, verbose
        As in `RandomSubspaceClassifier`.
    weights : {"uniform", "validation"}, default="uniform"
        "uniform": all members count the same. "validation": the better a member predicts rows held
        out, from which no member learns, the more it counts; see the notes.
    validation_fraction : float, default=0.1
        Share of the rows held out, with ``weights="validation"``.

    Attributes
    ----------
    estimator_ : estimator
        What the members are clones of.
    estimators_ : list of estimators
        The members.
    estimators_features_ : list of ndarray
        Numbers of the columns of each member.
    estimators_samples_ : list of ndarray
        Numbers of the rows of each member: all of positive weight, but those held out.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights of the members, of sum 1; with ``weights="uniform"`` all equal.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names that are text.

    Notes
    -----
    All members see all rows, so that none is left out to measure them on, and on its own rows a
    whole tree makes no error. ``weights="validation"`` therefore holds rows out, drawn at random.
    The weights are those of `BaggingRegressor`, from the mean squared error on these rows. A warm
    start holds the same rows out.

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
