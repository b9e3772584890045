"""Decision trees: Breiman, Friedman, Olshen, Stone (1984)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from arboleda._base.targets import ClassTarget, NumberTarget
from arboleda._base.tree_learner import Array, CategoricalFeatures, Floats, MaxFeatures, Training
from arboleda._engine.fit import (
    GrowthOptions,
    check_class_shares_fit,
    fit_classification_tree,
    fit_regression_tree,
)
from arboleda._engine.tree import Tree
from arboleda.persist import Field
from arboleda.tree._decision_tree import DecisionTree


class DecisionTreeClassifier(ClassTarget, DecisionTree):
    """Classification tree (CART).

    At every node all columns and all thresholds midway between neighbouring values are tried, and
    the split with the smallest weighted impurity of the two children is kept; ties go to the first
    column, then to the lowest threshold. The names, defaults and meaning of the parameters are
    scikit-learn's. The same data and parameters give the same tree, byte for byte, whatever the
    number of threads and the order of the rows.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        Impurity of a node with class shares p: ``sum p (1 - p)``; ``-sum p log2 p`` (two names);
        ``1 - max p``.
    splitter : {"best", "random"}, default="best"
        "best": all thresholds, and all partitions of the categories that can be optimal, are tried.
        "random": each column proposes one random split (a threshold uniform between its smallest
        and largest value in the node; a random half of the categories), and the best of them is
        kept.
    max_depth : int, default=None
        Maximum number of edges from the root to a leaf. None: no limit.
    min_samples_split : int or float, default=2
        Minimum number of rows to split a node; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf; a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Minimum share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn at each node; a float is a fraction of all columns. None: all.
    random_state : int, RandomState or None, default=None
        Seed of the random columns and splits; without ``max_features`` and ``splitter="random"``
        the fit is deterministic.
    max_leaf_nodes : int, default=None
        Maximum number of leaves; the tree is then grown best-first, by decrease of impurity.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the weighted impurity to split a node.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weight of each class; "balanced" gives all classes the same total weight. For several
        targets, a list with a dict for each; the weights of a row's classes are multiplied.
    ccp_alpha : float, default=0.0
        Complexity parameter (cost per leaf): the grown tree is pruned to the smallest tree that is
        optimal for it (see `cost_complexity_pruning_path`).
    max_bins : int, default=None
        Maximum number of bins of a numeric column: neighbouring values are grouped into bins of
        about equally many rows, and thresholds lie between bins. A few hundred bins make fitting on
        large data several times faster, at nearly the same accuracy. None: no binning.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Categorical columns. "from_dtype": the columns of a frame with a categorical or text type.
        None: no column. Otherwise a list of names, of indices, or a boolean mask; the values may
        then be text, numbers or dates. At most 65,535 categories per column.
    n_jobs : int, default=None
        Number of threads; None and -1 mean all available cores. The result does not depend on it.
    monotonic_cst : array-like of int, dict of name to int, or None, default=None
        Monotonic constraint of each column: 1 means that the probability of the second class never
        decreases as the column increases, -1 that it never increases, 0 no constraint. For two
        classes only. Missing values are not constrained.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        Class labels, sorted; for several targets one array for each.
    n_classes_ : int or list of int
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    max_features_ : int
    missing_columns_ : ndarray of int
        Indices of the columns with missing values in training.
    n_outputs_ : int
        Number of targets.
    tree_ : Tree
        The fitted tree as arrays, under scikit-learn's names.

    Notes
    -----
    Missing values (NaN) are supported: each split also finds the better side for them. Values that
    are missing only at prediction go to the child with more training rows. Categories that `fit`
    did not see are treated as missing values.

    A categorical column is split into two sets of categories. With two classes the optimal sets are
    found, by sorting the categories by their share of one class (Fisher 1958). With more classes
    the categories are sorted by their share of each of the ten largest classes of the node.

    Differences from scikit-learn: X is compared as float64 (not float32); a tie between splits is
    never decided at random; rows of weight 0 are ignored throughout.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), "Classification and Regression Trees".

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> tree.get_n_leaves(), round(tree.score(X, y), 2)
    (3, 0.96)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "misclassification"})],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **DecisionTree._fitted_attributes,
        **ClassTarget._target_attributes,
    }

    def __init__(
        self,
        *,
        criterion: Literal["gini", "entropy", "log_loss", "misclassification"] = "gini",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, float] | list[dict[Any, float]] | Literal["balanced"] | None = None,
        ccp_alpha: float = 0.0,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        n_jobs: int | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter: Literal["best", "random"] = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features: MaxFeatures = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.n_jobs = n_jobs
        self.monotonic_cst = monotonic_cst

    def _grow(self, training: Training, options: GrowthOptions) -> Tree:
        n_rows = training.shards.count(len(training.target))
        n_leaves = n_rows if self.max_leaf_nodes is None else self.max_leaf_nodes
        check_class_shares_fit(2 * min(n_leaves, n_rows) - 1, self._value_width())
        criterion = "entropy" if self.criterion == "log_loss" else self.criterion
        return fit_classification_tree(
            training.table,
            training.target,
            self._value_widths(),
            training.weight,
            criterion,
            options,
            n_threads=training.n_threads,
            seed=training.seed,
            shards=training.shards.connection,
        )

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest share in each row's leaf; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._decode_predictions(self._leaf_values(X))

    def predict_proba(self, X: Any) -> Floats | list[Floats]:
        """Predict class probabilities as the weighted class shares of each row's leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes), or list of n_outputs such arrays
            Columns in the order of ``classes_``; rows sum to 1.
        """
        return self._decode_probabilities(self._leaf_values(X))

    def predict_log_proba(self, X: Any) -> Floats | list[Floats]:
        """Compute the logarithm of `predict_proba`; minus infinity for a share of 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes), or list of n_outputs such arrays
        """
        return self._compute_log_probabilities(self.predict_proba(X))


