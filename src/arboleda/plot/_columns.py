"""Conversion of column values for plots: numbers, categories and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._numbers import plain

__all__ = ["as_numbers", "format_value", "is_missing"]


def is_missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which values are None or NaN."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([_is_missing_value(value) for value in values], dtype=bool)


def as_numbers(values: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Convert values to numbers, NaN where missing; None if the values are categories."""
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    if values.dtype.kind != "O":
        return None
    kinds = (int, float, np.number)
    if not all(
        _is_missing_value(v) or (isinstance(v, kinds) and not isinstance(v, bool)) for v in values
    ):
        return None
    return np.array([np.nan if _is_missing_value(v) else float(v) for v in values])


def format_value(value: Any) -> str:
    """Format a value for a label: a number with few digits, a category in full."""
    if _is_missing_value(value):
        return "missing"
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    return plain(float(value)) if isinstance(value, int | float | np.number) else str(value)


def _is_missing_value(value: Any) -> bool:
    # NaN and pandas' NaT differ from themselves; pandas' NA has no truth value.
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124
