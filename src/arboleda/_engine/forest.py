"""Forests of voting trees, as fitted by random forests and related methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, hstack

from arboleda import _native
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.parallel import check_output_size
from arboleda._engine.row_predictor import RowPredictor, has_few_rows
from arboleda._engine.tree import Axes, Tree, compute_curves

Voting = Literal["soft", "hard", "laplace"]
Measure = Literal[
    "gini", "entropy", "misclassification", "squared_error", "poisson", "means", "medians"
]


class Forest:
    """Immutable trees with equally weighted votes.

    Parameters
    ----------
    native : _native.Forest
        The trees.
    widths : sequence of int
        Number of values per leaf of each target: its number of classes, or 1 for regression.

    Raises
    ------
    ValueError
        If the number of values per leaf differs.
    """

    def __init__(self, native: _native.Forest, widths: Sequence[int]) -> None:
        if min(widths, default=0) < 1 or sum(widths) != native.n_outputs:
            raise ValueError(
                f"a leaf of the forest has {native.n_outputs} values, not {sum(widths)}"
            )
        self._native = native
        self._widths = tuple(widths)

    @classmethod
    def from_trees(cls, trees: Sequence[Tree], measure: Measure, widths: Sequence[int]) -> Forest:
        """Create a forest from single trees; it keeps no training rows.

        The values of inner nodes are recomputed from the leaves, by ``measure``.

        Raises
        ------
        ValueError
            If there is no tree, the trees differ in columns or outputs, or their values are not
            valid for the measure.
        """
        return cls(_native.Forest.from_trees([tree._native for tree in trees], measure), widths)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self._native.n_features

    @property
    def n_outputs(self) -> int:
        """Number of values per leaf: the classes of all targets, or the targets."""
        return self._native.n_outputs

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of values per leaf of each target."""
        return self._widths

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self._native.n_trees

    @property
    def n_bytes(self) -> int:
        """Memory of the trees in bytes."""
        return self._native.n_bytes

    @property
    def keeps_rows(self) -> bool:
        """Whether the training rows of each leaf are kept."""
        return self._native.keeps_rows

    @property
    def n_training_rows(self) -> int:
        """Number of training rows if they are kept, else 0."""
        return self._native.n_training_rows

    def tree(self, number: int) -> Tree:
        """Return a single tree; inner nodes are recomputed on each call.

        Raises
        ------
        ValueError
            If there is no such tree.
        """
        return Tree(self._native.tree(number), self._widths)

    def rows(self, number: int) -> npt.NDArray[np.uint32]:
        """Return the training rows of a tree, leaf by leaf; empty if they are not kept."""
        return self._native.rows(number)

    def leaf_begins(self, number: int) -> npt.NDArray[np.uint32]:
        """Return the offsets of the leaves of a tree in `rows`, and the total number."""
        return self._native.leaf_begins(number)

    def node_begins(self) -> npt.NDArray[np.int64]:
        """Return the number of nodes before each tree, and of all trees."""
        return self._native.node_begins()

    def without_rows(self) -> Forest:
        """Return the same trees without their training rows."""
        return Forest(self._native.without_rows(), self._widths)

    def with_widths(self, widths: Sequence[int]) -> Forest:
        """Return the same trees with other numbers of values per target."""
        return Forest(self._native, widths)

    def votes(
        self, table: DenseTable | SparseTable, voting: Voting = "soft", n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Compute the mean vote of the trees for each row, of shape (n_samples, n_outputs).

        Parameters
        ----------
        table : DenseTable or SparseTable
            The rows.
        voting : {"soft", "hard", "laplace"}, default="soft"
            Vote of a leaf: its class shares (for regression its mean); 1 for its largest class, the
            first in a tie; or (w_k + 1) / (w + K), with w_k the weight of class k of K in it. The
            latter two are for classification only.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Raises
        ------
        ValueError
            If there is no tree, the table has a different number of columns, or the voting of
            regression trees is not "soft".
        """
        check_output_size(table.n_rows, self.n_outputs, task="predicting")
        if has_few_rows(table):
            return self.row_predictor(voting).of_table(table)
        compute: Callable[..., npt.NDArray[np.float64]] = self._native.votes
        return compute(voting, list(self._widths), *table.native, n_threads)

    def row_predictor(self, voting: Voting = "soft") -> RowPredictor:
        """Return the predictor of `votes` for single rows."""
        return RowPredictor.of_votes(self._native, voting, self._widths)

    def curves(
        self,
        table: DenseTable | SparseTable,
        axes: Axes,
        rows: slice,
        voting: Voting = "soft",
        n_threads: int = 1,
    ) -> npt.NDArray[np.float64]:
        """Compute `votes` with modified values of one or two columns; see `Tree.curves`."""
        widths = list(self._widths)
        return compute_curves(self._native, table, axes, rows, n_threads, voting, widths)

    def medians(
        self, table: DenseTable | SparseTable, weights: npt.NDArray[np.float64], n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Compute the weighted median of the trees' values for each row, of shape (n_samples,).

        Parameters
        ----------
        table : DenseTable or SparseTable
            The rows.
        weights : ndarray of shape (n_trees,)
            Non-negative weights of the trees.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.
        """
        if has_few_rows(table):
            return self.row_medians(weights).of_table(table)[:, 0]
        compute: Callable[..., npt.NDArray[np.float64]] = self._native.medians
        return compute(*table.native, n_threads, np.ascontiguousarray(weights, dtype=np.float64))

    def row_medians(self, weights: npt.NDArray[np.float64]) -> RowPredictor:
        """Return the predictor of `medians` for single rows."""
        return RowPredictor.of_medians(self._native, weights)

    def staged_votes(
        self,
        table: DenseTable | SparseTable,
        n_trees: Sequence[int],
        voting: Voting = "soft",
        n_threads: int = 1,
    ) -> npt.NDArray[np.float64]:
        """Compute the mean vote of the first trees, for several numbers of trees.

        Each equals that of the forest `truncated` to that number of trees, but all together take
        as long as the last.

        Parameters
        ----------
        table : DenseTable or SparseTable
            The rows.
        n_trees : sequence of int
            Numbers of trees, ascending.
        voting, n_threads
            As in `votes`.

        Returns
        -------
        votes : ndarray of shape (len(n_trees), n_samples, n_outputs)
        """
        compute: Callable[..., npt.NDArray[np.float64]] = self._native.staged_votes
        return compute(*table.native, n_threads, voting, list(self._widths), list(n_trees))

    def iter_votes(
        self, table: DenseTable | SparseTable, voting: Voting = "soft", n_threads: int = 1
    ) -> Iterator[npt.NDArray[np.float64]]:
        """Yield the mean vote of the first tree, the first two, ..., all trees.

        The last array is bitwise equal to `votes`. Unlike `staged_votes`, only the sums of one
        stage are in memory, for any number of trees.

        Parameters
        ----------
        table : DenseTable or SparseTable
            The rows.
        voting, n_threads
            As in `votes`.

        Yields
        ------
        votes : ndarray of shape (n_samples, n_outputs)
        """
        add: Callable[..., npt.NDArray[np.float64]] = self._native.added_votes
        native, widths = table.native, list(self._widths)
        sums = np.zeros((table.n_rows, self.n_outputs))
        for number in range(self.n_trees):
            sums = add(*native, n_threads, voting, widths, number, number + 1, sums)
            yield sums / (number + 1)

    def votes_of_tree(
        self,
        table: DenseTable | SparseTable,
        number: int,
        voting: Voting = "soft",
        n_threads: int = 1,
    ) -> npt.NDArray[np.float64]:
        """Compute the vote of one tree for each row, of shape (n_samples, n_outputs).

        Parameters
        ----------
        table : DenseTable or SparseTable
            The rows.
        number : int
            Index of the tree.
        voting, n_threads
            As in `votes`.
        """
        add: Callable[..., npt.NDArray[np.float64]] = self._native.added_votes
        start = np.zeros((table.n_rows, self.n_outputs))
        widths = list(self._widths)
        return add(*table.native, n_threads, voting, widths, number, number + 1, start)

    def apply(self, table: DenseTable | SparseTable, n_threads: int = 1) -> npt.NDArray[np.intp]:
        """Return the index of the leaf of each row in each tree, of shape (n_samples, n_trees)."""
        compute: Callable[..., npt.NDArray[np.int32]] = self._native.apply
        return compute(*table.native, n_threads).astype(np.intp)

    def decision_path(
        self, table: DenseTable | SparseTable, n_threads: int = 1
    ) -> tuple[csr_matrix, npt.NDArray[np.int64]]:
        """Return the nodes on each row's path as an indicator matrix (n_samples, all nodes).

        The second array holds the first column of each tree, and the number of columns.
        """
        paths = [self.tree(i).decision_path(table, n_threads) for i in range(self.n_trees)]
        begins: npt.NDArray[np.int64] = self._native.node_begins()
        return csr_matrix(hstack(paths, format="csr")), begins

    def with_leaf_values(self, values: npt.NDArray[np.float64]) -> Forest:
        """Return the same trees with new leaf values, in the order of the leaves."""
        native = self._native.with_leaf_values(np.ascontiguousarray(values, dtype=np.float64))
        return Forest(native, self._widths)

    def truncated(self, n_trees: int) -> Forest:
        """Return the first trees only."""
        return Forest(self._native.truncated(n_trees), self._widths)

    def pruned(self, alpha: float) -> Forest:
        """Return the forest of the trees pruned at ``alpha``; see `Tree.pruned`."""
        return Forest(_native.pruned_forest(self._native, alpha), self._widths)

    def extended(self, more: Forest) -> Forest:
        """Return these trees followed by those of another forest.

        Raises
        ------
        ValueError
            If the forests differ in columns, targets, measure, or in whether they keep training
            rows.
        """
        if self._widths != more._widths:
            raise ValueError("the forests have different targets")
        return Forest(self._native.extended(more._native), self._widths)

    def compute_feature_importances(self) -> npt.NDArray[np.float64]:
        """Compute the mean share of each column in the decrease of impurity of a tree.

        The shares sum to 1, or are all 0 if no tree has a split.
        Breiman (2001), section 10; scikit-learn's definition.
        """
        return self._native.impurity_importances()

    def defect(self, n_levels: Sequence[int]) -> str | None:
        """Return a description of an inconsistency with the columns, or None.

        Parameters
        ----------
        n_levels : sequence of int
            Number of levels of each column, 0 for a numeric one.
        """
        if self.n_features != len(n_levels):
            return "a forest was fitted on a different number of columns than the header lists"
        if not self._native.categories_are_below(list(n_levels)):
            return "a forest splits on categories that its columns do not have"
        return None

    def __getstate__(self) -> dict[str, Any]:
        return {"native": self._native, "widths": self._widths}

    def __setstate__(self, state: dict[str, Any]) -> None:
        native = state["native"]
        if not isinstance(native, _native.Forest):
            raise TypeError(
                f"the state of a fitted forest holds {type(native).__name__} where its trees "
                "should be: the file is damaged, refit the model"
            )
        self.__init__(native, state["widths"])  # type: ignore[misc]
