"""Classification trees: Breiman, Friedman, Olshen, Stone (1984), chapters 2 to 5."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from arboleda._engine.fit import (
    BinnedDataset,
    GrowthOptions,
    check_class_shares_fit,
    fit_classification_tree,
)
from arboleda._engine.tree import Tree
from arboleda.persist import Field
from arboleda.tree._class_target import ClassTarget
from arboleda.tree._decision_tree import DecisionTree
from arboleda.tree._tree_learner import Array, CategoricalFeatures, Floats, MaxFeatures


class DecisionTreeClassifier(ClassTarget, DecisionTree):
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
    splitter : {"best", "random"}, default="best"
        "best": every threshold, and every way to part the categories that can be best, is tried.
        "random": each column offers one split drawn at random (a threshold uniform between its
        smallest and largest value in the node; a random half of the categories), and the best of
        them is kept.
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
        Seed of the drawn columns and splits; without ``max_features`` and ``splitter="random"``
        nothing is random.
    max_leaf_nodes : int, default=None
        Most leaves; the tree then grows best first, the largest decrease of impurity next.
    min_impurity_decrease : float, default=0.0
        A node is split only if that lowers the weighted impurity by at least this.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weight of each class; "balanced" makes all classes weigh the same. For several targets a
        list with a dict for each; the weights of a row's classes are multiplied.
    ccp_alpha : float, default=0.0
        Price of a leaf: the grown tree is pruned to the smallest one that is best for it (see
        `cost_complexity_pruning_path`).
    max_bins : int, default=None
        Most different values of a numeric column that are told apart: neighbouring values are put
        together into so many bins of about equally many rows, and thresholds lie between bins. A
        few hundred make trees on large data several times faster, at nearly the same accuracy.
        None: every value counts.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Columns whose values are categories. "from_dtype": those of a frame that have a categorical
        type or hold text. None: no column. Otherwise a list of names, of indices, or a mask of
        booleans; the values may then be text, numbers or dates. At most 65,535 categories a column.
    n_jobs : int, default=None
        Threads: None all available cores, -1 likewise. The result does not depend on it.
    monotonic_cst : array-like of int, dict of name to int, or None, default=None
        Direction of each column: 1 the probability of the second class never falls as the column
        rises, -1 it never rises, 0 is free. For two classes only. Missing values have no order.

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
        Numbers of the columns that missed values in training.
    n_outputs_ : int
        Number of targets.
    tree_ : Tree
        The fitted tree as arrays, under scikit-learn's names.

    Notes
    -----
    Missing values (NaN) are learned from: each split also finds the better side for them. A value
    missing only at prediction goes to the child with more training rows. A category that `fit` did
    not see goes where missing values go.

    A column of categories is split into two sets of them. With two classes the best of all sets is
    found: it is a cut of the categories ordered by their share of one class (Fisher 1958). With
    more classes the order by the share of one class is tried for each of the ten largest classes
    of the node.

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
        self.splitter = splitter
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
        n_rows = len(target)
        n_leaves = n_rows if self.max_leaf_nodes is None else self.max_leaf_nodes
        check_class_shares_fit(2 * min(n_leaves, n_rows) - 1, self._value_width())
        criterion = "entropy" if self.criterion == "log_loss" else self.criterion
        return fit_classification_tree(
            table,
            target,
            self._value_widths(),
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
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._decode_predictions(self._leaf_values(X))

    def predict_proba(self, X: Any) -> Floats | list[Floats]:
        """Class shares of each row's leaf, by training weight.

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
        """Logarithm of `predict_proba`; minus infinity for a share of 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes), or list of n_outputs such arrays
        """
        return self._log_probabilities(self.predict_proba(X))
