"""Random forests of regression trees: Breiman (2001), "Random forests"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from arboleda.forest._forest_regressor import Criterion, ForestRegressor
from arboleda.tree._tree_learner import CategoricalFeatures, MaxFeatures


class RandomForestRegressor(ForestRegressor):
    """Random forest of regression trees: each grows on other rows and looks at few columns.

    A tree sees a bootstrap sample of the rows, and each of its nodes draws ``max_features`` columns
    anew and takes the best split among these. The trees are not pruned; the forest answers with
    their mean. The names, defaults and meaning of the parameters are scikit-learn's.

    Parameters
    ----------
    n_estimators : int or "auto", default=100
        Number of trees. "auto" adds blocks of 50, at most 1,000, until the out-of-bag squared error
        (for classes: the Brier score of the votes) is within one hundredth of what infinitely many
        trees would have; it needs bootstrap samples. See the guide's page "Forests".
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
            default="squared_error"
        See `DecisionTreeRegressor`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeClassifier`. Fractions are of all rows, not of a tree's.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns drawn at each node; a float is a fraction of all columns. None and 1.0: all, which
        is bagging; a third of them is what Breiman (2001) advises.
    max_leaf_nodes, min_impurity_decrease
        See `DecisionTreeClassifier`.
    bootstrap : bool, default=True
        True: each tree sees as many rows as there are, drawn with replacement. False: all rows.
    oob_score : bool or callable, default=False
        Whether to judge the forest by the rows that trees left out (by R2). A callable
        ``score(y_true, y_pred)`` takes the place of it.
    random_state : int, RandomState or None, default=None
        Seed of all that is drawn: tree i draws the same whatever the number of trees and threads.
    verbose : int, default=0
        1 tells about ten times how far growing is, 2 after every tree.
    warm_start : bool, default=False
        Keep the trees of the last fit and add those that are missing up to ``n_estimators``. On the
        same data that gives the forest that one fit would, byte for byte.
    ccp_alpha : float, default=0.0
        Price of a leaf, by which each tree is pruned; see `DecisionTreeClassifier`.
    max_samples : int, float or None, default=None
        Rows drawn for each tree with ``bootstrap=True``, at most all; a float is a fraction.
        None: as many as there are.
    max_bins, categorical_features, monotonic_cst
        See `DecisionTreeClassifier`.
    n_jobs : int, default=None
        Threads: None all available cores, -1 likewise. The result does not depend on it.
    keep_rows : bool, default=False
        Whether to keep which training rows are in which leaf, and the target: 4 bytes a row and
        tree. `neighbor_weights` and `predict_quantiles` need it.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeRegressor
        The trees; each is made when it is asked for.
    estimators_samples_ : sequence of ndarray of int
        Rows that each tree saw, ascending, as often as they were drawn.
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
        Numbers of the columns that missed values in training.
    n_outputs_ : int
        Number of targets.
    oob_score_ : float
        R2 on the rows left out, or what the callable said. This and the next one only with
        ``oob_score``.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean answer of the trees that left the row out; NaN where there is none.

    Notes
    -----
    The same data, parameters and seed give the same forest, byte for byte, whatever the number of
    threads. Tree i of a larger forest is tree i of a smaller one.

    Differences from scikit-learn: X is compared as float64 (not float32); a row counts as often as
    it was drawn times its weight, where scikit-learn 1.9 draws by weight instead; rows of weight 0
    are never drawn; a row that no tree left out has no out-of-bag answer (NaN) and does not count
    in the score; ``n_jobs=None`` means all cores; the members of ``estimators_`` speak of classes
    by their labels.

    References
    ----------
    L. Breiman (2001), "Random forests", Machine Learning 45.


    Examples
    --------
    >>> from arboleda import RandomForestRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(max_features=1 / 3, oob_score=True, random_state=0)
    >>> forest.fit(X, y).oob_score_ > 0.4
    True
    """

    _random_splits: ClassVar[bool] = False

    def __init__(
        self,
        n_estimators: int | Literal["auto"] = 100,
        *,
        criterion: Criterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
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
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.keep_rows = keep_rows
