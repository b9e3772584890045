"""Additive tree ensembles, as fitted by boosting, and their Shapley values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.adaboost import WeightedForest
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.forest import Forest, Voting
from arboleda._engine.parallel import check_output_size
from arboleda._engine.row_predictor import RowPredictor, has_few_rows
from arboleda._engine.tree import Axes, Tree, compute_curves

# Names of the arrays of linear leaves.
LINEAR_ARRAYS = tuple(
    f"linear.{part}" for part in ("start", "intercept", "feature", "coefficient", "low", "high")
)

# Minimum number of rows for which the trees are converted to the layout for many rows.
_MANY_ROWS = 64


class Ensemble:
    """Immutable trees whose leaf values are added, in rounds of one tree per output.

    The score of output k is ``start[k]`` plus the values of a row's leaves in the trees k, k + K,
    k + 2 K, ..., where K is ``n_outputs``. Values are added in that order, so the scores are
    bitwise equal to those of training, for any number of threads.
    """

    def __init__(self, native: _native.TreeEnsemble) -> None:
        self._native = native
        # Created on the first prediction of many, or few, rows.
        self._coded: _native.CodedEnsemble | None = None
        self._row_predictor: RowPredictor | None = None

    @classmethod
    def from_trees(
        cls,
        start: npt.ArrayLike,
        trees: Sequence[Tree],
        linear: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> Ensemble:
        """Create an ensemble from initial scores and trees, round by round.

        ``linear`` holds the linear leaves of the trees, in the format of `linear`.

        Raises
        ------
        ValueError
            If there is no initial score or one is not finite, a tree has several outputs, the trees
            were fitted on different numbers of columns, the last round is incomplete, or linear
            leaves do not match the trees.
        """
        numbers = np.asarray(start, dtype=np.float64).ravel().tolist()
        arrays = list((linear or {}).items())
        return cls(_native.TreeEnsemble(numbers, [tree._native for tree in trees], arrays))

    @property
    def n_outputs(self) -> int:
        """Number of scores per row, and of trees per round."""
        return self._native.n_outputs

    @property
    def n_rounds(self) -> int:
        """Number of boosting rounds."""
        return self._native.n_rounds

    @property
    def n_trees(self) -> int:
        """Number of trees of all rounds."""
        return self._native.n_trees

    @property
    def start(self) -> npt.NDArray[np.float64]:
        """Scores before the first round, of shape (n_outputs,)."""
        return self._native.start

    @property
    def trees(self) -> list[Tree]:
        """The trees, round by round, with values scaled by the learning rate."""
        return [Tree(tree) for tree in self._native.trees]

    @property
    def has_linear_leaves(self) -> bool:
        """Whether some leaf is a linear function of columns."""
        return self._native.has_linear_leaves

    @property
    def linear(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays of the linear leaves, by name; empty if no leaf is linear.

        Node i, numbered through all trees, has the terms ``start[i]`` to ``start[i + 1]``. Its
        score is ``intercept[i]`` plus ``coefficient * (min(max(x[feature], low), high) - low)`` for
        each of them, or the value of the leaf if a feature of the row is missing. Names begin with
        "linear.".
        """
        return dict(self._native.linear)

    def scores(
        self,
        table: DenseTable | SparseTable,
        n_threads: int = 1,
        offset: npt.NDArray[np.float64] | None = None,
    ) -> npt.NDArray[np.float64]:
        """Compute the scores of each row, of shape (n_samples, n_outputs).

        ``offset``, of that shape, replaces the initial scores.
        """
        check_output_size(table.n_rows, self.n_outputs, task="predicting")
        if offset is None and has_few_rows(table):
            return self.row_predictor(table.n_columns).of_table(table)
        if offset is None:
            found: npt.NDArray[np.float64] = _call_native(
                self._native.scores, table, n_threads, self._coded_for(table)
            )
            return found
        scores = np.array(offset, dtype=np.float64, order="C")
        add: Callable[..., None] = self._native.add_scores
        add(scores, 0, self.n_rounds, *table.native, n_threads, self._coded_for(table))
        return scores

    def row_predictor(self, n_columns: int) -> RowPredictor:
        """Return the predictor of `scores` for single rows of ``n_columns`` columns."""
        if self._row_predictor is None:
            self._row_predictor = RowPredictor.of_sums(self._native, n_columns)
        return self._row_predictor

    def staged_scores(
        self,
        table: DenseTable | SparseTable,
        n_threads: int = 1,
        offset: npt.NDArray[np.float64] | None = None,
        rounds: Iterable[int] | None = None,
    ) -> Iterator[npt.NDArray[np.float64]]:
        """Yield the scores after each round; the last equal those of `scores`, bit for bit.

        ``rounds``, ascending, replaces 1, 2, ..; rounds beyond the last give the last scores.
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
        self, table: DenseTable | SparseTable, axes: Axes, rows: slice, n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Compute `scores` of rows with modified values of one or two columns; see `Tree.curves`.

        Raises
        ------
        ValueError
            If leaves are linear.
        """
        return compute_curves(self._native, table, axes, rows, n_threads)

    def apply(self, table: DenseTable | SparseTable, n_threads: int = 1) -> npt.NDArray[np.intp]:
        """Return the index of the leaf of each row in each tree, of shape (n_samples, n_trees)."""
        found: npt.NDArray[np.int32] = _call_native(self._native.apply, table, n_threads)
        return found.astype(np.intp)

    def _coded_for(self, table: DenseTable | SparseTable) -> _native.CodedEnsemble | None:
        """Return the trees in the layout for many rows, created on first use; None for few rows."""
        if table.n_rows < _MANY_ROWS:
            return None
        if self._coded is None:  # two threads may both create equal ones
            self._coded = self._native.coded()
        return self._coded

    def truncated(self, n_rounds: int) -> Ensemble:
        """Return the first rounds only."""
        return Ensemble(self._native.truncated(n_rounds))

    def extended(self, more: Ensemble) -> Ensemble:
        """Return these rounds followed by those of another ensemble, whose start is ignored."""
        return Ensemble(self._native.extended(more._native))

    @classmethod
    def mean_of(cls, members: Sequence[Ensemble]) -> Ensemble:
        """Return an ensemble whose scores are the means of the members' scores.

        The rounds of the members are interleaved, with leaf values divided by the number of
        members, so stages are means, too; members with fewer rounds end earlier.

        Raises
        ------
        ValueError
            If there is no member, or they have different numbers of outputs or columns.
        """
        return cls(_native.TreeEnsemble.mean_of([member._native for member in members]))

    def compute_feature_importances(self) -> npt.NDArray[np.float64]:
        """Compute the share of each column in the total decrease of impurity.

        For trees grown by CART, whose nodes hold impurities. The shares sum to 1, or are all 0 if
        no tree has a split. Friedman (2001), section 8.1; scikit-learn's definition.
        """
        return self._native.impurity_importances()

    def gain_importances(self) -> npt.NDArray[np.float64]:
        """Compute the share of each column in the total gain of the splits.

        For trees grown from gradients and hessians, whose nodes hold the gain of their split
        instead of an impurity. The shares sum to 1, or are all 0 if no tree has a split.
        """
        return self._native.gain_importances()

    def defect(self, n_levels: Sequence[int]) -> str | None:
        """Return a description of an inconsistency with the columns, or None.

        Parameters
        ----------
        n_levels : sequence of int
            Number of levels of each column, 0 for a numeric one.
        """
        for tree in self.trees:
            if tree.n_features != len(n_levels):
                return "a tree was fitted on a different number of columns than the header lists"
            if not tree.categories_are_below(n_levels):
                return "a tree splits on categories that its columns do not have"
        if any(n_levels[j] > 0 for j in self.linear.get("linear.feature", ())):
            return "a linear leaf uses a categorical column"
        return None

    def __getstate__(self) -> dict[str, Any]:
        return {"native": self._native}

    def __setstate__(self, state: dict[str, Any]) -> None:
        native = state["native"]
        if not isinstance(native, _native.TreeEnsemble):
            raise TypeError(
                f"the state of a fitted ensemble holds {type(native).__name__} where its trees "
                "should be: the file is damaged, refit the model"
            )
        self.__init__(native)  # type: ignore[misc]


