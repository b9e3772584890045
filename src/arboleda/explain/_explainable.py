"""Models whose scores are sums over trees, as explaining them needs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._bridge.columns import SparseTable, Table
from arboleda._bridge.shap import TreeSum

__all__ = ["Explainable", "MeanOfModels", "Part", "Scale", "Shares", "TreeModel"]

Floats = npt.NDArray[np.float64]
Scale = Literal["margin", "probability", "value"]


@dataclass(frozen=True)
class Shares:
    """What the columns get of the scores of rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns, n_outputs)
    base : ndarray of shape (n_outputs,)
        Scores where nothing is known of a row.
    """

    values: Floats
    base: Floats


class Explainable(Protocol):
    """A model that can be explained.

    Attributes
    ----------
    output_names : tuple of str
    scale : {"margin", "probability", "value"}
        What its scores are.
    n_columns : int
    """

    output_names: tuple[str, ...]
    scale: Scale
    n_columns: int

    def shares(self, X: Any, n_threads: int) -> Shares:
        """Part the scores of rows over the columns."""


@dataclass(frozen=True)
class TreeModel:
    """One sum of trees.

    Parameters
    ----------
    trees : TreeSum
    read : callable
        Checks a table and returns it as the engine takes it.
    players : sequence of int
        For each column that the engine reads, the column of X that it comes from.
    n_columns : int
        Columns of X.
    output_names, scale
        See `Explainable`.
    finish : callable
        A linear function from scores (n, n_scores) to outputs (n, n_outputs), constants included.
    """

    trees: TreeSum
    read: Callable[[Any], Table | SparseTable]
    players: Sequence[int]
    n_columns: int
    output_names: tuple[str, ...]
    scale: Scale
    finish: Callable[[Floats], Floats] | None = None

    def shares(self, X: Any, n_threads: int) -> Shares:
        """Part the scores of rows over the columns."""
        table = self.read(X)
        values = self.trees.values(table, self.players, self.n_columns, n_threads)
        base = self.trees.expected_scores()
        if self.finish is None:
            return Shares(values, base)
        constant = self._finished(np.zeros((1, base.size)))
        n_rows, n_columns, n_scores = values.shape
        finished = self._finished(values.reshape(-1, n_scores)) - constant
        return Shares(finished.reshape(n_rows, n_columns, -1), self._finished(base[np.newaxis])[0])

    def _finished(self, scores: Floats) -> Floats:
        assert self.finish is not None
        return self.finish(scores).reshape(len(scores), -1)


@dataclass(frozen=True)
class Part:
    """A member of a mean.

    Parameters
    ----------
    model : Explainable
    weight : float
        Of its scores; those of all members sum to 1.
    columns : ndarray of int, or None
        Columns of X that it reads; None: all, as they are.
    outputs : ndarray of int
        The outputs of the mean that its own are.
    take : callable
        Returns the table that it reads.
    """

    model: Explainable
    weight: float
    columns: npt.NDArray[np.intp] | None
    outputs: npt.NDArray[np.intp]
    take: Callable[[Any], Any]


@dataclass(frozen=True)
class MeanOfModels:
    """A weighted mean of models that speak on one scale.

    Parameters
    ----------
    parts : tuple of Part
    n_columns, output_names, scale
        See `Explainable`.
    """

    parts: tuple[Part, ...]
    n_columns: int
    output_names: tuple[str, ...]
    scale: Scale

    def shares(self, X: Any, n_threads: int) -> Shares:
        """Part the scores of rows over the columns."""
        base = np.zeros(len(self.output_names))
        values: Floats | None = None
        for part in self.parts:
            said = part.model.shares(part.take(X), n_threads)
            if values is None:
                values = np.zeros((len(said.values), self.n_columns, base.size))
            columns = np.arange(self.n_columns) if part.columns is None else part.columns
            for place, column in enumerate(columns.tolist()):  # one may be there twice
                values[:, column, part.outputs] += part.weight * said.values[:, place]
            base[part.outputs] += part.weight * said.base
        assert values is not None  # there is a part
        return Shares(values, base)
