"""Balanced random forests: Chen, Liaw and Breiman (2004)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda._base.tree_learner import CategoricalFeatures, MaxFeatures
from arboleda._engine.forest import Voting
from arboleda.forest._forest_estimators import ClassificationCriterion, ClassWeight
from arboleda.forest._random_forest import RandomForestClassifier

__all__ = ["BalancedRandomForestClassifier"]


class BalancedRandomForestClassifier(FixedParameters, RandomForestClassifier):
    """Balanced random forest: each tree draws equally many rows of every class.

    Suited to imbalanced data, where an ordinary forest nearly always predicts the frequent classes.
    Each tree is grown on few rows, so fitting is fast; together the trees use most rows. The
    probabilities refer to balanced classes: those of rare classes are higher than their
    frequencies.

    It is `RandomForestClassifier` with ``bootstrap="balanced"``.

    Parameters
    ----------
    n_estimators : int or "auto", default=100
        Number of trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `RandomForestClassifier`.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns drawn at each node.
    max_leaf_nodes, min_impurity_decrease, oob_score, n_jobs, random_state, verbose, warm_start
        See `RandomForestClassifier`.
    class_weight, ccp_alpha, monotonic_cst, max_bins, categorical_features, voting, keep_rows
        See `RandomForestClassifier`. The rows of a tree are balanced before they are weighted.

    Attributes
    ----------
    classes_, n_classes_, estimators_, estimators_samples_, n_estimators_, feature_importances_, \
            n_features_in_, feature_names_in_, schema_, max_features_, missing_columns_, \
            n_outputs_, oob_score_, oob_decision_function_
        See `RandomForestClassifier`.

    See Also
    --------
    RandomForestClassifier : With ``class_weight="balanced"`` the weighted random forest of the
        same paper.

    Notes
    -----
    With n the number of rows of the smallest class, each tree draws n rows of every class with
    replacement and is grown on them to full depth without pruning, with ``max_features`` columns
    drawn at each node. The trees vote.

    References
    ----------
    C. Chen, A. Liaw, L. Breiman (2004), "Using random forest to learn imbalanced data", technical
    report 666, University of California, Berkeley, section 2.2.

    Examples
    --------
    >>> from arboleda import BalancedRandomForestClassifier
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(1000, weights=[0.95], random_state=0)
    >>> forest = BalancedRandomForestClassifier(random_state=0).fit(X, y)
    >>> rows = forest.estimators_samples_[0]
    >>> bool((y[rows] == 0).sum() == (y[rows] == 1).sum() == (y == 1).sum())
    True
    """

    def __init__(
        self,
        n_estimators: int | Literal["auto"] = 100,
        *,
        criterion: ClassificationCriterion = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: ClassWeight = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        voting: Voting = "soft",
        keep_rows: bool = False,
    ) -> None:
        super().__init__(
            n_estimators,
            bootstrap="balanced",
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            max_bins=max_bins,
            categorical_features=categorical_features,
            voting=voting,
            keep_rows=keep_rows,
        )