def _call_native(function: Callable[..., Any], table: DenseTable | SparseTable, *more: Any) -> Any:
    """Call a function of the engine with a dense or sparse table."""
    return function(*table.native, *more)


Floats = npt.NDArray[np.float64]


class TreeSum:
    """A fitted model as a sum of trees, whose leaf values add up to the scores.

    Created by `of_tree`, `of_ensemble`, `of_forest` (whose score is the mean vote) and
    `of_members`.

    Parameters
    ----------
    native : _native.ExplainedModel
    """

    def __init__(self, native: _native.ExplainedModel) -> None:
        self._native = native

    @classmethod
    def of_tree(cls, tree: Tree) -> TreeSum:
        """Explain the values of the leaves of one tree."""
        return cls(_native.ExplainedModel.of_tree(tree._native))

    @classmethod
    def of_ensemble(cls, ensemble: Ensemble) -> TreeSum:
        """Explain the scores of an additive ensemble.

        Raises
        ------
        ValueError
            If leaves are linear.
        """
        return cls(_native.ExplainedModel.of_ensemble(ensemble._native))

    @classmethod
    def of_forest(cls, forest: Forest, voting: Voting) -> TreeSum:
        """Explain the mean vote of a forest."""
        native = _native.ExplainedModel.of_forest(forest._native, voting, list(forest.widths))
        return cls(native)

    @classmethod
    def of_members(cls, members: WeightedForest) -> TreeSum:
        """Explain the sums of the votes of weighted members."""
        return cls(_native.ExplainedModel.of_members(members._native))

    @property
    def n_outputs(self) -> int:
        """Number of scores per row."""
        return self._native.n_outputs

    def expected_scores(self) -> Floats:
        """Compute the mean scores of the training rows from leaf weights, of shape (n_outputs,)."""
        return self._native.expected_scores()

    def values(
        self,
        table: DenseTable | SparseTable,
        players: Sequence[int],
        n_players: int,
        n_threads: int,
    ) -> Floats:
        """Compute the Shapley values of players, with absent players averaged by node weights.

        Parameters
        ----------
        table : DenseTable or SparseTable
            The rows.
        players : sequence of int
            Player of each column.
        n_players : int
        n_threads : int
            Number of threads; the result does not depend on it.

        Returns
        -------
        values : ndarray of shape (n_samples, n_players, n_outputs)
            They sum over players to the scores minus `expected_scores`.
        """
        compute: Callable[..., Floats] = self._native.shap_values
        return compute(*table.native, n_threads, list(players), n_players)

    def interactions(
        self,
        table: DenseTable | SparseTable,
        players: Sequence[int],
        n_players: int,
        n_threads: int,
    ) -> Floats:
        """Compute the Shapley interaction values of pairs of players.

        Parameters
        ----------
        table, players, n_players, n_threads
            As in `values`.

        Returns
        -------
        values : ndarray of shape (n_samples, n_players, n_players, n_outputs)
            Symmetric; rows sum to `values`.
        """
        compute: Callable[..., Floats] = self._native.shap_interactions
        return compute(*table.native, n_threads, list(players), n_players)

    def values_against(
        self,
        table: DenseTable | SparseTable,
        background: DenseTable | SparseTable,
        players: Sequence[int],
        n_players: int,
        n_threads: int,
    ) -> tuple[Floats, Floats]:
        """Compute the Shapley values with absent players set to background rows.

        Parameters
        ----------
        table, background : DenseTable or SparseTable
            The rows and the background rows, both dense or both sparse.
        players, n_players, n_threads
            As in `values`.

        Returns
        -------
        values : ndarray of shape (n_samples, n_players, n_outputs)
        base : ndarray of shape (n_outputs,)
            Mean scores of the background rows.
        """
        compute: Callable[..., tuple[Floats, Floats]] = self._native.shap_values_against
        return compute(*table.native, *background.native, n_threads, list(players), n_players)