class DecisionTreeRegressor(NumberTarget, DecisionTree):
    """Regression tree (CART).

    At every node all columns and all thresholds midway between neighbouring values are tried, and
    the split with the smallest weighted impurity of the two children is kept; ties go to the first
    column, then to the lowest threshold. The names, defaults and meaning of the parameters are
    scikit-learn's. The same data and parameters give the same tree, byte for byte, whatever the
    number of threads and the order of the rows.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
            default="squared_error"
        Impurity of a node: the variance of its target (two names); the mean absolute deviation of
        its target from the weighted median, which the leaves then predict; half the mean Poisson
        deviance of a non-negative target, ``y log(y / mean) - y + mean``.
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeClassifier`.
    max_features, random_state, max_leaf_nodes, min_impurity_decrease, ccp_alpha
        See `DecisionTreeClassifier`.
    max_bins, categorical_features, n_jobs
        See `DecisionTreeClassifier`.
    monotonic_cst : array-like of int, dict of name to int, or None, default=None
        Monotonic constraint of each column: 1 means that the prediction never decreases as the
        column increases, -1 that it never increases, 0 no constraint. Missing values are not
        constrained.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    max_features_ : int
    missing_columns_ : ndarray of int
        Indices of the columns with missing values in training.
    n_outputs_ : int
        Number of targets.
    tree_ : Tree
        The fitted tree as arrays, under scikit-learn's names.

    Notes
    -----
    Sums of the target are exact: it is stored as integers of 32 to 60 bits, with more bits for
    fewer rows (44 bits plus sign for 100,000 rows). A leaf whose rows have the same target predicts
    exactly that value. Trees do not extrapolate: they are constant beyond the last training value.

    Ties of the absolute error are broken by the squared error. With the Poisson deviance no split
    creates a child whose target is all 0.

    Friedman's measure of a split into sides of weights W_L and W_R and means m_L and m_R is ``W_L
    W_R / (W_L + W_R) (m_L - m_R)^2``. It equals the decrease of the weighted variance, so
    "friedman_mse" is another name of "squared_error".

    Missing values and categories are treated as in `DecisionTreeClassifier`: the optimal split of
    categories is among the splits of their order by mean target (Fisher 1958); for the absolute
    error this is a heuristic.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), "Classification and Regression Trees".

    J. Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29(5), equation (35).

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[0], [1], [2], [3]], [4.0, 4.0, 9.0, 7.0])
    >>> tree.predict([[0.5], [2.5]])
    array([4., 8.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "friedman_mse", "absolute_error", "poisson"})],
    }

    def __init__(
        self,
        *,
        criterion: Literal[
            "squared_error", "friedman_mse", "absolute_error", "poisson"
        ] = "squared_error",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        n_jobs: int | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter: Literal["best", "random"] = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features: MaxFeatures = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.n_jobs = n_jobs
        self.monotonic_cst = monotonic_cst

    def _grow(self, training: Training, options: GrowthOptions) -> Tree:
        criterion = "squared_error" if self.criterion == "friedman_mse" else self.criterion
        return fit_regression_tree(
            training.table,
            training.target,
            training.weight,
            criterion,
            options,
            n_threads=training.n_threads,
            seed=training.seed,
            shards=training.shards.connection,
        )

    def predict(self, X: Any) -> Floats:
        """Predict the mean (or median, for "absolute_error") target of each row's leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._decode_predictions(self._leaf_values(X))
