"""Pasting: Breiman (1999)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda.bagging._bagging_estimators import BaggingClassifier, BaggingRegressor
from arboleda.bagging._votes import Voting

__all__ = ["PastingClassifier", "PastingRegressor"]


class PastingClassifier(FixedParameters, BaggingClassifier):
    """Pasting: majority vote of classifiers fitted on rows drawn without replacement.

    Each member is fitted on a subset of the rows. Members are cheaper to fit than those of bagging,
    and the left-out rows allow an unbiased evaluation (``oob_score``).

    It is `BaggingClassifier` with ``bootstrap=False`` and all columns.

    Parameters
    ----------
    estimator : estimator, default=None
        Classifier that the members are clones of; None: `DecisionTreeClassifier`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=0.5
        Number of rows that each member draws without replacement, or a fraction of the rows of
        positive weight. None: all of these.
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
    BaggingClassifier : Draws the rows with replacement.
    RandomPatchesClassifier : Also draws the columns.

    Notes
    -----
    Breiman (1999) combines members fitted on small parts of a table that does not fit into memory,
    each with a hundredth of the rows or less. Here the table is in memory, and the default is half
    of the rows: drawn without replacement, they give about the bias and variance of bagging, at
    half the work (Friedman and Hall 2007; Bühlmann and Yu 2002, section 3, "half subagging"). With
    all rows, all members would be equal.

    References
    ----------
    L. Breiman (1999), "Pasting small votes for classification in large databases and on-line",
    Machine Learning 36.
    P. Bühlmann, B. Yu (2002), "Analyzing bagging", Annals of Statistics 30(4).
    J. H. Friedman, P. Hall (2007), "On bagging and nonlinear estimation", Journal of Statistical
    Planning and Inference 137(3).

    Examples
    --------
    >>> from arboleda import PastingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PastingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.93)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = 0.5,
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
            bootstrap=False,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            voting=voting,
            weights=weights,
        )


class PastingRegressor(FixedParameters, BaggingRegressor):
    """Pasting: mean of regressors fitted on rows drawn without replacement.

    Each member is fitted on a subset of the rows. Members are cheaper to fit than those of bagging,
    and the left-out rows allow an unbiased evaluation (``oob_score``).

    It is `BaggingRegressor` with ``bootstrap=False`` and all columns.

    Parameters
    ----------
    estimator : estimator, default=None
        Regressor that the members are clones of; None: `DecisionTreeRegressor`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=0.5
        Number of rows that each member draws without replacement, or a fraction of the rows of
        positive weight. None: all of these.
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
    BaggingRegressor : Draws the rows with replacement.
    RandomPatchesRegressor : Also draws the columns.

    Notes
    -----
    Breiman (1999) combines members fitted on small parts of a table that does not fit into memory,
    each with a hundredth of the rows or less. Here the table is in memory, and the default is half
    of the rows: drawn without replacement, they give about the bias and variance of bagging, at
    half the work (Friedman and Hall 2007; Bühlmann and Yu 2002, section 3, "half subagging"). With
    all rows, all members would be equal.

    References
    ----------
    L. Breiman (1999), "Pasting small votes for classification in large databases and on-line",
    Machine Learning 36.
    P. Bühlmann, B. Yu (2002), "Analyzing bagging", Annals of Statistics 30(4).
    J. H. Friedman, P. Hall (2007), "On bagging and nonlinear estimation", Journal of Statistical
    Planning and Inference 137(3).

    Examples
    --------
    >>> from arboleda import PastingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PastingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.35)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = 0.5,
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
            bootstrap=False,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            weights=weights,
        )
