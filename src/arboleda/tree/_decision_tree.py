"""CART: Breiman, Friedman, Olshen, Stone (1984), "Classification and Regression Trees"."""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import Bunch, Tags, check_random_state, compute_sample_weight
from sklearn.utils._missing import is_pandas_na, is_scalar_nan
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from arboleda._bridge.fit import (
    CodedTable,
    GrowthOptions,
    fit_classification_tree,
    fit_regression_tree,
)
from arboleda._bridge.table import check_class_shares_fit, check_table, code_table
from arboleda._bridge.threads import resolve_n_jobs
from arboleda._bridge.tree import Tree

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
MaxFeatures = int | float | Literal["sqrt", "log2"] | None


class _DecisionTree(BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """What classification and regression trees share: everything but the target."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "random_state": ["random_state"],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: MaxFeatures
    random_state: int | np.random.RandomState | None
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    ccp_alpha: float
    n_jobs: int | None
    n_features_in_: int
    tree_: Tree

    @abstractmethod
    def _encode_target(self, y: Array) -> Array:
        """Check y, remember what predictions need of it, and return what the engine learns."""

    @abstractmethod
    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        """Weight of every row."""

    @abstractmethod
    def _grow(
        self,
        table: CodedTable,
        target: Array,
        sample_weight: Floats | None,
        options: GrowthOptions,
        n_threads: int,
        seed: int,
    ) -> Tree:
        """Grow the tree."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree from a table and its target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers and booleans of any dtype; NaN means missing. Not copied.
        y : array-like of shape (n_samples,)
            The target, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite weights, not negative; rows of weight 0 take no part. None: every row counts 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X holds an infinite value or text, the lengths differ, y
            has missing or infinite values, or the weights are negative or all zero.
        """
        self._validate_params()
        X = check_table(self, X, reset=True)
        target = self._encode_target(y)
        check_consistent_length(X, target)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            if not sample_weight.any():
                raise ValueError(
                    "sample_weight is zero for every row: at least one must be positive"
                )
        weight = self._target_weight(target, sample_weight)
        _check_total(weight)
        n_threads = resolve_n_jobs(self.n_jobs)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        options = self._growth_options(X.shape[0])
        tree = self._grow(code_table(X, n_threads), target, weight, options, n_threads, seed)
        self.tree_ = tree.pruned(self.ccp_alpha) if self.ccp_alpha > 0.0 else tree
        return self

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Grow the tree and find the sequence of its best pruned trees.

        With R(t) the weighted impurity of a node, the cost of a tree is the sum of R over its
        leaves plus alpha times their number. Each alpha has a best pruned tree; they are nested,
        and the path holds the alphas at which the best one changes. Breiman et al. (1984), ch. 3.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        path : Bunch
            ``ccp_alphas``, ascending from 0, and ``impurities``: the sum of R over the leaves of
            the tree that is best from that alpha on. The last tree is the root alone.
        """
        tree = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight).tree_
        alphas, impurities = tree.pruning_path()
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def _growth_options(self, n_rows: int) -> GrowthOptions:
        """Parameters as the engine counts them: rows instead of fractions of them."""
        min_samples_leaf = _rows(self.min_samples_leaf, n_rows)
        min_samples_split = max(2, _rows(self.min_samples_split, n_rows))
        self.max_features_ = _n_features(self.max_features, self.n_features_in_)
        return GrowthOptions(
            max_depth=-1 if self.max_depth is None else min(self.max_depth, 2**31 - 1),
            max_leaf_nodes=-1 if self.max_leaf_nodes is None else min(self.max_leaf_nodes, n_rows),
            min_samples_split=max(min_samples_split, 2 * min_samples_leaf),
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=self.max_features_,
        )

    def _check_input(self, X: Any) -> Array:
        check_is_fitted(self)
        return check_table(self, X, reset=False)

    def _leaf_values(self, X: Any) -> Floats:
        X = self._check_input(X)
        return self.tree_.predict(X, resolve_n_jobs(self.n_jobs))

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Index of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Indices into the arrays of ``tree_``.
        """
        X = self._check_input(X)
        return self.tree_.apply(X, resolve_n_jobs(self.n_jobs))

    def decision_path(self, X: Any) -> csr_matrix:
        """Nodes that each row passes from the root to its leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
            1 where the row passes the node.
        """
        X = self._check_input(X)
        return self.tree_.decision_path(X, resolve_n_jobs(self.n_jobs))

    def get_depth(self) -> int:
        """Edges on the longest path from the root to a leaf."""
        check_is_fitted(self)
        return int(self.tree_.max_depth)

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return int(self.tree_.n_leaves)

    @property
    def feature_importances_(self) -> Floats:
        """Decrease of impurity by each column, normalised to sum 1; all 0 for a single leaf.

        Breiman et al. (1984), section 5.3.4.
        """
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class DecisionTreeClassifier(ClassifierMixin, _DecisionTree):  # type: ignore[misc]
    """Classification tree (CART): split where the classes get purest, predict the leaf's classes.

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
    max_depth : int, default=None
        Most edges from the root to a leaf. None: no limit.
    min_samples_split : int or float, default=2
        Fewest rows of a node that may be split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Fewest rows of a leaf; a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn at each node; a float is a fraction of all columns. None: all.
    random_state : int, RandomState or None, default=None
        Seed of the drawn columns; without ``max_features`` nothing is random.
    max_leaf_nodes : int, default=None
        Most leaves; the tree then grows best first, the largest decrease of impurity next.
    min_impurity_decrease : float, default=0.0
        A node is split only if that lowers the weighted impurity by at least this.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" makes all classes weigh the same.
    ccp_alpha : float, default=0.0
        Price of a leaf: the grown tree is pruned to the smallest one that is best for it (see
        `cost_complexity_pruning_path`).
    n_jobs : int, default=None
        Threads: None all available cores, -1 likewise. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    max_features_ : int
    n_outputs_ : int
        Always 1.
    tree_ : Tree
        The fitted tree as arrays, under scikit-learn's names.

    Notes
    -----
    Missing values (NaN) are learned from: each split also finds the better side for them. A value
    missing only at prediction goes to the child with more training rows.

    Differences from scikit-learn: X is compared as float64 (not float32); a tie between splits is
    never decided at random; zero-weight rows are ignored throughout.

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
        **_DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "misclassification"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        criterion: Literal["gini", "entropy", "log_loss", "misclassification"] = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        ccp_alpha: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.n_jobs = n_jobs

    def _encode_target(self, y: Array) -> Array:
        _check_labels_present(y)
        y = column_or_1d(_check_y(y, estimator=self), warn=True)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        self.n_outputs_ = 1
        return labels

    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        if self.class_weight is None:
            return sample_weight
        weight: Floats = compute_sample_weight(self.class_weight, self.classes_[y])
        if not (np.isfinite(weight).all() and weight.min() >= 0 and weight.any()):
            raise ValueError(
                f"class_weight={self.class_weight!r} must give every class a finite weight that is "
                "not negative, and one of them a positive one"
            )
        if sample_weight is None:
            return weight
        with np.errstate(over="ignore"):  # refused with the sum of all weights
            weight = weight * sample_weight
        if not weight.any():
            raise ValueError(
                f"class_weight={self.class_weight!r} and sample_weight leave no row with a "
                "positive weight"
            )
        return weight

    def _grow(
        self,
        table: CodedTable,
        target: Array,
        sample_weight: Floats | None,
        options: GrowthOptions,
        n_threads: int,
        seed: int,
    ) -> Tree:
        n_leaves = target.size if self.max_leaf_nodes is None else self.max_leaf_nodes
        check_class_shares_fit(2 * min(n_leaves, target.size) - 1, self.n_classes_)
        criterion = "entropy" if self.criterion == "log_loss" else self.criterion
        return fit_classification_tree(
            table,
            target,
            self.n_classes_,
            sample_weight,
            criterion,
            options,
            n_threads=n_threads,
            seed=seed,
        )

    def predict(self, X: Any) -> Array:
        """Class with the largest share in each row's leaf; a tie goes to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        shares = self._leaf_values(X)
        labels: Array = self.classes_[shares.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Class shares of each row's leaf, by training weight.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to 1.
        """
        return self._leaf_values(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`; minus infinity for a share of 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class DecisionTreeRegressor(RegressorMixin, _DecisionTree):  # type: ignore[misc]
    """Regression tree (CART): split where the target varies least, stop, predict the leaf's mean.

    At every node all columns and all thresholds midway between neighbouring values are tried, and
    the split with the smallest weighted impurity of the two children is kept; ties go to the first
    column, then to the lowest threshold. The names, defaults and meaning of the parameters are
    scikit-learn's. The same data and parameters give the same tree, byte for byte, whatever the
    number of threads and the order of the rows.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
        Impurity of a node: the variance of its target.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeClassifier`.
    max_features, random_state, max_leaf_nodes, min_impurity_decrease, ccp_alpha, n_jobs
        See `DecisionTreeClassifier`.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    max_features_ : int
    n_outputs_ : int
        Always 1.
    tree_ : Tree
        The fitted tree as arrays, under scikit-learn's names.

    Notes
    -----
    Sums of the target are exact: it is held as integers of 32 to 60 bits, the more the fewer rows
    (44 bits beyond the sign for 100,000 rows). A leaf whose rows agree predicts exactly their
    value. A tree is constant beyond the last training value: it does not extrapolate.

    Missing values are treated as in `DecisionTreeClassifier`.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), "Classification and Regression Trees".

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[0], [1], [2], [3]], [4.0, 4.0, 9.0, 7.0])
    >>> tree.predict([[0.5], [2.5]])
    array([4., 8.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"squared_error"})],
    }

    def __init__(
        self,
        *,
        criterion: Literal["squared_error"] = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.n_jobs = n_jobs

    def _encode_target(self, y: Array) -> Array:
        y = _check_y(y, y_numeric=True, estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {y.dtype}: turn dates and durations into numbers first"
            )
        self.n_outputs_ = 1
        targets: Floats = column_or_1d(y, warn=True).astype(np.float64)
        return targets

    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        return sample_weight

    def _grow(
        self,
        table: CodedTable,
        target: Array,
        sample_weight: Floats | None,
        options: GrowthOptions,
        n_threads: int,
        seed: int,
    ) -> Tree:
        return fit_regression_tree(
            table, target, sample_weight, options, n_threads=n_threads, seed=seed
        )

    def predict(self, X: Any) -> Floats:
        """Mean target of each row's leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._leaf_values(X)[:, 0]


def _check_labels_present(y: Any) -> None:
    """Refuse None, NaN and NA among labels that are objects; elsewhere scikit-learn finds them."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind != "O":
        return
    for row, label in enumerate(labels):
        if label is None or is_scalar_nan(label) or is_pandas_na(label):
            raise ValueError(
                f"y has a missing value in row {row} ({label!r}): drop such rows or give them a "
                "class of their own"
            )


def _check_total(weight: Floats | None) -> None:
    with np.errstate(over="ignore"):
        if weight is not None and not math.isfinite(weight.sum()):
            raise ValueError(
                "the sum of sample_weight is beyond float64: divide all weights by the same number"
            )


def _rows(count: int | float, n_rows: int) -> int:
    # More rows than there are says no more than one row too many, and fits the engine's integers.
    if isinstance(count, int | np.integer):
        return min(int(count), n_rows + 1)
    return math.ceil(count * n_rows)


def _n_features(max_features: MaxFeatures, n_features: int) -> int:
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, int | np.integer):
        return min(int(max_features), n_features)
    return max(1, int(float(max_features) * n_features))
