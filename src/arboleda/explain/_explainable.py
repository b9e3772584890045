"""Models whose scores are sums over trees, in the form that Shapley values are computed from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.ensemble import TreeSum

__all__ = [
    "AveragedModels",
    "Explainable",
    "Scale",
    "ShapAttributions",
    "ShapRequest",
    "TreeModel",
    "WeightedMember",
]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Scale = Literal["margin", "probability", "value"]


@dataclass(frozen=True)
class ShapRequest:
    """Rows and options of a computation of Shapley values.

    Parameters
    ----------
    X : array-like
        The rows to explain.
    background : array-like or None
        Rows whose values replace unknown ones; None: averages over the nodes of trees.
    pairs : bool
        Whether to attribute the scores to pairs of columns. Not with a background.
    n_threads : int
    """

    X: Any
    background: Any
    pairs: bool
    n_threads: int


@dataclass(frozen=True)
class ShapAttributions:
    """Attributions of the scores of rows to the columns.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns, n_outputs)
        Or (n_rows, n_columns, n_columns, n_outputs), for pairs.
    base : ndarray of shape (n_outputs,)
        Expected scores if no column is known.
    """

    values: Floats
    base: Floats


@dataclass(frozen=True)
class TreeModel:
    """One sum of trees.

    Parameters
    ----------
    trees : TreeSum
    read : callable
        Checks a table and converts it for the engine.
    players : sequence of int
        For each column of the engine's table, the column of X that it comes from.
    n_columns : int
        Number of columns of X.
    output_names : tuple of str
    scale : {"margin", "probability", "value"}
        Scale of the scores.
    finish : callable
        An affine function from scores (n, n_scores) to outputs (n, n_outputs).
    """

    trees: TreeSum
    read: Callable[[Any], DenseTable | SparseTable]
    players: Sequence[int]
    n_columns: int
    output_names: tuple[str, ...]
    scale: Scale
    finish: Callable[[Floats], Floats] | None = None

    def attribute(self, request: ShapRequest) -> ShapAttributions:
        """Attribute the scores of rows to the columns."""
        attributions = self._attribute_scores(request)
        if self.finish is None:
            return attributions
        scores = attributions.values.reshape(-1, attributions.base.size)
        constant = self._apply_finish(np.zeros((1, attributions.base.size)))
        values = self._apply_finish(scores) - constant
        base = self._apply_finish(attributions.base[np.newaxis])[0]
        return ShapAttributions(values.reshape(*attributions.values.shape[:-1], base.size), base)

    def _attribute_scores(self, request: ShapRequest) -> ShapAttributions:
        table = self.read(request.X)
        options = (self.players, self.n_columns, request.n_threads)
        if request.background is not None:
            return ShapAttributions(
                *self.trees.values_against(table, self.read(request.background), *options)
            )
        compute = self.trees.interactions if request.pairs else self.trees.values
        return ShapAttributions(compute(table, *options), self.trees.expected_scores())

    def _apply_finish(self, scores: Floats) -> Floats:
        assert self.finish is not None
        return self.finish(scores).reshape(len(scores), -1)


@dataclass(frozen=True)
class WeightedMember:
    """A member of a weighted mean.

    Parameters
    ----------
    model : Explainable
    weight : float
        Weight of its scores; the weights of all members sum to 1.
    columns : ndarray of int, or None
        Columns of X that it uses; None: all.
    outputs : ndarray of int
        Index among the outputs of the mean of each of its outputs.
    take : callable
        Selects the columns of a table that it uses.
    """

    model: Explainable
    weight: float
    columns: Places | None
    outputs: Places
    take: Callable[[Any], Any]


@dataclass(frozen=True)
class AveragedModels:
    """A weighted mean of models whose scores have the same scale.

    Parameters
    ----------
    members : tuple of WeightedMember
    n_columns, output_names, scale
        As in `TreeModel`.
    read : callable
        Checks a table and converts it for the members.
    """

    members: tuple[WeightedMember, ...]
    n_columns: int
    output_names: tuple[str, ...]
    scale: Scale
    read: Callable[[Any], Any]

    def attribute(self, request: ShapRequest) -> ShapAttributions:
        """Attribute the scores of rows to the columns."""
        base = np.zeros(len(self.output_names))
        values: Floats | None = None
        X = self.read(request.X)
        background = None if request.background is None else self.read(request.background)
        for member in self.members:
            member_request = replace(
                request,
                X=member.take(X),
                background=None if background is None else member.take(background),
            )
            attributions = member.model.attribute(member_request)
            if values is None:
                n_dims = 2 if request.pairs else 1
                shape = (len(attributions.values), *[self.n_columns] * n_dims, base.size)
                values = np.zeros(shape)
            columns = np.arange(self.n_columns) if member.columns is None else member.columns
            _add(values, member.weight * attributions.values, columns, member.outputs)
            base[member.outputs] += member.weight * attributions.base
        assert values is not None  # there is at least one member
        return ShapAttributions(values, base)


Explainable = TreeModel | AveragedModels


def _add(values: Floats, attributions: Floats, columns: Places, outputs: Places) -> None:
    """Add a member's attributions to those of its columns, which may repeat."""
    for i, column in enumerate(columns.tolist()):
        if attributions.ndim == 3:
            values[:, column, outputs] += attributions[:, i]
            continue
        for j, other in enumerate(columns.tolist()):
            values[:, column, other, outputs] += attributions[:, i, j]
