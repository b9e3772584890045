"""Nodes of a tree as arrays, and the rows and results of pruning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import DenseTable, SparseTable

__all__ = ["PruningPath", "TreeNodes", "ValidationRows"]


class PruningPath(NamedTuple):
    """Sequence of nested optimal pruned trees, from the full tree to the root."""

    alpha: npt.NDArray[np.float64]  # value from which on the tree is optimal, ascending from 0
    impurity: npt.NDArray[np.float64]  # weighted impurity of its leaves
    n_leaves: npt.NDArray[np.int32]


class ValidationRows(NamedTuple):
    """Validation rows for pruning: a table, class codes or values, and weights."""

    X: DenseTable | SparseTable
    target: npt.NDArray[Any]
    weight: npt.NDArray[np.float64] | None
    n_threads: int


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """Nodes of a tree in preorder, from which a `Tree` can be created.

    Parameters
    ----------
    n_features : int
    feature : ndarray of int
        -1 in a leaf.
    threshold : ndarray of float
        0 in leaves and categorical splits.
    right : ndarray of int
        Right child; -1 in a leaf. The left child is the next node.
    missing_left : ndarray of bool
        False in a leaf.
    impurity, weight : ndarray of float
    n_node_samples : ndarray of int
        At least 1.
    value : ndarray of float of shape (n_nodes, n_outputs)
    categories : mapping of int to ndarray of int
        For categorical splits, the categories that go to the opposite side of missing values,
        ascending.
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
