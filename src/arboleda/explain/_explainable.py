"""Models whose scores are sums over trees, as explaining them needs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.shap import TreeSum

__all__ = ["Explainable", "MeanOfModels", "Part", "Question", "Scale", "Shares", "TreeModel"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Scale = Literal["margin", "probability", "value"]


@dataclass(frozen=True)
class Question:
    """What is asked of a model.

    Parameters
    ----------
    X : array-like
        The rows to explain.
    background : array-like or None
        Rows whose values stand for what is not known; None: averages over the nodes of trees.
    pairs : bool
        Whether to part the scores over pairs of columns. Not against a background.
    n_threads : int
    """

    X: Any
    background: Any
    pairs: bool
    n_threads: int


@dataclass(frozen=True)
class Shares:
    """What the columns get of the scores of rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns, n_outputs)
        Or (n_rows, n_columns, n_columns, n_outputs), of pairs.
    base : ndarray of shape (n_outputs,)
        Scores where nothing is known of a row.
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
        Checks a table and returns it as the engine takes it.
    players : sequence of int
        For each column that the engine reads, the column of X that it comes from.
    n_columns : int
        Columns of X.
    output_names : tuple of str
    scale : {"margin", "probability", "value"}
        What the scores are.
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

    def shares(self, question: Question) -> Shares:
        """Part the scores of rows over the columns."""
        found = self._shares_of_scores(question)
        if self.finish is None:
            return found
        scores = found.values.reshape(-1, found.base.size)
        constant = self._finished(np.zeros((1, found.base.size)))
        values = self._finished(scores) - constant
        base = self._finished(found.base[np.newaxis])[0]
        return Shares(values.reshape(*found.values.shape[:-1], base.size), base)

    def _shares_of_scores(self, question: Question) -> Shares:
        table = self.read(question.X)
        how = (self.players, self.n_columns, question.n_threads)
        if question.background is not None:
            return Shares(*self.trees.values_against(table, self.read(question.background), *how))
        ask = self.trees.interactions if question.pairs else self.trees.values
        return Shares(ask(table, *how), self.trees.expected_scores())

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
    columns: Places | None
    outputs: Places
    take: Callable[[Any], Any]


@dataclass(frozen=True)
class MeanOfModels:
    """A weighted mean of models that speak on one scale.

    Parameters
    ----------
    parts : tuple of Part
    n_columns, output_names, scale
        As of a `TreeModel`.
    read : callable
        Checks a table and returns it as the members take it.
    """

    parts: tuple[Part, ...]
    n_columns: int
    output_names: tuple[str, ...]
    scale: Scale
    read: Callable[[Any], Any]

    def shares(self, question: Question) -> Shares:
        """Part the scores of rows over the columns."""
        base = np.zeros(len(self.output_names))
        values: Floats | None = None
        X = self.read(question.X)
        background = None if question.background is None else self.read(question.background)
        for part in self.parts:
            asked = replace(
                question,
                X=part.take(X),
                background=None if background is None else part.take(background),
            )
            said = part.model.shares(asked)
            if values is None:
                n_dims = 2 if question.pairs else 1
                values = np.zeros((len(said.values), *[self.n_columns] * n_dims, base.size))
            columns = np.arange(self.n_columns) if part.columns is None else part.columns
            _add(values, part.weight * said.values, columns, part.outputs)
            base[part.outputs] += part.weight * said.base
        assert values is not None  # there is a part
        return Shares(values, base)


Explainable = TreeModel | MeanOfModels


def _add(values: Floats, said: Floats, columns: Places, outputs: Places) -> None:
    """Add what a member says of some columns, of which one may be there twice."""
    for i, column in enumerate(columns.tolist()):
        if said.ndim == 3:
            values[:, column, outputs] += said[:, i]
            continue
        for j, other in enumerate(columns.tolist()):
            values[:, column, other, outputs] += said[:, i, j]
