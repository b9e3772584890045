"""Reading a single row to explain as a table like the training table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from arboleda._engine.numbers import is_missing
from arboleda.explain._rows import TableRows, read_rows

__all__ = ["as_one_row"]


def as_one_row(row: Any, like: TableRows, estimator: Any) -> TableRows:
    """Read a row, given by itself or as a table of one row.

    Parameters
    ----------
    row : table of one row, or array-like, Series or mapping of shape (n_features,)
        Values of a mapping or Series are matched by column name, others by position.
    like : TableRows
        The training rows: a row that is not a table is converted to their container and types.
    estimator : estimator
        Provides column names if the table has none.

    Returns
    -------
    TableRows

    Raises
    ------
    ValueError
        If there is more than one row, or the columns are not those of the training rows.
    """
    table = row if _is_table(row) else _as_table(row, like)
    categorical = np.array(like.categorical)
    columns = _count_columns(table)
    if columns is not None and columns != like.n_columns:
        raise ValueError(
            f"the row has {columns} columns, but X_train has {like.n_columns}: give the same "
            "columns"
        )
    one = read_rows(table, estimator, categorical)
    if one.n_rows != 1:
        raise ValueError(
            f"explain() takes one row, got {one.n_rows}: give X.iloc[[i]] for a frame, or X[i] for "
            "an array"
        )
    if one.names != like.names:
        wrong = next(j for j, name in enumerate(one.names) if name != like.names[j])
        raise ValueError(
            f"column {wrong} of the row is {one.names[wrong]!r}, but {like.names[wrong]!r} in "
            "X_train: give the same columns in the same order"
        )
    return one


def _is_table(row: Any) -> bool:
    if isinstance(row, Mapping):
        return False
    shape = getattr(row, "shape", None)
    if shape is not None:
        return len(shape) == 2
    try:
        return bool(np.ndim(row) == 2)
    except ValueError:  # a ragged list
        return False


def _count_columns(table: Any) -> int | None:
    shape = getattr(table, "shape", None) or np.shape(table)
    return int(shape[1]) if len(shape) == 2 else None


def _as_table(row: Any, like: TableRows) -> Any:
    values = _order_values(row, like)
    native = like.native
    if sparse.issparse(native):
        return sparse.csr_matrix(np.asarray(values, dtype=native.dtype)[np.newaxis])
    if isinstance(native, np.ndarray):
        one = np.empty((1, len(values)), dtype=object)
        one[0] = values
        return one if native.dtype == object else one.astype(np.asarray(values).dtype)
    if nw.dependencies.is_pandas_dataframe(native):
        held = [_missing_as_none(value) for value in values]
        return type(native)([held], columns=native.columns).astype(native.dtypes.to_dict())
    frame = nw.from_native(native, eager_only=True)
    columns = {
        name: [_missing_as_none(value)] for name, value in zip(frame.columns, values, strict=True)
    }
    made = nw.from_dict(columns, backend=frame.implementation)
    return made.with_columns(nw.col(n).cast(t) for n, t in frame.schema.items()).to_native()


def _order_values(row: Any, like: TableRows) -> list[Any]:
    """Return the values of a row in the column order of the training table."""
    if nw.dependencies.is_pandas_series(row):
        named = {str(name): value for name, value in row.items()}
        if len(named) == len(row) and set(named) == set(like.names):
            row = named
    if isinstance(row, Mapping):
        named = {str(name): value for name, value in row.items()}
        absent = [name for name in like.names if name not in named]
        unknown = sorted(named.keys() - set(like.names))
        if absent or unknown:
            fault = (
                f"lacks the column {absent[0]!r} of X_train"
                if absent
                else f"has the column {unknown[0]!r}, which X_train does not have"
            )
            raise ValueError(f"the row {fault}: give exactly the columns of X_train")
        return [named[name] for name in like.names]
    try:
        values = list(row)
    except TypeError as error:
        raise TypeError(
            f"the row must be a table of one row, an array, a Series or a dict, got {row!r}"
        ) from error
    if len(values) != like.n_columns:
        raise ValueError(
            f"the row has {len(values)} values, but X_train has {like.n_columns} columns"
        )
    return values


def _missing_as_none(value: Any) -> Any:
    return None if is_missing(value) else value
