"""Formatting of numbers, arrays and strings in C."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._visible import visible

NumberType = Literal["float64", "float32"]

_WIDTH = 96
_INTEGERS = (("int8_t", np.int8), ("int16_t", np.int16), ("int32_t", np.int32))


def format_number(value: float, dtype: NumberType) -> str:
    """Format a number as a literal that a compiler reads exactly.

    Raises
    ------
    ValueError
        If the number overflows float32.
    """
    if np.isinf(value):
        return "INFINITY" if value > 0.0 else "-INFINITY"
    if dtype == "float64":
        return repr(float(value))
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if np.isinf(single):
        raise ValueError(
            f"the model contains the number {value:g}, which overflows float32: export it with "
            "number_type='float64'"
        )
    return f"{single!s}f"


def define_numbers(name: str, values: Iterable[float], dtype: NumberType) -> str:
    """Define a constant array of numbers."""
    return _define_array("number", name, [format_number(value, dtype) for value in values])


def define_integers(name: str, values: npt.NDArray[Any]) -> str:
    """Define a constant array of the smallest integer type that holds the values."""
    low, high = int(values.min()), int(values.max())
    for kind, numpy_kind in _INTEGERS:
        limits = np.iinfo(numpy_kind)
        if limits.min <= low and high <= limits.max:
            return _define_array(kind, name, [str(value) for value in values.tolist()])
    raise ValueError("the model has too many nodes for 32-bit indices: export fewer trees")


def format_string(value: str) -> str:
    """Format a string literal in ASCII."""
    found = []
    for byte in value.encode("utf-8", "backslashreplace"):
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        found.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(found)}"'


def format_comment(value: Any) -> str:
    """Format a value as one line of text within a comment."""
    shown = visible(str(value))[:80].encode("ascii", "backslashreplace").decode()
    return " ".join(shown.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").split())


def _define_array(kind: str, name: str, items: list[str]) -> str:
    lines, line = [], " "
    for item in items:
        if len(line) + len(item) + 2 > _WIDTH:
            lines.append(line)
            line = " "
        line += f" {item},"
    lines.append(line)
    return "\n".join([f"static const {kind} {name}[{len(items)}] = {{", *lines, "};"])
