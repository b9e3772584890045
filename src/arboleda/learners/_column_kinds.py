"""Kinds of columns: Gaussian, Bernoulli or categorical."""

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
    """Return the kind of distribution of each column.

    Parameters
    ----------
    X : array-like or frame
        X of `fit`, from which the types of columns are read.
    table : Table
        The columns of X.
    schema : Schema
        Schema with the categorical columns.
    binary_features : "from_dtype", None, or array-like of bool, int or str

    Returns
    -------
    kinds : list of {"gaussian", "bernoulli", "categorical"}

    Raises
    ------
    ValueError
        If a named column does not exist, is categorical, or has values other than 0 and 1.
    """
    if isinstance(binary_features, str):  # "from_dtype"
        binary = _boolean_columns(X, table.n_columns)
    else:
        binary = select_columns(binary_features, table.n_columns, schema.names, "binary_features")
    kinds: list[ColumnKind] = []
    for j, (kind, is_binary) in enumerate(zip(schema.kinds, binary, strict=True)):
        if kind == "categorical":
            if is_binary and not isinstance(binary_features, str):
                raise ValueError(
                    f"column {schema.describe(j)} is named by binary_features and is categorical: "
                    "remove it from one of the two"
                )
            kinds.append("categorical")
        else:
            if is_binary:
                check_binary(table.columns[j], schema.describe(j))
            kinds.append("bernoulli" if is_binary else "gaussian")
    return kinds


def check_binary(column: Column, place: str) -> None:
    """Check that all values are 0, 1 or missing.

    Raises
    ------
    ValueError
        If there is another value; the message names its row.
    """
    other = ~((column == 0) | (column == 1) | np.isnan(column))
    if other.any():
        row = int(np.flatnonzero(other)[0])
        raise ValueError(
            f"column {place} of X is binary, but holds {column[row]} in row {row}: values must be "
            "0, 1 or missing; remove the column from binary_features to treat it as Gaussian"
        )


def _boolean_columns(X: Any, n_columns: int) -> list[bool]:
    frame = as_frame(X)
    if frame is not None:
        return [frame.get_column(name).dtype == nw.Boolean for name in frame.columns]
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    return [kind == "b"] * n_columns
