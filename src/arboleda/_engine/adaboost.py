"""AdaBoost in the engine: fitting, and members with weighted votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.forest import Forest
from arboleda._engine.parallel import check_output_size
from arboleda._engine.row_predictor import RowPredictor, has_few_rows
from arboleda._native import AdaBoostOptions, BinnedDataset, RunningMedians, TargetDensity

__all__ = [
    "AdaBoostOptions",
    "AdaBoosted",
    "Rounds",
    "RunningMedians",
    "TargetDensity",
    "WeightedForest",
    "fit_adaboost",
]


Floats = npt.NDArray[np.float64]

# Called after every kept member with the number of members, its error and weight, and the scores of
# the validation rows (rows, outputs) or None. Returns True to stop.
Callback = Callable[[int, float, float, Floats | None], bool]

# Sums of votes of several stages are computed together, in arrays of at most this size.
_STAGED_BYTES = 1 << 25


class Rounds(NamedTuple):
    """Statistics of each member under the weights D that it was fitted with."""

    error: Floats  # weight of the misclassified rows
    weight: Floats  # weight of its vote
    normalizer: Floats  # Z: divisor that normalises the new weights to sum 1
    edge: Floats  # advantage over random guessing
    reset_before: npt.NDArray[np.bool_]  # whether the weights were reset before it


class WeightedForest:
    """Members with weighted votes: one tree each, or one tree per class.

    Parameters
    ----------
    forest : Forest
        The trees, member by member.
    vote : {"largest", "log_odds", "scores", "of_class"}
        Vote of a leaf: 1 for its largest class; (K-1) (log p_k - mean_j log p_j) of its class
        shares; its values; or its only value, for the class of its tree.
    weights : ndarray of shape (n_members,)
    trees_a_member : int, default=1
        More than 1 only with "of_class".

    Raises
    ------
    ValueError
        If the number of weights is not the number of members.
    """

    def __init__(self, forest: Forest, vote: str, weights: Floats, trees_a_member: int = 1) -> None:
        self._forest = forest
        self._vote = vote
        self._weights = np.array(weights, dtype=np.float64)
        self._weights.flags.writeable = False
        self._trees_a_member = trees_a_member
        self._native = _native.WeightedForest(forest._native, vote, self._weights, trees_a_member)

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self._forest

    @property
    def vote(self) -> str:
        """Vote of a leaf."""
        return self._vote

    @property
    def weights(self) -> Floats:
        """Weight of each member's vote; read-only."""
        return self._weights

    @property
    def trees_a_member(self) -> int:
        """Trees of each member."""
        return self._trees_a_member

    @property
    def n_members(self) -> int:
        """Number of members."""
        return self._weights.size

    @property
    def n_outputs(self) -> int:
        """Number of scores per row: one per class, or a single one for two classes."""
        return self._forest.n_outputs * self._trees_a_member

    def weighted_leaf_votes(self, tree: int) -> Floats:
        """Return the votes of the leaves of a tree times its weight, (n_leaves, width)."""
        return self._native.leaf_votes(tree)

    def scores(self, table: DenseTable | SparseTable, n_threads: int = 1) -> Floats:
        """Compute the sums of the weighted votes, of shape (n_samples, n_outputs).

        Parameters
        ----------
        table : DenseTable or SparseTable
            The rows.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Raises
        ------
        ValueError
            If the table has a different number of columns.
        """
        check_output_size(table.n_rows, self.n_outputs, task="predicting")
        if has_few_rows(table):
            return self.row_predictor().of_table(table)
        compute: Callable[..., Floats] = self._native.scores
        return compute(*table.native, n_threads)

    def row_predictor(self) -> RowPredictor:
        """Return the predictor of `scores` for single rows."""
        return RowPredictor.of_weighted_votes(self._native)

    def staged_scores(
        self, table: DenseTable | SparseTable, n_threads: int = 1
    ) -> Iterator[Floats]:
        """Yield the sums of 1, 2, .. members; the last equal those of `scores`, bit for bit."""
        compute: Callable[..., Floats] = self._native.staged_scores
        sums = np.zeros((table.n_rows, self.n_outputs))
        step = max(1, _STAGED_BYTES // max(1, sums.nbytes))
        for first in range(0, self.n_members, step):
            last = min(first + step, self.n_members)
            stages = compute(*table.native, n_threads, first, last, sums)
            yield from stages
            sums = stages[-1]

    def truncated(self, n_members: int) -> WeightedForest:
        """Return the first members only."""
        first = self._forest.truncated(n_members * self._trees_a_member)
        return WeightedForest(first, self._vote, self._weights[:n_members], self._trees_a_member)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "forest": self._forest,
            "vote": self._vote,
            "weights": self._weights,
            "trees_a_member": self._trees_a_member,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


class AdaBoosted(NamedTuple):
    """A boosted ensemble with the statistics of its rounds."""

    members: WeightedForest
    rounds: Rounds

    # Reason for stopping: "all_rounds"; "perfect" if the last member makes no error; "too_weak" if
    # the next member was no better than guessing (the first may be kept); "stopped" by the
    # callback.
    end: str
    weak_error: float  # with "too_weak": the error of the discarded member


def fit_adaboost(
    table: BinnedDataset,
    labels: npt.NDArray[np.integer],
    n_classes: int,
    sample_weight: Floats | None,
    options: AdaBoostOptions,
    *,
    validation_rows: npt.NDArray[np.integer] | None = None,
    callback: Callback | None = None,
    n_threads: int,
    seed: int,
) -> AdaBoosted:
    """Fit an AdaBoost ensemble on the rows of positive weight.

    Parameters
    ----------
    table : BinnedDataset
    labels : ndarray of shape (n_samples,)
        0 .. n_classes - 1.
    n_classes : int
    sample_weight : ndarray of shape (n_samples,), or None
    options : AdaBoostOptions
    validation_rows : ndarray, or None
        Rows of the table excluded from fitting, ascending; the callback gets their scores.
    callback : callable or None
        Called after every kept member.
    n_threads : int
        The result does not depend on it.
    seed : int

    Raises
    ------
    ValueError
        If no row has a positive weight, or the algorithm does not support the number of classes.
    """
    if validation_rows is None:
        validation_rows = np.empty(0, dtype=np.uint32)
    forest, rounds, vote, trees_a_member, end, weak_error = _native.fit_adaboost(
        table,
        np.ascontiguousarray(labels, dtype=np.uint32),
        n_classes,
        None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64),
        np.ascontiguousarray(validation_rows, dtype=np.uint32),
        options,
        callback,
        n_threads,
        seed,
    )
    rounds["reset_before"] = rounds["reset_before"].astype(np.bool_)
    statistics = Rounds(**rounds)
    trees = Forest(forest, (forest.n_outputs,))
    members = WeightedForest(trees, vote, statistics.weight, trees_a_member)
    return AdaBoosted(members, statistics, end, weak_error)
