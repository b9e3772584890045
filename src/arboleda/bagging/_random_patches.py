"""Random patches: Louppe and Geurts (2012)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.bagging._bagging_estimators import BaggingClassifier, BaggingRegressor
from arboleda.bagging._votes import Voting

__all__ = ["RandomPatchesClassifier", "RandomPatchesRegressor"]


class RandomPatchesClassifier(FixedParameters, BaggingClassifier):
    """Random patches: majority vote of classifiers fitted on random rows and columns.

    Each member is fitted on a patch of the table: some rows and some columns. This takes much less
    memory and time than bagging, often without loss of accuracy.

    It is `BaggingClassifier` with ``bootstrap=False`` and ``max_features=0.5``.

    Parameters
    ----------
    estimator : estimator, default=None
        Classifier that the members are clones of; None: `DecisionTreeClassifier`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=0.5
        Number of rows that each member draws without replacement, or a fraction of the rows of
        positive weight. None: all of these.
    max_features : int or float, default=0.5
        Number of columns that each member draws without replacement, or a fraction of all.
    oob_score : bool, default=False
        Whether to compute out-of-bag predictions and their score.
    warm_start, n_jobs, random_state, verbose, voting, weights
        See `BaggingClassifier`.

    Attributes
    ----------
    classes_, n_classes_, estimator_, estimators_, estimators_samples_, estimators_features_, \
            estimator_weights_, n_features_in_, feature_names_in_, oob_score_, \
            oob_decision_function_
        See `BaggingClassifier`.

    See Also
    --------
    RandomSubspaceClassifier : Draws only the columns.
    PastingClassifier : Draws only the rows.

    Notes
    -----
    A patch is p_s N of the N rows and p_f M of the M columns, both drawn without replacement. The
    paper tunes the shares p_s and p_f by validation; with the defaults of 1/2, a member gets a
    quarter of the table. ``max_samples=1.0`` gives random subspaces, ``max_features=1.0`` pasting.

    References
    ----------
    G. Louppe, P. Geurts (2012), "Ensembles on random patches", ECML PKDD, section 2.

    Examples
    --------
    >>> from arboleda import RandomPatchesClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomPatchesClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.93)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = 0.5,
        max_features: int | float = 0.5,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        voting: Voting = "soft",
        weights: Literal["uniform", "oob"] = "uniform",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=False,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            voting=voting,
            weights=weights,
        )


class RandomPatchesRegressor(FixedParameters, BaggingRegressor):
    """Random patches: mean of regressors fitted on random rows and columns.

    Each member is fitted on a patch of the table: some rows and some columns. This takes much less
    memory and time than bagging, often without loss of accuracy.

    It is `BaggingRegressor` with ``bootstrap=False`` and ``max_features=0.5``.

    Parameters
    ----------
    estimator : estimator, default=None
        Regressor that the members are clones of; None: `DecisionTreeRegressor`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=0.5
        Number of rows that each member draws without replacement, or a fraction of the rows of
        positive weight. None: all of these.
    max_features : int or float, default=0.5
        Number of columns that each member draws without replacement, or a fraction of all.
    oob_score : bool, default=False
        Whether to compute out-of-bag predictions and their score.
    warm_start, n_jobs, random_state, verbose, weights
        See `BaggingRegressor`.

    Attributes
    ----------
    estimator_, estimators_, estimators_samples_, estimators_features_, \
            estimator_weights_, n_features_in_, feature_names_in_, oob_score_, oob_prediction_
        See `BaggingRegressor`.

    See Also
    --------
    RandomSubspaceRegressor : Draws only the columns.
    PastingRegressor : Draws only the rows.

    Notes
    -----
    A patch is p_s N of the N rows and p_f M of the M columns, both drawn without replacement. The
    paper tunes the shares p_s and p_f by validation; with the defaults of 1/2, a member gets a
    quarter of the table. ``max_samples=1.0`` gives random subspaces, ``max_features=1.0`` pasting.

    References
    ----------
    G. Louppe, P. Geurts (2012), "Ensembles on random patches", ECML PKDD, section 2.

    Examples
    --------
    >>> from arboleda import RandomPatchesRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomPatchesRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.35)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = 0.5,
        max_features: int | float = 0.5,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        weights: Literal["uniform", "oob"] = "uniform",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=False,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            weights=weights,
        )
