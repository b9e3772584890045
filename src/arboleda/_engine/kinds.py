"""Selection of the categorical columns."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.categories import LabelColumn
from arboleda._engine.schema import Name


class Source(Protocol):
    """Interface to the columns of a table in any container."""

    n_rows: int
    n_columns: int

    def is_labelled(self, column: int) -> bool:
        """Return whether the type of the column is categorical or text."""

    def numbers(self, column: int, place: str) -> npt.NDArray[Any]:
        """Return the column as finite numbers of a type that the engine supports."""

    def labels(self, column: int, place: str) -> LabelColumn:
        """Return the column as labels."""


def selects_categories(categorical_features: Any) -> bool:
    """Return whether the parameter selects columns explicitly."""
    if categorical_features is None or isinstance(categorical_features, str):
        return False
    return np.size(categorical_features) > 0


def find_categorical_columns(
    categorical_features: Any, source: Source, names: tuple[Name, ...] | None
) -> list[bool]:
    """Return for each column whether it is categorical.

    Parameters
    ----------
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        As in scikit-learn's histogram-based gradient boosting.
    source : Source
    names : tuple or None
        Names of the columns.

    Raises
    ------
    ValueError
        If a name or index is unknown, or a mask has the wrong length.
    """
    if isinstance(categorical_features, str):  # "from_dtype"
        return [source.is_labelled(j) for j in range(source.n_columns)]
    return select_columns(categorical_features, source.n_columns, names, "categorical_features")


def select_columns(
    given: Any, n_columns: int, names: tuple[Name, ...] | None, parameter: str
) -> list[bool]:
    """Return for each column whether a parameter selects it.

    Parameters
    ----------
    given : None, or array-like of bool, int or str
        A mask, indices or names.
    n_columns : int
    names : tuple or None
        Names of the columns.
    parameter : str
        Name of the parameter in messages.

    Raises
    ------
    ValueError
        If a name or index is unknown, or a mask has the wrong length.
    """
    chosen = [False] * n_columns
    if not selects_categories(given):
        return chosen
    array = np.asarray(given)
    if array.dtype.kind == "U":  # NumPy would convert indices to text
        array = np.asarray(given, dtype=object)
    if array.ndim != 1 or array.dtype.kind not in "biuUO":
        raise ValueError(
            f"{parameter} must be an array-like of bool, int or str, got: {array.dtype.name}. Pass "
            f"names, indices or a mask instead of {given!r}"
        )
    if array.dtype.kind == "b":
        if array.size != n_columns:
            raise ValueError(
                f"{parameter} set as a boolean mask must have shape (n_features,), got "
                f"{array.size} entries for {n_columns} columns"
            )
        return [bool(flag) for flag in array]
    for item in array.tolist():
        chosen[_place(item, n_columns, names, parameter)] = True
    return chosen


def _place(item: Any, n_columns: int, names: tuple[Name, ...] | None, parameter: str) -> int:
    if isinstance(item, str):
        if names is None:
            raise ValueError(
                f"{parameter} should be passed as an array of integers or as a boolean mask when "
                f"the model is fitted on data without feature names. Got the name {item!r}"
            )
        if item not in names:
            raise ValueError(
                f"{parameter} has an item value {item!r} which is not a valid feature name of the "
                f"training data. Its columns are {', '.join(map(repr, names[:20]))}"
                f"{', ...' if len(names) > 20 else ''}"
            )
        return names.index(item)
    if not isinstance(item, int) or isinstance(item, bool):
        raise TypeError(
            f"{parameter} must be an array-like of bool, int or str, got: {type(item).__name__} "
            f"({item!r})"
        )
    if not 0 <= item < n_columns:
        raise ValueError(
            f"{parameter} set as integer indices must be in [0, n_features - 1] = [0, "
            f"{n_columns - 1}], got {item}"
        )
    return item
