"""Which columns are Gaussian, which hold yes and no, which hold categories."""

from __future__ import annotations

from typing import Any, Literal

import narwhals as nw
import numpy as np

from arboleda._engine.columns import Column, Table
from arboleda._engine.frames import as_frame
from arboleda._engine.kinds import select_columns
from arboleda._engine.schema import Schema

ColumnKind = Literal["gaussian", "bernoulli", "categorical"]


def column_kinds(X: Any, table: Table, schema: Schema, binary_features: Any) -> list[ColumnKind]:
    """Tell for each column how its values are distributed.

    Parameters
    ----------
    X : array-like or frame
        As `fit` was given it: types of columns are read from it.
    table : Table
        Its columns.
    schema : Schema
        Which of them are categorical.
    binary_features : "from_dtype", None, or array-like of bool, int or str

    Raises
    ------
    ValueError
        If a column is named that is not there or is categorical, or holds other values than 0, 1.
    """
    if isinstance(binary_features, str):  # "from_dtype"
        binary = _boolean_columns(X, table.n_columns)
    else:
        binary = select_columns(binary_features, table.n_columns, schema.names, "binary_features")
    kinds: list[ColumnKind] = []
    for j, (kind, yes_or_no) in enumerate(zip(schema.kinds, binary, strict=True)):
        if kind == "categorical":
            if yes_or_no and not isinstance(binary_features, str):
                raise ValueError(
                    f"column {schema.describe(j)} is named by binary_features and is categorical: "
                    "leave it out of one of the two"
                )
            kinds.append("categorical")
        else:
            if yes_or_no:
                check_binary(table.columns[j], schema.describe(j))
            kinds.append("bernoulli" if yes_or_no else "gaussian")
    return kinds


def check_binary(column: Column, place: str) -> None:
    """Refuse values that are not 0, 1 or missing.

    Raises
    ------
    ValueError
        If there is one; it is named with its row.
    """
    other = ~((column == 0) | (column == 1) | np.isnan(column))
    if other.any():
        row = int(np.flatnonzero(other)[0])
        raise ValueError(
            f"column {place} of X is binary, but holds {column[row]} in row {row}: give 0, 1 and "
            "missing values; or leave the column out of binary_features to have it Gaussian"
        )


def _boolean_columns(X: Any, n_columns: int) -> list[bool]:
    frame = as_frame(X)
    if frame is not None:
        return [frame.get_column(name).dtype == nw.Boolean for name in frame.columns]
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    return [kind == "b"] * n_columns
