"""One table of parts of the same kind, for functions of the caller that read a whole table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

__all__ = ["join_tables"]


def join_tables(parts: Sequence[Any]) -> Any:
    """Return the rows of some tables of one kind in one table of that kind.

    Frames have the columns of the first one, found by name; the categories of a column of pandas
    are united, in the order in which they appear.

    Parameters
    ----------
    parts : sequence of ndarray, sparse matrix, list of rows, or frame
        At least one.

    Raises
    ------
    TypeError
        If they are of several kinds.
    """
    kinds = list(dict.fromkeys(type(part).__name__ for part in parts))
    if len(kinds) > 1:
        raise TypeError(
            f"scoring is a function of one table, and the partitions of X are of several kinds "
            f"({', '.join(kinds)}): give partitions of one kind, or the name of a metric"
        )
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, list):
        return list(chain(*parts))
    if sparse.issparse(first):
        return sparse.vstack(parts, format=first.format)
    if nw.dependencies.is_pandas_dataframe(first):
        return _join_pandas(parts)
    if nw.dependencies.is_polars_dataframe(first):
        import polars as pl

        return pl.concat([part.select(first.columns) for part in parts], how="vertical_relaxed")
    if nw.dependencies.is_pyarrow_table(first):
        import pyarrow as pa

        tables = [part.select(first.column_names) for part in parts]
        return pa.concat_tables(tables, promote_options="permissive")
    return np.concatenate([np.asarray(part) for part in parts])


def _join_pandas(parts: Sequence[Any]) -> Any:
    import pandas as pd

    frames = [part[parts[0].columns] for part in parts]
    united = {}
    for name, dtype in parts[0].dtypes.items():
        columns = [frame[name] for frame in frames]
        types = {column.dtype for column in columns}
        if len(types) > 1 and all(isinstance(each, pd.CategoricalDtype) for each in types):
            joined = pd.api.types.union_categoricals(columns, ignore_order=True)
            united[name] = pd.CategoricalDtype(joined.categories, ordered=dtype.ordered)
    return pd.concat([frame.astype(united) for frame in frames] if united else frames)
