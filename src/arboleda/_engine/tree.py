"""Fitted trees with the interface of scikit-learn's ``tree_``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import check_array

from arboleda import _native
from arboleda._engine.columns import MISSING, DenseTable, SparseTable
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.tree_nodes import PruningPath, TreeNodes, ValidationRows

Loss = Literal["misclassification", "squared_error", "absolute_error", "poisson_deviance"]

_LEAF = -1  # children_left, children_right of a leaf
_UNDEFINED = -2  # feature, threshold of a leaf

Axes = Mapping[int, npt.NDArray[np.float64]]
Rows: TypeAlias = Any  # a DenseTable, a SparseTable, an array-like or a sparse matrix


def compute_curves(
    native: Any,
    table: DenseTable | SparseTable,
    axes: Axes,
    rows: slice,
    n_threads: int,
    *more: Any,
) -> npt.NDArray[np.float64]:
    """Compute predictions of trees for rows with modified values of some columns."""
    compute: Callable[..., npt.NDArray[np.float64]] = native.curves
    points = [np.asarray(values, dtype=np.float64).tolist() for values in axes.values()]
    return compute(*table.native, n_threads, list(axes), points, rows.start, rows.stop, *more)


def _call_native(
    function: Callable[..., Any], table: DenseTable | SparseTable, n_threads: int
) -> Any:
    """Call a function of the engine with a dense or sparse table."""
    return function(*table.native, n_threads)


class Tree:
    """A fitted tree as read-only arrays with one entry per node, in preorder.

    The names and meaning of the arrays are those of scikit-learn's ``tree_``, so code for one works
    with the other. Thresholds are float64 and are compared with X as float64.
    """

    def __init__(self, native: _native.Tree, widths: tuple[int, ...] | None = None) -> None:
        self._native = native
        self._widths = widths or (native.n_outputs,)  # numbers of values of each output

    @classmethod
    def from_nodes(cls, nodes: TreeNodes) -> Tree:
        """Create a tree from nodes.

        Raises
        ------
        ValueError
            If the nodes are not a tree, or have invalid values.
        """
        sizes = [len(nodes.categories.get(i, ())) for i in range(nodes.right.size)]
        start = np.cumsum([0, *sizes], dtype=np.int64)
        lists = [nodes.categories[node] for node in sorted(nodes.categories)]
        category = np.concatenate(lists) if lists else np.empty(0)
        return cls(
            _native.Tree.from_arrays(
                nodes.n_features,
                np.ascontiguousarray(nodes.feature, dtype=np.int32),
                np.ascontiguousarray(nodes.threshold, dtype=np.float64),
                np.ascontiguousarray(nodes.right, dtype=np.int32),
                np.ascontiguousarray(nodes.missing_left, dtype=np.uint8),
                np.ascontiguousarray(nodes.impurity, dtype=np.float64),
                np.ascontiguousarray(nodes.n_node_samples, dtype=np.int64),
                np.ascontiguousarray(nodes.weight, dtype=np.float64),
                np.ascontiguousarray(nodes.value, dtype=np.float64),
                start if lists else np.empty(0, dtype=np.int64),
                np.ascontiguousarray(category, dtype=np.uint16),
            )
        )

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return self._native.node_count

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self._native.n_leaves

    @property
    def max_depth(self) -> int:
        """Edges on the longest path from the root."""
        return self._native.max_depth

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self._native.n_features

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return len(self._widths)

    @property
    def n_classes(self) -> npt.NDArray[np.intp]:
        """Number of classes of each output; 1 for regression."""
        return np.array(self._widths, dtype=np.intp)

    @property
    def max_n_classes(self) -> int:
        """Maximum number of classes of an output; 1 for regression."""
        return max(self._widths)

    @property
    def capacity(self) -> int:
        """Capacity of the arrays, equal to the number of nodes."""
        return self.node_count

    @property
    def impurity(self) -> npt.NDArray[np.float64]:
        """Impurity of the node."""
        return self._native.impurity

    @property
    def n_node_samples(self) -> npt.NDArray[np.int64]:
        """Number of training rows of positive weight."""
        return self._native.n_node_samples

    @property
    def weighted_n_node_samples(self) -> npt.NDArray[np.float64]:
        """Total weight of the training rows."""
        return self._native.weighted_n_node_samples

    @property
    def children_right(self) -> npt.NDArray[np.intp]:
        """Index of the right child; -1 in a leaf."""
        return self._native.right.astype(np.intp)

    @property
    def children_left(self) -> npt.NDArray[np.intp]:
        """Index of the left child; -1 in a leaf."""
        right = self._native.right
        return np.where(right < 0, _LEAF, np.arange(1, right.size + 1)).astype(np.intp)

    @property
    def feature(self) -> npt.NDArray[np.intp]:
        """Column of the split; -2 in a leaf."""
        feature = self._native.feature
        return np.where(feature < 0, _UNDEFINED, feature).astype(np.intp)

    @property
    def threshold(self) -> npt.NDArray[np.float64]:
        """Threshold of the split; rows with values up to it go left; -2 in a leaf.

        With infinity all present values go left, so the node splits off missing values.
        """
        return np.where(self._native.feature < 0, float(_UNDEFINED), self._native.threshold)

    @property
    def missing_go_to_left(self) -> npt.NDArray[np.uint8]:
        """Indicators of nodes where missing values go left."""
        return self._native.missing_left

    def categories(self, node: int) -> npt.NDArray[np.uint16]:
        """Return the categories that go to the opposite side of missing values, ascending.

        Empty if the node has a threshold. All other categories go to the side of missing values.
        """
        start = self._native.category_start
        if start.size == 0:
            return self._native.category
        return self._native.category[start[node] : start[node + 1]]

    def categories_are_below(self, n_levels: npt.ArrayLike) -> bool:
        """Return whether every listed category is a level of its column.

        False also if a column has more levels than the engine supports.
        """
        if np.max(n_levels, initial=0) > MISSING:
            return False
        start, category = self._native.category_start, self._native.category
        nodes = np.flatnonzero(np.diff(start))
        largest = category[start[1:][nodes] - 1]
        levels = np.asarray(n_levels, dtype=np.int64)[self._native.feature[nodes]]
        return bool((largest < levels).all())

    @property
    def value(self) -> npt.NDArray[np.float64]:
        """Values of shape (node, output, class).

        For classification class shares, padded with 0; for regression the mean or median of the
        target, with one class.
        """
        if len(self._widths) == 1:
            return self._native.value[:, np.newaxis, :]
        value = np.zeros((self.node_count, len(self._widths), max(self._widths)))
        for k, part in enumerate(self.split(self.value_rows)):
            value[:, k, : part.shape[1]] = part
        return value

    @property
    def value_rows(self) -> npt.NDArray[np.float64]:
        """Values of shape (node, values of all outputs), output by output."""
        return self._native.value

    def split(self, rows: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
        """Split values by output."""
        return np.split(rows, np.cumsum(self._widths)[:-1], axis=1)

    def with_widths(self, widths: tuple[int, ...]) -> Tree:
        """Return the same tree with other numbers of values per output."""
        return Tree(self._native, widths)

    def with_values(self, values: npt.NDArray[np.float64]) -> Tree:
        """Return the same tree with new values of its nodes.

        Parameters
        ----------
        values : ndarray of shape (node_count, n_values)
        """
        same = self._native
        native = _native.Tree.from_arrays(
            same.n_features,
            same.feature,
            same.threshold,
            same.right,
            same.missing_left,
            same.impurity,
            same.n_node_samples,
            same.weighted_n_node_samples,
            np.ascontiguousarray(values, dtype=np.float64),
            same.category_start,
            same.category,
        )
        return Tree(native)

    def predict(self, X: Rows, n_threads: int = 1) -> npt.NDArray[np.float64]:
        """Return the values of each row's leaf."""
        found: npt.NDArray[np.float64] = _call_native(
            self._native.predict, self._table(X), n_threads
        )
        return found

    def row_predictor(self) -> RowPredictor:
        """Return the predictor of `predict` for single rows."""
        return RowPredictor.of_tree(self._native)

    def curves(
        self, table: DenseTable | SparseTable, axes: Axes, rows: slice, n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Compute `predict` for rows with modified values of one or two columns.

        Parameters
        ----------
        table : DenseTable or SparseTable
        axes : mapping of int to ndarray
            For each column its values in the engine's format: numbers, NaN if missing; or level
            codes.
        rows : slice
            Rows of the table, with a start and a stop.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        curves : ndarray of shape (n_rows, n_points, n_values)
            For two columns, the points of the second column vary fastest.
        """
        return compute_curves(self._native, table, axes, rows, n_threads)

    def apply(self, X: Rows, n_threads: int = 1) -> npt.NDArray[np.intp]:
        """Return the index of the leaf of each row."""
        found: npt.NDArray[np.int32] = _call_native(self._native.apply, self._table(X), n_threads)
        return found.astype(np.intp)

    def decision_path(self, X: Rows, n_threads: int = 1) -> csr_matrix:
        """Return the nodes on each row's path as an indicator matrix (n_samples, node_count)."""
        table = self._table(X)
        start, node = _call_native(self._native.decision_path, table, n_threads)
        ones = np.ones(node.size, dtype=np.int64)
        return csr_matrix((ones, node, start), shape=(table.n_rows, self.node_count))

    def _table(self, X: Rows) -> DenseTable | SparseTable:
        """Return rows in the engine's format; arrays and sparse matrices are validated first."""
        if isinstance(X, DenseTable | SparseTable):
            return X
        if self._native.category_start.size:
            raise TypeError(
                "The tree has categorical splits, whose encoding requires the estimator; call the "
                "method of the estimator"
            )
        matrix = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        if matrix.shape[1] != self.n_features:
            raise ValueError(
                f"X has {matrix.shape[1]} features, but the tree is expecting {self.n_features} "
                "features as input"
            )
        if not issparse(matrix):
            return DenseTable(list(matrix.T), len(matrix), (0,) * self.n_features, matrix)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return SparseTable(matrix)

    def compute_feature_importances(self, normalize: bool = True) -> npt.NDArray[np.float64]:
        """Compute the decrease of impurity by each column, weighted by the share of rows."""
        decrease = self._native.impurity_decrease()
        if not normalize:
            return np.ldexp(decrease, self._native.impurity_exponent)
        total = decrease.sum()
        return decrease / total if total > 0.0 else decrease

    def pruning_path(self) -> PruningPath:
        """Compute the sequence of optimal pruned trees, from the full tree to the root."""
        return PruningPath(*self._native.pruning_path())

    def pruned(self, alpha: float) -> Tree:
        """Return the smallest of the pruned trees that are optimal for ``alpha``."""
        return Tree(self._native.pruned(alpha), self._widths)

    def on_columns(self, columns: npt.NDArray[np.intp]) -> Tree:
        """Return the tree for a table of only these columns: ascending, with all split columns."""
        return Tree(self._native.on_columns(columns.astype(np.int32)), self._widths)

    def pruning_errors(
        self, rows: ValidationRows, loss: Loss, alphas: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Compute the weighted sum of losses of ``pruned(alpha)`` on validation rows.

        All alphas, ascending, are evaluated in one pass.
        """
        return _native.pruning_errors(
            self._native, *self._get_validation_arguments(rows), loss, alphas
        )

    def reduced_error_pruned(self, rows: ValidationRows, loss: Loss) -> Tree:
        """Return the smallest of the pruned trees with the fewest errors on validation rows."""
        return Tree(
            _native.reduced_error_pruned(self._native, *self._get_validation_arguments(rows), loss)
        )

    def validation_pruned(self, rows: ValidationRows, loss: Loss) -> Tree:
        """Return the tree pruned at the first node of each path whose split does not improve it.

        That is where the two children make at least as many errors on validation rows as the node.
        """
        return Tree(
            _native.validation_pruned(self._native, *self._get_validation_arguments(rows), loss)
        )

    def cut(self, leaves: npt.NDArray[np.intp], loss: Loss) -> Tree:
        """Return the pruned tree with these nodes as leaves.

        Parameters
        ----------
        leaves : ndarray of int
            Nodes without common descendants that cover all rows.
        loss : {"misclassification", "squared_error"}
            The first for classification. Sibling leaves with the same prediction are merged.
        """
        # Use reduced-error pruning with one validation row per leaf, whose target is the leaf's
        # prediction: this is the smallest pruned tree without errors on them.
        ends = np.flatnonzero(self._native.right < 0)
        rows = ends[np.searchsorted(ends, leaves)].astype(np.int32)
        values = self.value_rows[leaves]
        target = values.argmax(axis=1) if loss == "misclassification" else values[:, 0]
        target = np.ascontiguousarray(target, dtype=np.float64)
        return Tree(
            _native.reduced_error_pruned(self._native, rows, target, None, loss), self._widths
        )

    def _get_validation_arguments(self, rows: ValidationRows) -> tuple[Any, Any, Any]:
        leaf = _call_native(self._native.apply, rows.X, rows.n_threads)
        target = np.ascontiguousarray(rows.target, dtype=np.float64)
        weight = rows.weight
        return leaf, target, None if weight is None else np.ascontiguousarray(weight, np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {"native": self._native, "widths": self._widths}

    def __setstate__(self, state: dict[str, Any]) -> None:
        native = state["native"]
        if not isinstance(native, _native.Tree):
            raise TypeError(
                f"the state of a fitted tree holds {type(native).__name__} where its arrays should "
                "be: the file is damaged, refit the model"
            )
        self._native = native
        self._widths = state["widths"]
