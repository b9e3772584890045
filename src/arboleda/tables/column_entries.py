"""The columns of a study in the index of its models, written and read with checks."""

from typing import Any

import numpy as np

from arboleda.tables.column_conversion import RawColumn
from arboleda.tables.column_formats import format_from_dict, format_to_dict, get_value_kind
from arboleda.tables.date_parts import PARTS
from arboleda.tables.text_encoding import encoding_from_dict

__all__ = ["check_choice", "check_list", "check_text", "format_column", "parse_column"]

_KINDS = ("numeric", "categorical", "boolean", "datetime", "text", "list")


def format_column(column: RawColumn) -> dict[str, Any]:
    """Convert a column to plain values."""
    entry: dict[str, Any] = {"name": column.name, "kind": column.kind}
    entry["levels"] = list(column.levels)
    if column.merged:
        entry["merged"] = dict(column.merged)
    if column.format is not None:
        entry["format"] = format_to_dict(column.format)
    if column.words_of is not None:
        entry["words_of"] = column.words_of
    if column.encoding is not None:
        entry["encoding"] = column.encoding.to_dict()
    if column.has_words:
        entry["has_words"] = True
    if column.parts:
        entry["parts"] = list(column.parts)
    return entry


def parse_column(entry: Any) -> RawColumn:
    """Return the column of plain values; raise a ValueError, KeyError or TypeError for others."""
    levels = tuple(check_text(level) for level in check_list(entry["levels"]))
    if len(set(levels)) != len(levels):
        raise ValueError("a column lists a level twice")
    pairs = entry.get("merged", {})
    if not isinstance(pairs, dict):
        raise TypeError("the merged values of a column are not an object")
    merged = tuple((check_text(old), check_text(new)) for old, new in pairs.items())
    kind = check_choice(_KINDS, entry["kind"])
    if merged and kind == "datetime":
        raise ValueError(f"values of the kind {kind} cannot be merged")
    if kind == "numeric":
        for pair in merged:
            np.array(pair, dtype=np.float64)
    form = None if entry.get("format") is None else format_from_dict(entry["format"])
    words_of = None if entry.get("words_of") is None else check_text(entry["words_of"])
    encoding = None if entry.get("encoding") is None else encoding_from_dict(entry["encoding"])
    if (encoding is None) != (kind not in ("text", "list")):
        raise ValueError("a text has no encoding, or another column has one")
    is_worded = kind == "categorical" and form is not None
    if form is not None and not is_worded and kind != get_value_kind(form):
        raise ValueError("the format of a column does not match its kind")
    if (words_of is not None) != is_worded:
        raise ValueError("words stand beside no column")
    has_words = entry.get("has_words", False)
    if not isinstance(has_words, bool):
        raise TypeError("whether a column has words is not true or false")
    parts = tuple(check_choice(tuple(PARTS), part) for part in entry.get("parts", ()))
    if bool(parts) != (kind == "datetime") or len(set(parts)) != len(parts):
        raise ValueError("a date has no parts, or a part twice, or another column has some")
    name = check_text(entry["name"])
    return RawColumn(name, kind, levels, merged, form, words_of, encoding, has_words, parts)


def check_choice(allowed: tuple[str, ...], value: Any) -> Any:
    """Return a value that is allowed; else raise a ValueError."""
    if value not in allowed:
        raise ValueError(f"{str(value)[:60]!r} is not one of {', '.join(allowed)}")
    return value


def check_text(value: Any) -> str:
    """Return a value that is a text; else raise a TypeError or ValueError."""
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:60]} is not a string")
    value.encode()  # a lone surrogate, which JSON allows, raises a ValueError
    return value


def check_list(value: Any) -> list[Any]:
    """Return a value that is a list; else raise a TypeError."""
    if not isinstance(value, list):
        raise TypeError(f"{str(value)[:60]} is not an array")
    return value
