"""The types that a user gives columns, as in ``zip=category``."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from arboleda._utils.errors import OptionError
from arboleda.study.config.parsers import SHOWN, strings_of_json

__all__ = ["ColumnTypes", "TypeChoice", "parse_types"]


@dataclass(frozen=True)
class TypeChoice:
    """The type that a user gives a column, or the columns that match a pattern."""

    column: str
    type: Literal["number", "category", "date", "text", "identifier", "list"]

    @property
    def text(self) -> str:
        """The choice as on the command line."""
        return f"{self.column}={self.type}"


_TYPES = ("number", "category", "date", "text", "identifier", "list")


def parse_types(value: Any) -> Any:
    """Parse types from strings COLUMN=TYPE, a JSON list of them, or a mapping."""
    if isinstance(value, str):
        value = strings_of_json(value) or tuple(part for part in value.split(",") if part.strip())
    if isinstance(value, Mapping):
        value = [f"{name}={kind}" for name, kind in value.items()]
    if not isinstance(value, Sequence):
        return value
    return tuple(_parse_type(v) if isinstance(v, str) else v for v in value)


def _parse_type(text: str) -> TypeChoice:
    name, mark, kind = text.rpartition("=")
    kind = kind.strip().lower()
    if not mark or not name.strip():
        raise OptionError(
            f"The type {text[:SHOWN]!r} names no column; write it as COLUMN=TYPE, as in "
            "zip=category."
        )
    if kind not in _TYPES:
        near = difflib.get_close_matches(kind, _TYPES, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(_TYPES)}."
        raise OptionError(f"There is no type {kind[:SHOWN]!r} of a column; {hint}")
    return TypeChoice(name.strip(), kind)  # type: ignore[arg-type]


ColumnTypes = Annotated[tuple[TypeChoice, ...], BeforeValidator(parse_types)]
