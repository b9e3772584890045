"""Fitting of trees and forests in the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.forest import Forest, Voting
from arboleda._engine.parallel import get_usable_memory
from arboleda._engine.shards import Shards
from arboleda._engine.tree import Tree
from arboleda._native import BinnedDataset, ForestOptions, GrowthOptions

__all__ = [
    "BinnedDataset",
    "FittedRows",
    "ForestOptions",
    "GrowthOptions",
    "OutOfBagCurve",
    "OutOfBagVotes",
    "check_class_shares_fit",
    "draw_bag",
    "draw_columns",
    "fit_classification_forest",
    "fit_classification_tree",
    "fit_regression_forest",
    "fit_regression_tree",
    "out_of_bag_curve",
    "out_of_bag_permutation",
    "out_of_bag_votes",
    "switch_labels",
]


Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.integer]


def check_class_shares_fit(n_nodes: int, n_classes: int, n_trees: int = 1) -> None:
    """Check that the class shares of trees fit in memory."""
    needed = 8 * n_nodes * n_classes * n_trees
    trees = "a tree" if n_trees == 1 else f"{n_trees:,} trees"
    if needed > get_usable_memory():
        raise ValueError(
            f"y has {n_classes:,} classes: {trees} of up to {n_nodes:,} nodes would require "
            f"{needed / 2**30:,.0f} GiB for its class shares. If y is a quantity, use a regressor; "
            "otherwise merge rare classes or set max_leaf_nodes"
        )


def fit_classification_tree(
    table: BinnedDataset,
    labels: Labels,
    n_classes: tuple[int, ...],
    sample_weight: Floats | None,
    criterion: str,
    options: GrowthOptions,
    *,
    n_threads: int,
    seed: int,
    shards: Shards | None = None,
) -> Tree:
    """Fit a classification tree.

    Labels are 0 .. n_classes - 1, of shape (n_samples,) or (n_samples, n_outputs); ``n_classes``
    has one entry per output. With a connection to other shards, the rows are those of this one, and
    the tree is that of all; one output only.
    """
    native = _native.fit_classification_tree(
        table,
        _to_label_codes(labels),
        list(n_classes),
        _floats(sample_weight),
        criterion,
        options,
        n_threads,
        seed,
        shards,
    )
    return Tree(native, n_classes)


def fit_regression_tree(
    table: BinnedDataset,
    targets: Floats,
    sample_weight: Floats | None,
    criterion: str,
    options: GrowthOptions,
    *,
    n_threads: int,
    seed: int,
    shards: Shards | None = None,
) -> Tree:
    """Fit a regression tree; targets are of shape (n_samples,) or (n_samples, n_outputs).

    See `fit_classification_tree` for shards.
    """
    n_outputs = 1 if targets.ndim == 1 else targets.shape[1]
    native = _native.fit_regression_tree(
        table,
        _values(targets),
        n_outputs,
        _floats(sample_weight),
        criterion,
        options,
        n_threads,
        seed,
        shards,
    )
    return Tree(native, (1,) * n_outputs)


# Called regularly on the caller's thread with the number of finished trees, and once at the end.
# Returns True to stop; the forest then has the first trees, at least one.
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
    """Fit a forest of classification trees on bags of the rows.

    Tree t depends only on the data, the options, the seed and t: a forest continued from
    ``first_tree`` equals one grown at once, byte for byte.

    Parameters
    ----------
    table : BinnedDataset
    labels : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class codes 0 .. n_classes - 1 of each output.
    n_classes : tuple of int
        Number of classes of each output.
    sample_weight : ndarray of shape (n_samples,), or None
        Rows of weight 0 are in no bag.
    criterion : str
    options : ForestOptions
        ``balance_classes`` weights the classes of each bag equally.
    progress : callable or None
    n_threads : int
        The result does not depend on it.
    seed : int
    """
    native = _native.fit_classification_forest(
        table,
        _to_label_codes(labels),
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
    """Fit a forest of regression trees on bags of the rows; see `fit_classification_forest`.

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
    """Return the count of each row in the bag of a tree; balanced bags require labels."""
    codes = None if labels is None else _to_label_codes(labels)
    return _native.draw_bag(options, n_rows, _floats(sample_weight), codes, tree, seed)


