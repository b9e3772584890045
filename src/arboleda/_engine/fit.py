"""Fitting of trees in the engine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.memory import get_usable_memory
from arboleda._engine.tree import Tree
from arboleda._native import BinnedDataset, GrowthOptions

__all__ = [
    "BinnedDataset",
    "GrowthOptions",
    "check_class_shares_fit",
    "fit_classification_tree",
    "fit_regression_tree",
]


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
    labels: npt.NDArray[np.integer],
    n_classes: tuple[int, ...],
    sample_weight: npt.NDArray[np.float64] | None,
    criterion: str,
    options: GrowthOptions,
    *,
    n_threads: int,
    seed: int,
) -> Tree:
    """Fit a classification tree.

    Labels are 0 .. n_classes - 1, of shape (n_samples,) or (n_samples, n_outputs); ``n_classes``
    has one entry per output.
    """
    codes = np.ascontiguousarray(labels.T, dtype=np.uint32).ravel()
    native = _native.fit_classification_tree(
        table, codes, list(n_classes), _weights(sample_weight), criterion, options, n_threads, seed
    )
    return Tree(native, n_classes)


def fit_regression_tree(
    table: BinnedDataset,
    targets: npt.NDArray[np.float64],
    sample_weight: npt.NDArray[np.float64] | None,
    criterion: str,
    options: GrowthOptions,
    *,
    n_threads: int,
    seed: int,
) -> Tree:
    """Fit a regression tree; targets are of shape (n_samples,) or (n_samples, n_outputs)."""
    n_outputs = 1 if targets.ndim == 1 else targets.shape[1]
    targets = np.ascontiguousarray(targets.T, dtype=np.float64).ravel()
    native = _native.fit_regression_tree(
        table, targets, n_outputs, _weights(sample_weight), criterion, options, n_threads, seed
    )
    return Tree(native, (1,) * n_outputs)


def _weights(sample_weight: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    return None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
