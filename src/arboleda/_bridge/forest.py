"""Trees that vote: what random forests and their kin leave to prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, hstack

from arboleda import _native
from arboleda._bridge.columns import SparseTable, Table
from arboleda._bridge.tree import Tree

Voting = Literal["soft", "hard", "laplace"]


class Forest:
    """Immutable trees whose leaves vote, each with the same weight.

    Parameters
    ----------
    native : _native.Forest
        The trees.
    n_classes : sequence of int, default=()
        Number of classes of each target; none in regression.
    """

    def __init__(self, native: _native.Forest, n_classes: Sequence[int] = ()) -> None:
        self._native = native
        self._n_classes = tuple(n_classes)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self._native.n_features

    @property
    def n_outputs(self) -> int:
        """Numbers in a leaf: the classes of all targets together, or the targets."""
        return self._native.n_outputs

    @property
    def n_classes(self) -> tuple[int, ...]:
        """Number of classes of each target; none in regression."""
        return self._n_classes

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
        widths = self._n_classes or (1,) * self.n_outputs
        return Tree(self._native.tree(number), widths)

    def rows(self, number: int) -> npt.NDArray[np.uint32]:
        """Training rows that a tree was grown on, leaf by leaf; none where they are not kept."""
        return self._native.rows(number)

    def leaf_begins(self, number: int) -> npt.NDArray[np.uint32]:
        """Where in `rows` those of each leaf of a tree begin, and where the last ones end."""
        return self._native.leaf_begins(number)

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
        found: npt.NDArray[np.float64] = self._native.votes(
            voting, list(self._n_classes), *table.native, n_threads
        )
        return found

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

    def truncated(self, n_trees: int) -> Forest:
        """Return the first trees alone."""
        return Forest(self._native.truncated(n_trees), self._n_classes)

    def extended(self, more: Forest) -> Forest:
        """Return these trees, then those of another forest."""
        if self._n_classes != more._n_classes:
            raise ValueError("a forest is continued by one of the same classes")
        return Forest(self._native.extended(more._native), self._n_classes)

    def compute_feature_importances(self) -> npt.NDArray[np.float64]:
        """Shares of the columns in the decrease of impurity: the mean over the trees.

        Each tree's shares sum to 1; so do their means, or they are all 0 where no tree has a split.
        Breiman (2001), section 10; scikit-learn's definition.
        """
        return self._native.impurity_importances()
