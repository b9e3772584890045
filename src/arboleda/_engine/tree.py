"""A fitted tree under scikit-learn's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import check_array

from arboleda import _native
from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.schema import MISSING

Loss = Literal["misclassification", "squared_error", "absolute_error", "poisson_deviance"]

_LEAF = -1  # children_left, children_right of a leaf
_UNDEFINED = -2  # feature, threshold of a leaf


class PruningPath(NamedTuple):
    """The best pruned trees, one entry each: nested, the first one whole, the last one the root."""

    alpha: npt.NDArray[np.float64]  # from which on it is the best, ascending from 0
    impurity: npt.NDArray[np.float64]  # of its leaves, by their share of the weight
    n_leaves: npt.NDArray[np.int32]


Axes = Mapping[int, npt.NDArray[np.float64]]
Rows: TypeAlias = Any  # a Table, a SparseTable, an array-like or a sparse matrix


def compute_curves(
    native: Any, table: Table | SparseTable, axes: Axes, rows: slice, n_threads: int, *more: Any
) -> npt.NDArray[np.float64]:
    """Let trees of any model say what they would of rows with other values in their columns."""
    answer: Callable[..., npt.NDArray[np.float64]] = native.curves
    points = [np.asarray(values, dtype=np.float64).tolist() for values in axes.values()]
    return answer(*table.native, n_threads, list(axes), points, rows.start, rows.stop, *more)


def _ask(answer: Callable[..., Any], table: Table | SparseTable, n_threads: int) -> Any:
    """Let the engine answer for a table of either form."""
    return answer(*table.native, n_threads)


class ValidationRows(NamedTuple):
    """Rows that a tree is pruned by: a table, class numbers or values, and weights."""

    X: Table | SparseTable
    target: npt.NDArray[Any]
    weight: npt.NDArray[np.float64] | None
    n_threads: int


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """Nodes of a tree in preorder, that a `Tree` can be made of.

    Parameters
    ----------
    n_features : int
    feature : ndarray of int
        -1 in a leaf.
    threshold : ndarray of float
        0 in a leaf, and where a node asks for categories.
    right : ndarray of int
        Right child; -1 in a leaf. The left one is the next node.
    missing_left : ndarray of bool
        False in a leaf.
    impurity, weight : ndarray of float
    n_node_samples : ndarray of int
        At least 1.
    value : ndarray of float of shape (n_nodes, n_outputs)
    categories : mapping of int to ndarray of int
        Of nodes that ask for categories those that go the other way than missing values, ascending.
    """

    n_features: int
    feature: npt.NDArray[np.integer[Any]]
    threshold: npt.NDArray[np.float64]
    right: npt.NDArray[np.integer[Any]]
    missing_left: npt.NDArray[np.bool_]
    impurity: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    n_node_samples: npt.NDArray[np.integer[Any]]
    value: npt.NDArray[np.float64]
    categories: Mapping[int, npt.NDArray[np.integer[Any]]]


class Tree:
    """A fitted tree as arrays, one entry a node, nodes in preorder (root first, left before right).

    Read-only. The names and the meaning of the arrays are those of scikit-learn's ``tree_``, so
    code that walks one can walk the other. Thresholds are float64 and are compared with X as
    float64.
    """

    def __init__(self, native: _native.Tree, widths: tuple[int, ...] | None = None) -> None:
        self._native = native
        self._widths = widths or (native.n_outputs,)  # numbers of each output in a row of values

    @classmethod
    def from_nodes(cls, nodes: TreeNodes) -> Tree:
        """Make a tree of nodes that come from anywhere.

        Raises
        ------
        ValueError
            If they are not one tree, or hold a number that no tree has.
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
        """Number of classes of each output; 1 in a regression tree."""
        return np.array(self._widths, dtype=np.intp)

    @property
    def max_n_classes(self) -> int:
        """Largest number of classes of an output; 1 in a regression tree."""
        return max(self._widths)

    @property
    def capacity(self) -> int:
        """Number of nodes that there is room for: that of the nodes."""
        return self.node_count

    @property
    def impurity(self) -> npt.NDArray[np.float64]:
        """Impurity of the node."""
        return self._native.impurity

    @property
    def n_node_samples(self) -> npt.NDArray[np.int64]:
        """Training rows of positive weight."""
        return self._native.n_node_samples

    @property
    def weighted_n_node_samples(self) -> npt.NDArray[np.float64]:
        """Their weight."""
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
        """Column that the node asks; -2 in a leaf."""
        feature = self._native.feature
        return np.where(feature < 0, _UNDEFINED, feature).astype(np.intp)

    @property
    def threshold(self) -> npt.NDArray[np.float64]:
        """A row goes left when its value is at most this; -2 in a leaf.

        Infinity sends every present value left: the node asks whether the value is missing.
        """
        return np.where(self._native.feature < 0, float(_UNDEFINED), self._native.threshold)

    @property
    def missing_go_to_left(self) -> npt.NDArray[np.uint8]:
        """1 where a missing value goes left."""
        return self._native.missing_left

    def categories(self, node: int) -> npt.NDArray[np.uint16]:
        """Categories that go the other way than missing values at a node, ascending.

        Empty where the node has a threshold. All other categories go where missing values go.
        """
        start = self._native.category_start
        if start.size == 0:
            return self._native.category
        return self._native.category[start[node] : start[node + 1]]

    def categories_are_below(self, n_levels: npt.ArrayLike) -> bool:
        """Whether every category that a node lists is a level of the column that it asks.

        False also where a column has more levels than the engine numbers.
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
        """Shape (node, output, class): class shares, 0 beyond the classes of an output; or
        (node, output, 1): the mean or median of the target.
        """  # noqa: D205 - one sentence
        if len(self._widths) == 1:
            return self._native.value[:, np.newaxis, :]
        value = np.zeros((self.node_count, len(self._widths), max(self._widths)))
        for k, part in enumerate(self.split(self.value_rows)):
            value[:, k, : part.shape[1]] = part
        return value

    @property
    def value_rows(self) -> npt.NDArray[np.float64]:
        """Shape (node, all outputs' values): those of output 0, then those of output 1, ..."""
        return self._native.value

    def split(self, rows: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
        """Part rows of values by output."""
        return np.split(rows, np.cumsum(self._widths)[:-1], axis=1)

    def with_widths(self, widths: tuple[int, ...]) -> Tree:
        """Return the same tree, knowing how many numbers each output has in a row of values."""
        return Tree(self._native, widths)

    def with_values(self, values: npt.NDArray[np.float64]) -> Tree:
        """Return the same tree with other values in its nodes.

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
        """Row of values of each row's leaf."""
        found: npt.NDArray[np.float64] = _ask(self._native.predict, self._table(X), n_threads)
        return found

    def row_predictor(self) -> RowPredictor:
        """Return what gives `predict` row by row."""
        return RowPredictor.of_tree(self._native)

    def curves(
        self, table: Table | SparseTable, axes: Axes, rows: slice, n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Return `predict` of rows with other values in one or two columns.

        Parameters
        ----------
        table : Table or SparseTable
        axes : mapping of int to ndarray
            For each column its values as the engine has them: numbers, NaN where missing; or
            numbers of levels.
        rows : slice
            Which rows of the table; with a start and a stop.
        n_threads : int, default=1
            Number of threads; it changes no bit of the result.

        Returns
        -------
        curves : ndarray of shape (n_rows, n_points, n_values)
            Points of two columns: those of the second one for the first value of the first, and so
            on.
        """
        return compute_curves(self._native, table, axes, rows, n_threads)

    def apply(self, X: Rows, n_threads: int = 1) -> npt.NDArray[np.intp]:
        """Index of the leaf of each row."""
        found: npt.NDArray[np.int32] = _ask(self._native.apply, self._table(X), n_threads)
        return found.astype(np.intp)

    def decision_path(self, X: Rows, n_threads: int = 1) -> csr_matrix:
        """Nodes that each row passes, as an indicator matrix (n_samples, node_count)."""
        table = self._table(X)
        start, node = _ask(self._native.decision_path, table, n_threads)
        ones = np.ones(node.size, dtype=np.int64)
        return csr_matrix((ones, node, start), shape=(table.n_rows, self.node_count))

    def _table(self, X: Rows) -> Table | SparseTable:
        """Return rows as the engine reads them; an array or a sparse matrix is checked first."""
        if isinstance(X, Table | SparseTable):
            return X
        if self._native.category_start.size:
            raise TypeError(
                "The tree splits categories, whose numbers only its estimator knows; call the "
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
            return Table(list(matrix.T), len(matrix), (0,) * self.n_features, matrix)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return SparseTable(matrix)

    def compute_feature_importances(self, normalize: bool = True) -> npt.NDArray[np.float64]:
        """Decrease of impurity by each column, weighted by the share of rows at its nodes."""
        decrease = self._native.impurity_decrease()
        if not normalize:
            return np.ldexp(decrease, self._native.impurity_exponent)
        total = decrease.sum()
        return decrease / total if total > 0.0 else decrease

    def pruning_path(self) -> PruningPath:
        """Sequence of the best pruned trees, from the whole one to the root alone."""
        return PruningPath(*self._native.pruning_path())

    def pruned(self, alpha: float) -> Tree:
        """Return the smallest of the pruned trees that are best for ``alpha``."""
        return Tree(self._native.pruned(alpha), self._widths)

    def on_columns(self, columns: npt.NDArray[np.intp]) -> Tree:
        """Return the tree for a table of these columns alone: ascending, with all that it asks."""
        return Tree(self._native.on_columns(columns.astype(np.int32)), self._widths)

    def pruning_errors(
        self, rows: ValidationRows, loss: Loss, alphas: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Sum of weight x loss of ``pruned(alpha)`` on given rows; one pass, alphas ascend."""
        return _native.pruning_errors(self._native, *self._judged_by(rows), loss, alphas)

    def reduced_error_pruned(self, rows: ValidationRows, loss: Loss) -> Tree:
        """Return the smallest of the pruned trees with the fewest errors on given rows."""
        return Tree(_native.reduced_error_pruned(self._native, *self._judged_by(rows), loss))

    def validation_pruned(self, rows: ValidationRows, loss: Loss) -> Tree:
        """Return the tree cut at the first node of each path whose split does not pay.

        That is where its two children make as many errors on given rows as the node, or more.
        """
        return Tree(_native.validation_pruned(self._native, *self._judged_by(rows), loss))

    def cut(self, leaves: npt.NDArray[np.intp], loss: Loss) -> Tree:
        """Return the pruned tree that has these nodes as its leaves.

        Parameters
        ----------
        leaves : ndarray of int
            Nodes, none within another, that all rows come to.
        loss : {"misclassification", "squared_error"}
            The first for classes. Neighbours that say the same become one leaf.
        """
        # Reduced-error pruning keeps just what rows call for: one row a leaf, below it, with what
        # the leaf says for a target, is told rightly by this tree, and by no smaller one.
        ends = np.flatnonzero(self._native.right < 0)
        rows = ends[np.searchsorted(ends, leaves)].astype(np.int32)
        said = self.value_rows[leaves]
        target = said.argmax(axis=1) if loss == "misclassification" else said[:, 0]
        target = np.ascontiguousarray(target, dtype=np.float64)
        return Tree(
            _native.reduced_error_pruned(self._native, rows, target, None, loss), self._widths
        )

    def _judged_by(self, rows: ValidationRows) -> tuple[Any, Any, Any]:
        leaf = _ask(self._native.apply, rows.X, rows.n_threads)
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
                "be: the file is damaged, fit again"
            )
        self._native = native
        self._widths = state["widths"]
