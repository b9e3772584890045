"""Schema of the columns of a model: names, kinds and levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from arboleda._engine.labels import Label, label_from_json, label_to_json

MISSING = 65535  # code of missing and unknown levels, above all level codes
MISSING_OF_MANY = 2**32 - 1  # the same for columns with more levels
Name = str | int | tuple[str | int, ...]


@dataclass(frozen=True)
class Schema:
    """The columns that an estimator was fitted on. Immutable.

    Parameters
    ----------
    names : tuple of str, int or tuple, or None
        Names of the columns; None if the table had none.
    levels : tuple
        For each column None if it is numeric, else its sorted labels: the code of a category is the
        index of its label.
    """

    names: tuple[Name, ...] | None
    levels: tuple[tuple[Label, ...] | None, ...]

    def __post_init__(self) -> None:
        if self.names is not None and len(self.names) != len(self.levels):
            raise ValueError(f"{len(self.names)} names for {len(self.levels)} columns")
        if self.names is not None and len(set(self.names)) != len(self.names):
            raise ValueError("two columns have the same name")
        for j, levels in enumerate(self.levels):
            if levels is not None and len(set(levels)) != len(levels):
                raise ValueError(f"column {j} has a level twice")

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.levels)

    @property
    def kinds(self) -> tuple[Literal["numeric", "categorical"], ...]:
        """Kind of each column."""
        return tuple("numeric" if levels is None else "categorical" for levels in self.levels)

    @cached_property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each column, 0 for a numeric one."""
        return tuple(0 if levels is None else len(levels) for levels in self.levels)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether no column is categorical."""
        return not any(levels is not None for levels in self.levels)

    @cached_property
    def names_are_text(self) -> bool:
        """Whether scikit-learn would keep the names as ``feature_names_in_``."""
        return self.names is not None and all(isinstance(name, str) for name in self.names)

    @cached_property
    def places(self) -> dict[Name, int]:
        """Index of the column of each name."""
        return {} if self.names is None else {name: j for j, name in enumerate(self.names)}

    @cached_property
    def codes(self) -> tuple[dict[Label, int] | None, ...]:
        """Code of each label, for each categorical column."""
        return tuple(
            None if levels is None else {label: code for code, label in enumerate(levels)}
            for levels in self.levels
        )

    def describe(self, column: int) -> str:
        """Return the name of a column for messages."""
        return repr(self.names[column]) if self.names is not None else str(column)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON-compatible data."""
        names = self.names
        return {
            "names": None if names is None else [_listed(name) for name in names],
            "columns": [
                {"kind": "numeric"}
                if levels is None
                else {"kind": "categorical", "levels": [label_to_json(label) for label in levels]}
                for levels in self.levels
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create a schema from the result of `to_dict`.

        Raises
        ------
        ValueError
            If the data is not a schema.
        """
        names, columns = data.get("names"), data.get("columns")
        if not isinstance(columns, list) or not (names is None or isinstance(names, list)):
            raise ValueError("a schema must have a list of columns, and a list of names or null")
        return cls(
            None if names is None else tuple(_name_from_json(name) for name in names),
            tuple(_levels_from_json(column) for column in columns),
        )

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.names, self.levels)  # without the cached lookup tables


def get_missing_code(n_levels: int) -> int:
    """Return the code of missing and unknown levels in a column with a number of levels."""
    return MISSING if n_levels <= MISSING else MISSING_OF_MANY


def _listed(name: Name) -> str | int | list[str | int]:
    return list(name) if isinstance(name, tuple) else name


def _name_from_json(found: Any) -> Name:
    if isinstance(found, str) or type(found) is int:
        return found
    if isinstance(found, list) and all(isinstance(p, str) or type(p) is int for p in found):
        return tuple(found)
    raise ValueError(f"{str(found)[:80]} is not a name of a column")


def _levels_from_json(found: Any) -> tuple[Label, ...] | None:
    if found == {"kind": "numeric"}:
        return None
    if isinstance(found, dict) and found.keys() == {"kind", "levels"}:
        levels = found["levels"]
        if found["kind"] == "categorical" and isinstance(levels, list):
            return tuple(label_from_json(label) for label in levels)
    raise ValueError(f"{str(found)[:80]} is not a column of a schema")
