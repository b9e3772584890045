"""Splits that trees begin with, as nested dicts of columns and thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from arboleda._engine.column_options import find_column
from arboleda._engine.columns import Schema

__all__ = ["read_forced_splits"]


def read_forced_splits(
    forced_splits: Any, schema: Schema
) -> tuple[list[tuple[int, float, int, int]], int]:
    """Return the splits that trees begin with, and their depth.

    Parameters
    ----------
    forced_splits : dict or None
        Keys "feature", "threshold", and optionally "left" and "right" with further such dicts.
    schema : Schema

    Returns
    -------
    splits : list of tuples
        Column, threshold, and the positions of the splits of the left and the right side in the
        list, or -1; parents come before their children.
    depth : int
        Number of splits on the longest path.

    Raises
    ------
    ValueError
        If a dict has other keys or lacks one, a column is unknown or categorical, or a threshold is
        not a finite number.
    """
    splits: list[tuple[int, float, int, int]] = []
    depth = 0
    level = [] if forced_splits is None else [forced_splits]
    while level:
        depth += 1
        first_child = len(splits) + len(level)
        children: list[Any] = []
        for split in level:
            column, threshold = _read_forced_split(split, schema)
            left = first_child + len(children) if split.get("left") is not None else -1
            children += [] if left < 0 else [split["left"]]
            right = first_child + len(children) if split.get("right") is not None else -1
            children += [] if right < 0 else [split["right"]]
            splits.append((column, threshold, left, right))
        level = children
    return splits, depth


def _read_forced_split(split: Any, schema: Schema) -> tuple[int, float]:
    """Check and return the column and the threshold of one forced split."""
    keys = ("feature", "threshold", "left", "right")
    if not isinstance(split, Mapping) or not {"feature", "threshold"} <= split.keys():
        raise ValueError(
            "forced_splits must be nested dicts with the keys 'feature' and 'threshold', and "
            f"optionally 'left' and 'right', got {split!r}"
        )
    unknown = [key for key in split if key not in keys]
    if unknown:
        raise ValueError(
            f"forced_splits has the key {unknown[0]!r}; the keys are {', '.join(map(repr, keys))}"
        )
    column = find_column(split["feature"], schema, "forced_splits")
    threshold = split["threshold"]
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not is_number or not math.isfinite(threshold):
        raise ValueError(
            f"the threshold of column {schema.describe(column)} in forced_splits must be a finite "
            f"number, got {threshold!r}"
        )
    if schema.levels[column] is not None:
        raise ValueError(
            f"forced_splits names column {schema.describe(column)}, which is categorical: forced "
            "splits are supported for numeric columns only"
        )
    return column, float(threshold)