def draw_columns(
    options: ForestOptions, n_columns: int, tree: int, *, seed: int
) -> npt.NDArray[np.int32]:
    """Return the columns that a tree may use, ascending and unique."""
    return _native.draw_columns(options, n_columns, tree, seed)


def switch_labels(
    options: ForestOptions,
    labels: Labels,
    tree: int,
    *,
    sample_weight: Floats | None = None,
    seed: int,
) -> npt.NDArray[np.uint32]:
    """Return the labels for a tree, with a share switched and class frequencies kept."""
    return _native.switch_labels(
        options, _to_label_codes(labels), _floats(sample_weight), tree, seed
    )


@dataclass(frozen=True)
class FittedRows:
    """The training rows of a fit, with their targets and the sampling of the bags.

    Parameters
    ----------
    options : ForestOptions
        Options of the fit; ``first_tree`` is the number of the forest's first tree.
    target : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class codes or values of the fit.
    n_classes : tuple of int
        Number of classes of each output; empty for regression.
    sample_weight : ndarray of shape (n_samples,), or None
    seed : int
        Seed of the fit.
    """

    options: ForestOptions
    target: npt.NDArray[np.integer] | Floats
    n_classes: tuple[int, ...]
    sample_weight: Floats | None
    seed: int

    def native(self) -> _native.FittedRows:
        """Return the rows in the engine's format."""
        labels = _to_label_codes(self.target) if self.n_classes else None
        values = None if self.n_classes else _values(self.target)
        weights = _floats(self.sample_weight)
        return _native.FittedRows(
            self.options, weights, labels, values, list(self.n_classes), self.seed
        )


class OutOfBagVotes(NamedTuple):
    """Out-of-bag votes of each row."""

    sums: Floats  # (n_samples, values of a leaf): sums of the votes
    n_trees: npt.NDArray[np.uint32]  # (n_samples,): numbers of voting trees


class OutOfBagCurve(NamedTuple):
    """Out-of-bag error of the first 1, 2, .. trees."""

    error: Floats  # NaN if no row has a vote
    n_rows: npt.NDArray[np.uint64]  # rows with a vote


def out_of_bag_votes(
    forest: Forest,
    table: DenseTable | SparseTable,
    rows: FittedRows,
    *,
    voting: Voting = "soft",
    n_threads: int,
) -> OutOfBagVotes:
    """Sum the out-of-bag votes for every row of the fit.

    The table is that of the fit. The result does not depend on the number of threads.
    """
    compute: Callable[..., tuple[Floats, npt.NDArray[np.uint32]]] = _native.out_of_bag_votes
    return OutOfBagVotes(*compute(forest._native, *table.native, rows.native(), voting, n_threads))


def out_of_bag_curve(
    forest: Forest,
    table: DenseTable | SparseTable,
    rows: FittedRows,
    *,
    voting: Voting = "soft",
    n_threads: int,
) -> OutOfBagCurve:
    """Compute the misclassification rate or mean squared error after each tree.

    It is averaged over outputs. Rows count equally, except that rows of weight 0 are ignored.
    """
    compute: Callable[..., tuple[Floats, npt.NDArray[np.uint64]]] = _native.out_of_bag_curve
    return OutOfBagCurve(*compute(forest._native, *table.native, rows.native(), voting, n_threads))


def out_of_bag_permutation(
    forest: Forest, table: DenseTable | SparseTable, rows: FittedRows, *, n_threads: int
) -> Floats:
    """Compute the increase of each tree's out-of-bag error when a column is permuted.

    Of shape (n_trees, n_columns); NaN for trees without out-of-bag rows. A tree predicts the
    largest class or the mean of a leaf. Breiman (2001), section 10.
    """
    compute: Callable[..., Floats] = _native.out_of_bag_permutation
    return compute(forest._native, *table.native, rows.native(), n_threads)


def _to_label_codes(labels: npt.NDArray[np.integer] | Floats) -> npt.NDArray[np.uint32]:
    """Return labels in the engine's format: output by output."""
    return np.ascontiguousarray(labels.T, dtype=np.uint32).ravel()


def _values(targets: npt.NDArray[np.integer] | Floats) -> Floats:
    return np.ascontiguousarray(targets.T, dtype=np.float64).ravel()


def _floats(numbers: Floats | None) -> Floats | None:
    return None if numbers is None else np.ascontiguousarray(numbers, dtype=np.float64)
