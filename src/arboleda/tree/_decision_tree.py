"""CART: Breiman, Friedman, Olshen, Stone (1984), "Classification and Regression Trees"."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.predictor import RowPredictorMixin
from arboleda._base.tree_learner import Array, Floats, Training, TreeLearner
from arboleda._engine.all_shards import AllShards
from arboleda._engine.fit import GrowthOptions
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.tree import Tree
from arboleda.persist import Field, TreePart
from arboleda.tree._rules import Rules, extract_rules
from arboleda.tree._sharded_fit import read_shard_training
from arboleda.tree._tree_view import Drawing, tree_svg


class DecisionTree(RowPredictorMixin, TreeLearner):
    """Base class of classification and regression trees."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeLearner._parameter_constraints,
        "splitter": [StrOptions({"best", "random"})],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **TreeLearner._fitted_attributes,
        "tree_": TreePart(),
    }

    _fits_shards: ClassVar[bool] = True  # whether `fit_shard` takes the estimator
    splitter: Literal["best", "random"]
    tree_: Tree

    @abstractmethod
    def _grow(self, training: Training, options: GrowthOptions) -> Tree:
        """Grow the tree in the engine."""

    @abstractmethod
    def _encode_shard_target(self, y: Array) -> Array:
        """Check y and encode it, as far as this shard's rows suffice for it."""

    @abstractmethod
    def _unite_target(self, target: Array | None, shards: AllShards) -> Array:
        """Set what depends on the targets of all shards, and return that of this one encoded by it.

        None: this shard has no row.
        """

    @abstractmethod
    def _shard_weight(
        self, target: Array, sample_weight: Floats | None, shards: AllShards
    ) -> Floats | None:
        """Return the weight of every row of this shard."""

    @name_other_arguments
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree from a table and its target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table in any container: NumPy, pandas, polars, Arrow, lists. It is not copied if its
            types allow. See the guide's page "What goes in".
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target or targets, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored. None: every row has weight
            1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X has infinite values or text in a numeric column, the
            lengths differ, y has missing or infinite values, or the weights are negative or all
            zero. The estimator is then unchanged.
        """
        with restore_on_failure(self):
            if isinstance(X, ShardParts):
                training = read_shard_training(self, X, y, sample_weight)
            else:
                training = self._training(X, y, sample_weight)
            tree = self._grow_tree(training)
            self.tree_ = tree.pruned(self.ccp_alpha) if self.ccp_alpha > 0.0 else tree
        return self

    def _grow_tree(self, training: Training) -> Tree:
        """Grow the full tree from the rows of positive weight."""
        n_rows = training.table.n_rows if training.n_rows is None else training.n_rows
        return self._grow(training, self._growth_options(n_rows))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Grow the tree and compute its minimal cost-complexity pruning path.

        With R(t) the weighted impurity of a node, the cost of a tree is the sum of R over its
        leaves plus alpha times their number. Each alpha has an optimal pruned tree; these trees are
        nested, and the path holds the alphas at which the optimal tree changes. Breiman et al.
        (1984), ch. 3.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        path : Bunch
            ``ccp_alphas``, ascending from 0, and ``impurities``: the sum of R over the leaves of
            the tree that is optimal from that alpha on. The last tree is the root alone.
        """
        other = clone(self)
        path = other._grow_tree(other._training(X, y, sample_weight)).pruning_path()
        return Bunch(ccp_alphas=path.alpha, impurities=path.impurity)

    def _growth_options(self, n_rows: int) -> GrowthOptions:
        return GrowthOptions(**self._growth_limits(n_rows), random_splits=self.splitter == "random")

    def _defect(self) -> str | None:
        if self.tree_.n_features != self.n_features_in_:
            return "the tree was fitted on a different number of columns than the header lists"
        if not self.tree_.categories_are_below(self.schema_.n_levels):
            return "the tree splits on categories that its columns do not have"
        width = self._value_width()
        if self.tree_.value_rows.shape[1] != width:
            return f"the leaves of the tree do not hold the {width} numbers that the header implies"
        self.tree_ = self.tree_.with_widths(self._value_widths())  # model files store only the sum
        return super()._defect()

    def _leaf_values(self, X: Any) -> Floats:
        table = self._check_input(X)
        return self.tree_.predict(table, resolve_threads(table, self.n_jobs))

    def _row_predictor(self) -> RowPredictor:
        return self.tree_.row_predictor()

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the index of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Indices into the arrays of ``tree_``.
        """
        table = self._check_input(X)
        return self.tree_.apply(table, resolve_n_jobs(self.n_jobs))

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes on each row's path from the root to its leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
            1 if the row passes through the node.
        """
        table = self._check_input(X)
        return self.tree_.decision_path(table, resolve_n_jobs(self.n_jobs))

    def get_depth(self) -> int:
        """Return the number of edges on the longest path from the root to a leaf."""
        check_is_fitted(self)
        return int(self.tree_.max_depth)

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return int(self.tree_.n_leaves)

    def to_svg(
        self, *, max_depth: int | None = 6, feature_names: Any = None, class_names: Any = None
    ) -> Drawing:
        """Draw the tree as a self-contained SVG, from the root on the left to the leaves.

        A box shows the split or the prediction, the number of training rows and a bar with the
        class shares (or the relative value). Leaves are tinted by class, more strongly the purer
        they are, or by value. The width of a branch is its share of the rows; the path of most rows
        is dark.

        Parameters
        ----------
        max_depth : int, default=6
            Maximum depth of the drawn nodes; nodes below are only counted. None: all.
        feature_names : array-like of str, default=None
            Names of the columns; None: those of the table in ``fit``, else "x[0]" and so on.
        class_names : array-like of str, default=None
            Names of the classes; None: ``classes_``.

        Returns
        -------
        svg : str
            The same tree and names give the same text. It requires no other file, font or script.
            Notebooks display it as a picture.

        Examples
        --------
        >>> from arboleda import DecisionTreeRegressor
        >>> svg = DecisionTreeRegressor().fit([[1], [2]], [0.0, 1.0]).to_svg()
        >>> svg.startswith("<svg"), svg.count('<title>')
        (True, 3)
        """
        return tree_svg(self, max_depth, feature_names, class_names)

    def rules(
        self,
        *,
        order: Literal["support", "leaf"] = "support",
        feature_names: Any = None,
        class_names: Any = None,
    ) -> Rules:
        """Convert the tree to rules, one per leaf; every row satisfies exactly one of them.

        Splits on the same column are merged into one condition: thresholds into an interval,
        categories into a set. The lift of a rule is its confidence divided by the share of its
        class among all training rows.

        Parameters
        ----------
        order : {"support", "leaf"}, default="support"
            Sort by the number of rows, largest first, or keep the order of the leaves.
        feature_names : array-like of str, default=None
            Names of the columns; None: those of the table in ``fit``, else "x[0]" and so on.
        class_names : array-like of str, default=None
            Names of the classes; None: ``classes_``.

        Returns
        -------
        rules : Rules
            A tuple of `Rule` that prints one rule per line and has a method ``to_frame()``.

        Examples
        --------
        >>> from arboleda import DecisionTreeClassifier
        >>> tree = DecisionTreeClassifier().fit([[1], [2], [4]], ["low", "low", "high"])
        >>> print(tree.rules(feature_names=["height"]))
        if height <= 3 then low (66.7 % of the rows, 2; confidence 100 %; lift 1.5)
        if height > 3 then high (33.3 % of the rows, 1; confidence 100 %; lift 3)
        """
        return extract_rules(self, order, feature_names, class_names)

    @property
    def feature_importances_(self) -> Floats:
        """Decrease of impurity by each column, normalised to sum 1; all 0 for a single leaf.

        Breiman et al. (1984), section 5.3.4.
        """
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()
