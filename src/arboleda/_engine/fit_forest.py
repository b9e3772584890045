"""Forests by the engine: growing them, what each tree sees, and what left-out rows say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.forest import Forest, Voting
from arboleda._native import BinnedDataset, ForestOptions

__all__ = [
    "FittedRows",
    "ForestOptions",
    "OutOfBagCurve",
    "OutOfBagVotes",
    "draw_bag",
    "draw_columns",
    "fit_classification_forest",
    "fit_regression_forest",
    "out_of_bag_curve",
    "out_of_bag_permutation",
    "out_of_bag_votes",
    "switch_labels",
]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.integer]

# Told now and then, on the caller's thread, how many trees are done, and once in the end. True:
# start no more; the forest then has the first ones, at least one.
Progress = Callable[[int], bool]


def fit_classification_forest(
    table: BinnedDataset,
    labels: Labels,
    n_classes: tuple[int, ...],
    sample_weight: Floats | None,
    criterion: str,
    options: ForestOptions,
    *,
    progress: Progress | None = None,
    n_threads: int,
    seed: int,
) -> Forest:
    """Grow classification trees on bags of the rows.

    Tree t is a function of the data, the options, the seed and t: a forest continued from
    ``first_tree`` is the one that was grown at once, byte for byte.

    Parameters
    ----------
    table : BinnedDataset
    labels : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        0 .. n_classes - 1 of each output.
    n_classes : tuple of int
        Of each output.
    sample_weight : ndarray of shape (n_samples,), or None
        Rows of weight 0 are in no bag.
    criterion : str
    options : ForestOptions
        ``balance_classes`` weighs the classes of each bag such that they count the same.
    progress : callable or None
    n_threads : int
        Has no influence on the result.
    seed : int
    """
    native = _native.fit_classification_forest(
        table,
        _label_codes(labels),
        list(n_classes),
        _floats(sample_weight),
        criterion,
        options,
        progress,
        n_threads,
        seed,
    )
    return Forest(native, n_classes)


def fit_regression_forest(
    table: BinnedDataset,
    targets: Floats,
    sample_weight: Floats | None,
    criterion: str,
    options: ForestOptions,
    *,
    progress: Progress | None = None,
    n_threads: int,
    seed: int,
) -> Forest:
    """Grow regression trees on bags of the rows: as `fit_classification_forest`.

    Targets are of shape (n_samples,) or (n_samples, n_outputs).
    """
    n_outputs = 1 if targets.ndim == 1 else targets.shape[1]
    native = _native.fit_regression_forest(
        table,
        _values(targets),
        n_outputs,
        _floats(sample_weight),
        criterion,
        options,
        progress,
        n_threads,
        seed,
    )
    return Forest(native, (1,) * n_outputs)


def draw_bag(
    options: ForestOptions,
    n_rows: int,
    tree: int,
    *,
    sample_weight: Floats | None = None,
    labels: Labels | None = None,
    seed: int,
) -> npt.NDArray[np.uint32]:
    """Return how often each row is in the bag of a tree; labels are needed by balanced bags."""
    codes = None if labels is None else _label_codes(labels)
    return _native.draw_bag(options, n_rows, _floats(sample_weight), codes, tree, seed)


def draw_columns(
    options: ForestOptions, n_columns: int, tree: int, *, seed: int
) -> npt.NDArray[np.int32]:
    """Return the columns that a tree may use, ascending, each once."""
    return _native.draw_columns(options, n_columns, tree, seed)


def switch_labels(
    options: ForestOptions,
    labels: Labels,
    tree: int,
    *,
    sample_weight: Floats | None = None,
    seed: int,
) -> npt.NDArray[np.uint32]:
    """Return the labels that a tree learns: a share is switched, classes keep their numbers."""
    return _native.switch_labels(options, _label_codes(labels), _floats(sample_weight), tree, seed)


@dataclass(frozen=True)
class FittedRows:
    """The rows of a fit: how its bags were drawn, and what rows should have been told.

    Parameters
    ----------
    options : ForestOptions
        Those of the fit; ``first_tree`` is the number of the forest's first tree.
    target : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Labels or values, as the fit got them.
    n_classes : tuple of int
        Of each output; empty in regression.
    sample_weight : ndarray of shape (n_samples,), or None
    seed : int
        Of the fit.
    """

    options: ForestOptions
    target: npt.NDArray[np.integer] | Floats
    n_classes: tuple[int, ...]
    sample_weight: Floats | None
    seed: int

    def native(self) -> _native.FittedRows:
        """Return them as the engine reads them."""
        labels = _label_codes(self.target) if self.n_classes else None
        values = None if self.n_classes else _values(self.target)
        weights = _floats(self.sample_weight)
        return _native.FittedRows(
            self.options, weights, labels, values, list(self.n_classes), self.seed
        )


class OutOfBagVotes(NamedTuple):
    """What the trees that did not see a row say of it."""

    sums: Floats  # (n_samples, values of a leaf): of their votes
    n_trees: npt.NDArray[np.uint32]  # (n_samples,): how many they are


class OutOfBagCurve(NamedTuple):
    """The error of the votes of the first 1, 2, .. trees on the rows that these left out."""

    error: Floats  # NaN while no row has a vote
    n_judged: npt.NDArray[np.uint64]  # rows that have a vote


def out_of_bag_votes(
    forest: Forest,
    table: Table | SparseTable,
    rows: FittedRows,
    *,
    voting: Voting = "soft",
    n_threads: int,
) -> OutOfBagVotes:
    """Add the votes of the trees that did not see a row, for every row of the fit.

    The table is that of the fit. No result depends on the number of threads.
    """
    answer: Callable[..., tuple[Floats, npt.NDArray[np.uint32]]] = _native.out_of_bag_votes
    return OutOfBagVotes(*answer(forest._native, *table.native, rows.native(), voting, n_threads))


def out_of_bag_curve(
    forest: Forest,
    table: Table | SparseTable,
    rows: FittedRows,
    *,
    voting: Voting = "soft",
    n_threads: int,
) -> OutOfBagCurve:
    """Return the error after each tree: the share of wrong answers, or the mean squared error.

    The mean over several outputs. Rows count the same, but those of weight 0 not at all.
    """
    answer: Callable[..., tuple[Floats, npt.NDArray[np.uint64]]] = _native.out_of_bag_curve
    return OutOfBagCurve(*answer(forest._native, *table.native, rows.native(), voting, n_threads))


def out_of_bag_permutation(
    forest: Forest, table: Table | SparseTable, rows: FittedRows, *, n_threads: int
) -> Floats:
    """Return by how much each tree's error grows when a column is permuted among its left-out rows.

    Of shape (n_trees, n_columns); NaN for a tree that saw every row. The error of a tree alone is
    that of its leaf's largest class, or of its leaf's mean. Breiman (2001), section 10.
    """
    answer: Callable[..., Floats] = _native.out_of_bag_permutation
    return answer(forest._native, *table.native, rows.native(), n_threads)


def _label_codes(labels: npt.NDArray[np.integer] | Floats) -> npt.NDArray[np.uint32]:
    """Return labels as the engine reads them: those of one output after the other."""
    return np.ascontiguousarray(labels.T, dtype=np.uint32).ravel()


def _values(targets: npt.NDArray[np.integer] | Floats) -> Floats:
    return np.ascontiguousarray(targets.T, dtype=np.float64).ravel()


def _floats(numbers: Floats | None) -> Floats | None:
    return None if numbers is None else np.ascontiguousarray(numbers, dtype=np.float64)
