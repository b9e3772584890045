"""Extremely randomised trees: Geurts, Ernst, Wehenkel (2006)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from arboleda._base.tree_learner import CategoricalFeatures, MaxFeatures
from arboleda._engine.forest import Voting
from arboleda.forest._forest_estimators import (
    ClassificationCriterion,
    ClassWeight,
    ForestClassifier,
    ForestRegressor,
    RegressionCriterion,
)


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees for classification: thresholds are drawn at random.

    Each node draws ``max_features`` columns; each of them proposes one random split (a threshold
    uniform between its smallest and largest value in the node; a random half of the categories),
    and the best of these is taken. Each tree is fitted on all rows unless ``bootstrap`` is set; the
    trees vote. The names, defaults and meaning of the parameters are scikit-learn's.

    Parameters
    ----------
    n_estimators : int or "auto", default=100
        Number of trees. "auto" adds blocks of 50, at most 1,000, until the out-of-bag squared error
        (for classes: the Brier score of the votes) is within one hundredth of that of infinitely
        many trees; it requires bootstrap samples. See the guide's page "Forests".
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        See `DecisionTreeClassifier`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeClassifier`. Fractions are of all rows, not of a tree's.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns drawn at each node; a float is a fraction of all columns. None: all.
    max_leaf_nodes, min_impurity_decrease
        See `DecisionTreeClassifier`.
    bootstrap : bool or "balanced", default=False
        True: each tree is fitted on as many rows as there are, drawn with replacement. "balanced":
        from each class it draws as many rows as the smallest class has (Chen, Liaw, Breiman 2004).
        False: each tree is fitted on all rows.
    oob_score : bool or callable, default=False
        Whether to compute the out-of-bag score of the forest (accuracy). A callable ``score(y_true,
        y_pred)`` replaces the metric.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; those of tree i do not depend on the number of trees or threads.
    verbose : int, default=0
        1 prints progress about ten times, 2 after every tree.
    warm_start : bool, default=False
        Keep the trees of the last fit and add trees up to ``n_estimators``. On the same data this
        gives the same forest as a single fit, byte for byte.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Weight of each class; "balanced" gives all classes the same total weight,
        "balanced_subsample" does so within each tree's rows. For several targets, a list with a
        dict for each.
    ccp_alpha : float, default=0.0
        Complexity parameter (cost per leaf) for pruning each tree; see `DecisionTreeClassifier`.
    max_samples : int, float or None, default=None
        Rows drawn for each tree with ``bootstrap=True``, at most all; a float is a fraction.
        None: as many as there are.
    max_bins, categorical_features, monotonic_cst
        See `DecisionTreeClassifier`.
    n_jobs : int, default=None
        Number of threads; None and -1 mean all available cores. The result does not depend on it.
    voting : {"soft", "hard", "laplace"}, default="soft"
        Vote of the leaf that a row reaches. "soft": its class shares. "hard": 1 for its largest
        class (the first in a tie). "laplace": ``(w_k + 1) / (w + K)`` with the weights w_k of the K
        classes in the leaf and their sum w. It calibrates probabilities better if classes overlap,
        and shrinks them too much if classes hardly overlap or are many. See the guide's page
        "Forests".
    keep_rows : bool, default=False
        Whether to store the training rows of each leaf, and the target: 4 bytes per row and tree.
        `neighbor_weights` needs it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        Class labels, sorted; for several targets one array for each.
    n_classes_ : int or list of int
    estimators_ : sequence of DecisionTreeClassifier
        The trees, created on access; they predict class labels.
    estimators_samples_ : sequence of ndarray of int
        Training rows of each tree, ascending, with repeats.
    n_estimators_ : int
        Number of trees.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    max_features_ : int
        Columns drawn at each node.
    missing_columns_ : ndarray of int
        Indices of the columns with missing values in training.
    n_outputs_ : int
        Number of targets.
    oob_score_ : float
        Out-of-bag accuracy, or the result of the callable. This and the next attribute exist only
        with ``oob_score``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes[, n_outputs])
        Mean out-of-bag vote; NaN for rows without votes.

    Notes
    -----
    The same data, parameters and seed give the same forest, byte for byte, whatever the number of
    threads. Tree i of a larger forest is tree i of a smaller one.

    Differences from scikit-learn: X is compared as float64 (not float32); a row counts as often as
    it was drawn times its weight, where scikit-learn 1.9 draws by weight instead; rows of weight 0
    are never drawn; a row that is in every bag has no out-of-bag prediction (NaN) and does not
    count in the score; ``n_jobs=None`` means all cores; the members of ``estimators_`` predict
    class labels.

    References
    ----------
    P. Geurts, D. Ernst, L. Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.

    C. Chen, A. Liaw, L. Breiman (2004), "Using random forest to learn imbalanced data".

    F. Provost, P. Domingos (2003), "Tree induction for probability-based ranking", Machine Learning
    52.


    Examples
    --------
    >>> from arboleda import ExtraTreesClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _random_splits: ClassVar[bool] = True

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
        bootstrap: bool | Literal["balanced"] = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: ClassWeight = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        voting: Voting = "soft",
        keep_rows: bool = False,
    ) -> None:
        self.n_estimators: int | Literal["auto"] = n_estimators
        self.criterion: ClassificationCriterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features: MaxFeatures = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap: bool | Literal["balanced"] = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.voting: Voting = voting
        self.keep_rows = keep_rows


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees for regression: thresholds are drawn at random.

    Each node draws ``max_features`` columns; each of them proposes one random split (a threshold
    uniform between its smallest and largest value in the node; a random half of the categories),
    and the best of these is taken. Each tree is fitted on all rows unless ``bootstrap`` is set;
    their predictions are averaged. The names, defaults and meaning of the parameters are
    scikit-learn's.

    Parameters
    ----------
    n_estimators : int or "auto", default=100
        Number of trees. "auto" adds blocks of 50, at most 1,000, until the out-of-bag squared error
        (for classes: the Brier score of the votes) is within one hundredth of that of infinitely
        many trees; it requires bootstrap samples. See the guide's page "Forests".
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
            default="squared_error"
        See `DecisionTreeRegressor`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeClassifier`. Fractions are of all rows, not of a tree's.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns drawn at each node; a float is a fraction of all columns. None and 1.0: all, which
        is bagging; Breiman (2001) recommends a third.
    max_leaf_nodes, min_impurity_decrease
        See `DecisionTreeClassifier`.
    bootstrap : bool, default=False
        True: each tree is fitted on as many rows as there are, drawn with replacement. False: all
        rows.
    oob_score : bool or callable, default=False
        Whether to compute the out-of-bag score of the forest (R2). A callable ``score(y_true,
        y_pred)`` replaces the metric.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; those of tree i do not depend on the number of trees or threads.
    verbose : int, default=0
        1 prints progress about ten times, 2 after every tree.
    warm_start : bool, default=False
        Keep the trees of the last fit and add trees up to ``n_estimators``. On the same data this
        gives the same forest as a single fit, byte for byte.
    ccp_alpha : float, default=0.0
        Complexity parameter (cost per leaf) for pruning each tree; see `DecisionTreeClassifier`.
    max_samples : int, float or None, default=None
        Rows drawn for each tree with ``bootstrap=True``, at most all; a float is a fraction.
        None: as many as there are.
    max_bins, categorical_features, monotonic_cst
        See `DecisionTreeClassifier`.
    n_jobs : int, default=None
        Number of threads; None and -1 mean all available cores. The result does not depend on it.
    keep_rows : bool, default=False
        Whether to store the training rows of each leaf, and the target: 4 bytes per row and tree.
        `neighbor_weights` and `predict_quantiles` need it.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeRegressor
        The trees, created on access.
    estimators_samples_ : sequence of ndarray of int
        Training rows of each tree, ascending, with repeats.
    n_estimators_ : int
        Number of trees.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    max_features_ : int
        Columns drawn at each node.
    missing_columns_ : ndarray of int
        Indices of the columns with missing values in training.
    n_outputs_ : int
        Number of targets.
    oob_score_ : float
        Out-of-bag R2, or the result of the callable. This and the next attribute exist only with
        ``oob_score``.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean out-of-bag prediction; NaN for rows without predictions.

    Notes
    -----
    The same data, parameters and seed give the same forest, byte for byte, whatever the number of
    threads. Tree i of a larger forest is tree i of a smaller one.

    Differences from scikit-learn: X is compared as float64 (not float32); a row counts as often as
    it was drawn times its weight, where scikit-learn 1.9 draws by weight instead; rows of weight 0
    are never drawn; a row that is in every bag has no out-of-bag prediction (NaN) and does not
    count in the score; ``n_jobs=None`` means all cores; the members of ``estimators_`` predict
    class labels.

    References
    ----------
    P. Geurts, D. Ernst, L. Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.


    Examples
    --------
    >>> from arboleda import ExtraTreesRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> ExtraTreesRegressor(10, random_state=0).fit(X, [0.0, 0.0, 5.0, 5.0]).predict([[3.5]])
    array([5.])
    """

    _random_splits: ClassVar[bool] = True

    def __init__(
        self,
        n_estimators: int | Literal["auto"] = 100,
        *,
        criterion: RegressionCriterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        keep_rows: bool = False,
    ) -> None:
        self.n_estimators: int | Literal["auto"] = n_estimators
        self.criterion: RegressionCriterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features: MaxFeatures = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap: bool | Literal["balanced"] = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.keep_rows = keep_rows
