"""A C source file under construction: its models, each of which may call earlier ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from arboleda._engine.schema import Schema
from arboleda.c_export._parts import ModelCode
from arboleda.c_export._text import NumberType, format_number


@dataclass
class CSource:
    """State shared by the models of a file.

    Parameters
    ----------
    schema : Schema
        Schema of the table, common to all models.
    dtype : {"float64", "float32"}
        Type of all numbers.
    """

    schema: Schema
    dtype: NumberType
    parts: list[ModelCode] = field(default_factory=list)

    def start_model(self, n_state: int, n_scores: int, n_outputs: int) -> ModelCode:
        """Start a model."""
        self._n_begun = getattr(self, "_n_begun", 0) + 1
        return ModelCode(f"m{self._n_begun}", n_state, n_scores, n_outputs)

    def format_literal(self, value: float) -> str:
        """Format a number as a literal of the file's number type."""
        return format_number(float(value), self.dtype)

    def check_columns(self, model: Any) -> None:
        """Check that a model has the schema of the other models."""
        if model.schema_.levels != self.schema.levels:
            raise ValueError(
                f"a member of type {type(model).__name__} was fitted on different columns or "
                "categories than the others: fit all members on the same table"
            )
