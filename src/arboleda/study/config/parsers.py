"""Parsers of the values of options, and the types that use them.

A parser that returns an invalid value unchanged leaves it to the type of the field to reject it.
Heavy modules are imported by the parsers that need them: the command line reads the declarations of
the options without them.
"""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from arboleda._utils.errors import OptionError
from arboleda._utils.files import read_regular
from arboleda._utils.number_types import is_integer, is_real
from arboleda.study.config.schemes import parse_scheme

__all__ = [
    "SHOWN",
    "Bytes",
    "ColumnName",
    "ColumnNames",
    "ColumnTypes",
    "CostMatrix",
    "Float",
    "Int",
    "MergedValues",
    "Names",
    "Seconds",
    "TypeChoice",
    "parse_conditions",
    "parse_cv",
    "parse_metric",
    "parse_search",
    "parse_types",
    "strings_of_json",
    "to_label",
]

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d)", re.I)
_BYTES = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_BYTES |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?", re.I)
# Maximum characters of a value in a message.
SHOWN = 60


def to_int(value: Any) -> Any:
    """Convert integers of any library to int; return booleans and others unchanged."""
    return int(value) if is_integer(value) and not isinstance(value, bool) else value


def to_float(value: Any) -> Any:
    """Convert numbers of any library to float; return booleans and others unchanged."""
    return float(value) if is_real(value) and not isinstance(value, bool) else value


def parse_duration(value: Any) -> Any:
    """Convert a string such as 15m, 1h30m or 90 to seconds; return others unchanged."""
    if not isinstance(value, str):
        return to_float(value)
    text = value.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = _DURATION.findall(text)
    if not parts or _DURATION.sub("", text).strip():
        return value
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts)


def parse_size(value: Any) -> Any:
    """Convert a string such as 4GB, 512 MiB or 1000000 to bytes; return others unchanged."""
    if not isinstance(value, str):
        return to_int(value)
    match = _SIZE.fullmatch(value.strip())
    return value if match is None else int(float(match[1]) * _BYTES[match[2].lower()])


def parse_names(value: Any) -> Any:
    """Convert a comma-separated string, a JSON list or a sequence of strings to a tuple."""
    if isinstance(value, str):
        listed = strings_of_json(value)
        if listed is not None:
            return listed
        return tuple(word.strip() for word in value.split(",") if word.strip())
    if isinstance(value, Sequence):
        return tuple(w.strip() if isinstance(w, str) else w for w in value)
    return value


def strings_of_json(text: str) -> tuple[str, ...] | None:
    """Return the strings of a JSON list, which may contain commas; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return tuple(value) if is_list else None


def parse_columns(value: Any) -> Any:
    """Convert names of columns to strings: a frame's columns may be named by numbers."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return parse_names(value)
    return tuple(str(name) for name in value)


def to_label(value: Any) -> Any:
    """Convert the label of a class to its text, as the study writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_real(value):
        number = float(value)
        return f"{number:.0f}" if number == round(number) else repr(number)
    return value


def parse_conditions(value: Any) -> Any:
    """Parse conditions from a string, a JSON list or a sequence of strings; all must hold."""
    from arboleda.tables.recipe import RowCondition, parse_condition

    if isinstance(value, str):
        value = strings_of_json(value) or (value,)
    if not isinstance(value, Sequence) or not all(
        isinstance(v, (str, RowCondition)) for v in value
    ):
        raise ValueError("neither strings nor conditions")
    return tuple(parse_condition(v) if isinstance(v, str) else v for v in value)


def parse_merge(value: Any) -> Any:
    """Parse merges from a string, a sequence of strings, a mapping, or JSON of these."""
    from arboleda.tables.recipe import check_merges, parse_merges

    if isinstance(value, str):
        value = (value,)
    if isinstance(value, Sequence) and all(isinstance(v, str) for v in value):
        value = [v for text in value for v in strings_of_json(text) or (text,)]
        if len(value) == 1 and value[0].lstrip().startswith("{"):
            value = _merges_of_json(value[0])
        else:
            value = parse_merges(value)
    is_whole = isinstance(value, Mapping) and all(
        isinstance(groups, Mapping)
        and all(isinstance(old, Sequence) and not isinstance(old, str) for old in groups.values())
        for groups in value.values()
    )
    return check_merges(value) if is_whole else value


def _merges_of_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OptionError(
            f"The merges {text[:SHOWN]!r} are not JSON ({error}); write "
            '{"column": {"new": ["old", "older"]}}, or column: old, older -> new.'
        ) from error


def parse_cv(value: Any) -> Any:
    """Parse a cross-validation scheme from its name or number of folds."""
    value = to_int(value)
    return parse_scheme(str(value)) if isinstance(value, (str, int)) else value


def parse_metric(value: Any) -> Any:
    """Parse a metric from one of its names, ``module:function`` or a function."""
    from arboleda.scoring.choice import parse_metric as parse

    return parse(value)


def parse_search(value: Any) -> Any:
    """Parse a search strategy from its name."""
    from arboleda.study.search.strategies import named_search

    if not isinstance(value, str):
        raise OptionError(f"The search must be a string such as tpe:30, got {value!r}.")
    return named_search(value)


def parse_costs(value: Any) -> Any:
    """Convert costs from JSON, a JSON file or Python to a matrix or a mapping by labels.

    The forms are those of ``CostSensitiveClassifier``.
    """
    if isinstance(value, (str, Path)):
        value = _costs_from_json(str(value))
    if hasattr(value, "columns") and hasattr(value, "index"):
        value = {true: dict(row) for true, row in value.iterrows()}
    if not isinstance(value, Mapping):
        rows = value.tolist() if hasattr(value, "tolist") else value
        is_matrix = isinstance(rows, Sequence) and all(isinstance(row, Sequence) for row in rows)
        return tuple(tuple(map(to_float, row)) for row in rows) if is_matrix and rows else value
    named: dict[str, dict[str, Any]] = {}
    for key, entry in value.items():
        if isinstance(entry, Mapping):
            row = named.setdefault(str(key), {})
            row.update((str(label), to_float(cost)) for label, cost in entry.items())
        elif isinstance(key, tuple) and len(key) == 2:
            named.setdefault(str(key[0]), {})[str(key[1])] = to_float(entry)
        else:
            return value
    return named


def _costs_from_json(text: str) -> Any:
    where = "The cost matrix"
    how = '{"true class": {"predicted class": 5}} or [[0, 1], [5, 0]]'
    if not text.lstrip().startswith(("{", "[")):
        where = f"The cost matrix {text[:SHOWN]}"
        try:
            text = read_regular(Path(text)).decode()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise OptionError(
                f"{where} cannot be read ({reason}); name a JSON file, or write {how}."
            ) from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{where} is not JSON ({error}); write {how}.") from error


# Numbers of any library; combine them with int or float and limits.
Int, Float = BeforeValidator(to_int), BeforeValidator(to_float)
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(parse_duration)]
Bytes = Annotated[int, Field(gt=0), BeforeValidator(parse_size)]
Names = Annotated[tuple[str, ...], BeforeValidator(parse_names)]
ColumnName = Annotated[str, Field(min_length=1), BeforeValidator(str)]
ColumnNames = Annotated[tuple[str, ...], BeforeValidator(parse_columns)]
MergedValues = Annotated[dict[str, dict[str, tuple[str, ...]]], BeforeValidator(parse_merge)]
Cost = Annotated[float, Field(allow_inf_nan=False)]
CostMatrix = Annotated[
    dict[str, dict[str, Cost]] | tuple[tuple[Cost, ...], ...], BeforeValidator(parse_costs)
]


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
