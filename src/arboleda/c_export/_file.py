"""A C file while it is made: its models, each of which may ask others that stand before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from arboleda._engine.schema import Schema
from arboleda.c_export._parts import Part
from arboleda.c_export._text import NumberType, number


@dataclass
class File:
    """What models of a file share.

    Parameters
    ----------
    schema : Schema
        Columns of the table, as all models know them.
    dtype : {"float64", "float32"}
        Type of all numbers.
    """

    schema: Schema
    dtype: NumberType
    parts: list[Part] = field(default_factory=list)

    def part(self, n_state: int, n_scores: int, n_outputs: int) -> Part:
        """Begin a model."""
        self._n_begun = getattr(self, "_n_begun", 0) + 1
        return Part(f"m{self._n_begun}", n_state, n_scores, n_outputs)

    def literal(self, value: float) -> str:
        """Return a number as the file has it."""
        return number(float(value), self.dtype)

    def check_columns(self, model: Any) -> None:
        """Refuse a model that knows the columns otherwise than the others."""
        if model.schema_.levels != self.schema.levels:
            raise ValueError(
                f"a member of type {type(model).__name__} was fitted on other columns or "
                "categories than the others: fit all members on one table"
            )
