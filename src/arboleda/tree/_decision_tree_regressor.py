"""Regression trees: Breiman, Friedman, Olshen, Stone (1984), chapter 8."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from arboleda._engine.fit import BinnedDataset, GrowthOptions, fit_regression_tree
from arboleda._engine.tree import Tree
from arboleda.tree._decision_tree import DecisionTree
from arboleda.tree._number_target import NumberTarget
from arboleda.tree._tree_learner import Array, CategoricalFeatures, Floats, MaxFeatures


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
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.monotonic_cst = monotonic_cst

    def _grow(
        self,
        table: BinnedDataset,
        target: Array,
        sample_weight: Floats | None,
        options: GrowthOptions,
        n_threads: int,
        seed: int,
    ) -> Tree:
        criterion = "squared_error" if self.criterion == "friedman_mse" else self.criterion
        return fit_regression_tree(
            table, target, sample_weight, criterion, options, n_threads=n_threads, seed=seed
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
