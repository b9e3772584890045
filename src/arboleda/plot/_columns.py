"""Values of a column as they are to be drawn: numbers, categories, missing ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._numbers import plain

__all__ = ["as_numbers", "is_missing", "value_text"]


def is_missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Tell which values are None or not a number."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([_nothing(value) for value in values], dtype=bool)


def as_numbers(values: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Read numbers, NaN where they are missing; None where the values are categories."""
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    if values.dtype.kind != "O":
        return None
    kinds = (int, float, np.number)
    if not all(_nothing(v) or (isinstance(v, kinds) and not isinstance(v, bool)) for v in values):
        return None
    return np.array([np.nan if _nothing(v) else float(v) for v in values])


def value_text(value: Any) -> str:
    """Write a value in a label: few digits of a number, a category in full."""
    if _nothing(value):
        return "missing"
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    return plain(float(value)) if isinstance(value, int | float | np.number) else str(value)


def _nothing(value: Any) -> bool:
    # NaN and pandas' NaT differ from themselves; its NA does not say, and is no truth value.
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124
