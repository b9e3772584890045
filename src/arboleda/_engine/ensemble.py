"""Trees that add up: what boosting leaves to prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.memory import check_output_size
from arboleda._engine.row_predictor import RowPredictor, are_few
from arboleda._engine.tree import Axes, Tree, compute_curves

# Names of the arrays that linear leaves consist of.
LINEAR_ARRAYS = tuple(
    f"linear.{part}" for part in ("start", "intercept", "feature", "coefficient", "low", "high")
)

# From so many rows on it is worth to lay out the trees for them.
_MANY_ROWS = 64


class Ensemble:
    """Immutable trees whose leaf values add up, in rounds of one tree for each output.

    The score of output k is ``start[k]`` plus the values of a row's leaves in the trees k, k + K,
    k + 2 K, ..., where K is ``n_outputs``. Values are added in that order, so the scores have the
    same bits as those of training, whatever the number of threads.
    """

    def __init__(self, native: _native.TreeEnsemble) -> None:
        self._native = native
        # Made when many, or few, rows ask for the first time.
        self._coded: _native.CodedEnsemble | None = None
        self._row_predictor: RowPredictor | None = None

    @classmethod
    def from_trees(
        cls,
        start: npt.ArrayLike,
        trees: Sequence[Tree],
        linear: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> Ensemble:
        """Make an ensemble of start values and trees, those of one round after another.

        ``linear`` holds the linear leaves of the trees, as `linear` tells them.

        Raises
        ------
        ValueError
            If there is no start value or one is not finite, a tree has several outputs, the trees
            were fitted on different numbers of columns, the last round is not whole, or linear
            leaves are not of these trees.
        """
        numbers = np.asarray(start, dtype=np.float64).ravel().tolist()
        arrays = list((linear or {}).items())
        return cls(_native.TreeEnsemble(numbers, [tree._native for tree in trees], arrays))

    @property
    def n_outputs(self) -> int:
        """Scores of a row, and trees of a round."""
        return self._native.n_outputs

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting."""
        return self._native.n_rounds

    @property
    def n_trees(self) -> int:
        """Trees of all rounds."""
        return self._native.n_trees

    @property
    def start(self) -> npt.NDArray[np.float64]:
        """Scores before the first round, of shape (n_outputs,)."""
        return self._native.start

    @property
    def trees(self) -> list[Tree]:
        """The trees, those of one round after another; learning rate included."""
        return [Tree(tree) for tree in self._native.trees]

    @property
    def has_linear_leaves(self) -> bool:
        """Whether some leaf answers with a linear function of columns."""
        return self._native.has_linear_leaves

    @property
    def linear(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays of the linear leaves, by name; none where no leaf is linear.

        Node i, counted through all trees, has the terms ``start[i]`` to ``start[i + 1]``. Its score
        is ``intercept[i]`` plus ``coefficient * (min(max(x[feature], low), high) - low)`` for each
        of them, or the value of the leaf where a row lacks one of the features. Names begin with
        "linear.".
        """
        return dict(self._native.linear)

    def scores(
        self,
        table: Table | SparseTable,
        n_threads: int = 1,
        offset: npt.NDArray[np.float64] | None = None,
    ) -> npt.NDArray[np.float64]:
        """Scores of each row, of shape (n_samples, n_outputs).

        ``offset``, of that shape, takes the place of the start values.
        """
        check_output_size(table.n_rows, self.n_outputs, task="predicting")
        if offset is None and are_few(table):
            return self.row_predictor(table.n_columns).of_table(table)
        if offset is None:
            found: npt.NDArray[np.float64] = _ask(
                self._native.scores, table, n_threads, self._coded_for(table)
            )
            return found
        scores = np.array(offset, dtype=np.float64, order="C")
        add: Callable[..., None] = self._native.add_scores
        add(scores, 0, self.n_rounds, *table.native, n_threads, self._coded_for(table))
        return scores

    def row_predictor(self, n_columns: int) -> RowPredictor:
        """Return what gives `scores` row by row; ``n_columns``: of a row."""
        if self._row_predictor is None:
            self._row_predictor = RowPredictor.of_sums(self._native, n_columns)
        return self._row_predictor

    def staged_scores(
        self,
        table: Table | SparseTable,
        n_threads: int = 1,
        offset: npt.NDArray[np.float64] | None = None,
        rounds: Iterable[int] | None = None,
    ) -> Iterator[npt.NDArray[np.float64]]:
        """Yield the scores after each round; the last are those of `scores`, bit by bit.

        ``rounds``, ascending, takes the place of 1, 2, ..; those beyond the last are as the last.
        """
        start = np.tile(self.start, (table.n_rows, 1)) if offset is None else offset
        scores = np.array(start, dtype=np.float64, order="C")
        add: Callable[..., None] = self._native.add_scores
        native = table.native
        coded = self._coded_for(table)
        n_added = 0
        for number in range(1, self.n_rounds + 1) if rounds is None else rounds:
            last = min(number, self.n_rounds)
            add(scores, n_added, last, *native, n_threads, coded)
            n_added = last
            yield scores.copy()

    def curves(
        self, table: Table | SparseTable, axes: Axes, rows: slice, n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Return `scores` of rows with other values in one or two columns, as `Tree.curves`.

        Raises
        ------
        ValueError
            If leaves are linear.
        """
        return compute_curves(self._native, table, axes, rows, n_threads)

    def apply(self, table: Table | SparseTable, n_threads: int = 1) -> npt.NDArray[np.intp]:
        """Index of the leaf of each row in each tree, of shape (n_samples, n_trees)."""
        found: npt.NDArray[np.int32] = _ask(self._native.apply, table, n_threads)
        return found.astype(np.intp)

    def _coded_for(self, table: Table | SparseTable) -> _native.CodedEnsemble | None:
        """Return the trees as many rows ask them, made when first needed; None for few rows."""
        if table.n_rows < _MANY_ROWS:
            return None
        if self._coded is None:  # two threads may both make them: they are the same
            self._coded = self._native.coded()
        return self._coded

    def truncated(self, n_rounds: int) -> Ensemble:
        """Return the first rounds alone."""
        return Ensemble(self._native.truncated(n_rounds))

    def extended(self, more: Ensemble) -> Ensemble:
        """Return these rounds and those of another ensemble, whose start is of no account."""
        return Ensemble(self._native.extended(more._native))

    @classmethod
    def mean_of(cls, members: Sequence[Ensemble]) -> Ensemble:
        """Return one ensemble whose scores are the means of those of the members.

        Their rounds stand in turn, one of each, with leaf values divided by their number, so that
        stages are means too; members with fewer rounds end sooner.

        Raises
        ------
        ValueError
            If there is no member, or they have different numbers of outputs or columns.
        """
        return cls(_native.TreeEnsemble.mean_of([member._native for member in members]))

    def compute_feature_importances(self) -> npt.NDArray[np.float64]:
        """Shares of the columns in the decrease of impurity, summed over the trees.

        For trees grown by CART, whose nodes hold impurities. They sum to 1, or are all 0 where no
        tree has a split. Friedman (2001), section 8.1; scikit-learn's definition.
        """
        return self._native.impurity_importances()

    def gain_importances(self) -> npt.NDArray[np.float64]:
        """Shares of the columns in what the splits gained, summed over the trees.

        For trees grown from gradients and hessians, whose nodes hold the gain of their split in the
        place of an impurity. They sum to 1, or are all 0 where no tree has a split.
        """
        return self._native.gain_importances()

    def defect(self, n_levels: Sequence[int]) -> str | None:
        """Tell in a sentence why the trees cannot be about these columns; None when they can.

        Parameters
        ----------
        n_levels : sequence of int
            Number of levels of each column, 0 for a numeric one.
        """
        for tree in self.trees:
            if tree.n_features != len(n_levels):
                return "a tree was fitted on another number of columns than the header lists"
            if not tree.categories_are_below(n_levels):
                return "a tree asks for categories that its columns do not have"
        if any(n_levels[j] > 0 for j in self.linear.get("linear.feature", ())):
            return "a linear leaf reads a column of categories"
        return None

    def __getstate__(self) -> dict[str, Any]:
        return {"native": self._native}

    def __setstate__(self, state: dict[str, Any]) -> None:
        native = state["native"]
        if not isinstance(native, _native.TreeEnsemble):
            raise TypeError(
                f"the state of a fitted ensemble holds {type(native).__name__} where its trees "
                "should be: the file is damaged, fit again"
            )
        self.__init__(native)  # type: ignore[misc]


def _ask(answer: Callable[..., Any], table: Table | SparseTable, *more: Any) -> Any:
    """Let the engine answer for a table of either form."""
    return answer(*table.native, *more)
