"""Trees that vote: what random forests and their kin leave to prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, hstack

from arboleda import _native
from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.memory import check_output_size
from arboleda._engine.row_predictor import RowPredictor, are_few
from arboleda._engine.tree import Axes, Tree, compute_curves

Voting = Literal["soft", "hard", "laplace"]
Measure = Literal[
    "gini", "entropy", "misclassification", "squared_error", "poisson", "means", "medians"
]


class Forest:
    """Immutable trees whose leaves vote, each with the same weight.

    Parameters
    ----------
    native : _native.Forest
        The trees.
    widths : sequence of int
        How many numbers each target has in a leaf: its number of classes, or 1 in regression.

    Raises
    ------
    ValueError
        If a leaf has more or fewer numbers.
    """

    def __init__(self, native: _native.Forest, widths: Sequence[int]) -> None:
        if min(widths, default=0) < 1 or sum(widths) != native.n_outputs:
            raise ValueError(
                f"a leaf of the forest has {native.n_outputs} numbers, not {sum(widths)}"
            )
        self._native = native
        self._widths = tuple(widths)

    @classmethod
    def from_trees(cls, trees: Sequence[Tree], measure: Measure, widths: Sequence[int]) -> Forest:
        """Make a forest of trees that were made one by one; it keeps no training rows.

        What is known of inner nodes is worked out anew from the leaves, by ``measure``.

        Raises
        ------
        ValueError
            If there is no tree, or they differ in columns or outputs, or their numbers are not
            those of such a measure.
        """
        return cls(_native.Forest.from_trees([tree._native for tree in trees], measure), widths)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self._native.n_features

    @property
    def n_outputs(self) -> int:
        """Numbers in a leaf: the classes of all targets together, or the targets."""
        return self._native.n_outputs

    @property
    def widths(self) -> tuple[int, ...]:
        """How many of them each target has."""
        return self._widths

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self._native.n_trees

    @property
    def n_bytes(self) -> int:
        """What the trees take in memory."""
        return self._native.n_bytes

    @property
    def keeps_rows(self) -> bool:
        """Whether the training rows of each leaf are kept."""
        return self._native.keeps_rows

    @property
    def n_training_rows(self) -> int:
        """Rows of the training table, where the trees keep theirs; else 0."""
        return self._native.n_training_rows

    def tree(self, number: int) -> Tree:
        """Return a tree by itself; inner nodes are worked out anew each time.

        Raises
        ------
        ValueError
            If there are not so many trees.
        """
        return Tree(self._native.tree(number), self._widths)

    def rows(self, number: int) -> npt.NDArray[np.uint32]:
        """Training rows that a tree was grown on, leaf by leaf; none where they are not kept."""
        return self._native.rows(number)

    def leaf_begins(self, number: int) -> npt.NDArray[np.uint32]:
        """Where in `rows` those of each leaf of a tree begin, and where the last ones end."""
        return self._native.leaf_begins(number)

    def with_widths(self, widths: Sequence[int]) -> Forest:
        """Return the same trees, knowing how many numbers each target has in a leaf."""
        return Forest(self._native, widths)

    def votes(
        self, table: Table | SparseTable, voting: Voting = "soft", n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Mean vote of the trees on each row, of shape (n_samples, n_outputs).

        Parameters
        ----------
        table : Table or SparseTable
            The rows.
        voting : {"soft", "hard", "laplace"}, default="soft"
            What a leaf votes: its class shares (in regression its mean); 1 for its largest class,
            the first of several; or (w_k + 1) / (w + K), with w_k the weight of class k of K in it.
            The latter two are for classes alone.
        n_threads : int, default=1
            Number of threads; it changes no bit of the result.

        Raises
        ------
        ValueError
            If there is no tree, the table has another number of columns, or trees of a regression
            are to vote otherwise than softly.
        """
        check_output_size(table.n_rows, self.n_outputs, task="predicting")
        if are_few(table):
            return self.row_predictor(voting).of_table(table)
        answer: Callable[..., npt.NDArray[np.float64]] = self._native.votes
        return answer(voting, list(self._widths), *table.native, n_threads)

    def row_predictor(self, voting: Voting = "soft") -> RowPredictor:
        """Return what gives `votes` row by row."""
        return RowPredictor.of_votes(self._native, voting, self._widths)

    def curves(
        self,
        table: Table | SparseTable,
        axes: Axes,
        rows: slice,
        voting: Voting = "soft",
        n_threads: int = 1,
    ) -> npt.NDArray[np.float64]:
        """Return `votes` on rows with other values in one or two columns, as `Tree.curves`."""
        widths = list(self._widths)
        return compute_curves(self._native, table, axes, rows, n_threads, voting, widths)

    def medians(
        self, table: Table | SparseTable, weights: npt.NDArray[np.float64], n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Weighted median of the trees' values for each row, of shape (n_samples,).

        Parameters
        ----------
        table : Table or SparseTable
            The rows.
        weights : ndarray of shape (n_trees,)
            Of the trees, not negative.
        n_threads : int, default=1
            Number of threads; it changes no bit of the result.
        """
        if are_few(table):
            return self.row_medians(weights).of_table(table)[:, 0]
        answer: Callable[..., npt.NDArray[np.float64]] = self._native.medians
        return answer(*table.native, n_threads, np.ascontiguousarray(weights, dtype=np.float64))

    def row_medians(self, weights: npt.NDArray[np.float64]) -> RowPredictor:
        """Return what gives `medians` row by row."""
        return RowPredictor.of_medians(self._native, weights)

    def staged_votes(
        self,
        table: Table | SparseTable,
        n_trees: Sequence[int],
        voting: Voting = "soft",
        n_threads: int = 1,
    ) -> npt.NDArray[np.float64]:
        """Mean vote of the first trees, for each of several numbers of them.

        Each is that of the forest `truncated` to so many trees, but all together take as long as
        the last.

        Parameters
        ----------
        table : Table or SparseTable
            The rows.
        n_trees : sequence of int
            Numbers of trees, ascending.
        voting, n_threads
            As in `votes`.

        Returns
        -------
        votes : ndarray of shape (len(n_trees), n_samples, n_outputs)
        """
        answer: Callable[..., npt.NDArray[np.float64]] = self._native.staged_votes
        return answer(*table.native, n_threads, voting, list(self._widths), list(n_trees))

    def iter_votes(
        self, table: Table | SparseTable, voting: Voting = "soft", n_threads: int = 1
    ) -> Iterator[npt.NDArray[np.float64]]:
        """Yield the mean vote of the first tree, the first two, ..., all trees.

        The last array has the bits of `votes`. Unlike `staged_votes`, it holds the sums of one
        stage only, however many trees there are.

        Parameters
        ----------
        table : Table or SparseTable
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
        self, table: Table | SparseTable, number: int, voting: Voting = "soft", n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Vote of one tree on each row, of shape (n_samples, n_outputs).

        Parameters
        ----------
        table : Table or SparseTable
            The rows.
        number : int
            Of the tree, from 0.
        voting, n_threads
            As in `votes`.
        """
        add: Callable[..., npt.NDArray[np.float64]] = self._native.added_votes
        start = np.zeros((table.n_rows, self.n_outputs))
        widths = list(self._widths)
        return add(*table.native, n_threads, voting, widths, number, number + 1, start)

    def apply(self, table: Table | SparseTable, n_threads: int = 1) -> npt.NDArray[np.intp]:
        """Index of the leaf of each row in each tree, of shape (n_samples, n_trees)."""
        answer: Callable[..., npt.NDArray[np.int32]] = self._native.apply
        return answer(*table.native, n_threads).astype(np.intp)

    def decision_path(
        self, table: Table | SparseTable, n_threads: int = 1
    ) -> tuple[csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes, as an indicator matrix (n_samples, nodes of all trees).

        The second array tells in which column the nodes of each tree begin, and their number.
        """
        paths = [self.tree(i).decision_path(table, n_threads) for i in range(self.n_trees)]
        begins: npt.NDArray[np.int64] = self._native.node_begins()
        return csr_matrix(hstack(paths, format="csr")), begins

    def with_leaf_values(self, values: npt.NDArray[np.float64]) -> Forest:
        """Return the same trees with other values in their leaves, in the order of these."""
        native = self._native.with_leaf_values(np.ascontiguousarray(values, dtype=np.float64))
        return Forest(native, self._widths)

    def truncated(self, n_trees: int) -> Forest:
        """Return the first trees alone."""
        return Forest(self._native.truncated(n_trees), self._widths)

    def pruned(self, alpha: float) -> Forest:
        """Return the forest of the smallest trees that are best for ``alpha``, as `Tree.pruned`."""
        return Forest(_native.pruned_forest(self._native, alpha), self._widths)

    def extended(self, more: Forest) -> Forest:
        """Return these trees, then those of another forest.

        Raises
        ------
        ValueError
            If the other one has other columns, targets or another measure, or one of both keeps
            its rows and one does not.
        """
        if self._widths != more._widths:
            raise ValueError("a forest is continued by one of the same targets")
        return Forest(self._native.extended(more._native), self._widths)

    def compute_feature_importances(self) -> npt.NDArray[np.float64]:
        """Shares of the columns in the decrease of impurity: the mean over the trees.

        Each tree's shares sum to 1; so do their means, or they are all 0 where no tree has a split.
        Breiman (2001), section 10; scikit-learn's definition.
        """
        return self._native.impurity_importances()

    def defect(self, n_levels: Sequence[int]) -> str | None:
        """Tell in a sentence why the trees cannot be about these columns; None when they can.

        Parameters
        ----------
        n_levels : sequence of int
            Number of levels of each column, 0 for a numeric one.
        """
        if self.n_features != len(n_levels):
            return "a forest was fitted on another number of columns than the header lists"
        if not self._native.categories_are_below(list(n_levels)):
            return "a forest asks for categories that its columns do not have"
        return None

    def __getstate__(self) -> dict[str, Any]:
        return {"native": self._native, "widths": self._widths}

    def __setstate__(self, state: dict[str, Any]) -> None:
        native = state["native"]
        if not isinstance(native, _native.Forest):
            raise TypeError(
                f"the state of a fitted forest holds {type(native).__name__} where its trees "
                "should be: the file is damaged, fit again"
            )
        self.__init__(native, state["widths"])  # type: ignore[misc]
