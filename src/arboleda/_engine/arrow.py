"""Conversion of newer Arrow column layouts to plain ones that all libraries support.

The values are the same: views of text or bytes become text or bytes, run-end encoding is expanded.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

__all__ = ["to_plain_arrow", "to_plain_column", "to_plain_pandas"]


def to_plain_arrow(table: Any) -> Any:
    """Return a `pyarrow.Table` with plain layouts; the same object if all are plain."""
    for place, field in enumerate(table.schema):
        if not _is_plain(field.type):
            table = table.set_column(place, field.name, to_plain_column(table.column(place)))
    return table


def to_plain_pandas(frame: Any) -> Any:
    """Return a pandas frame with plain layouts in columns of Arrow types."""
    odd = [
        place
        for place, dtype in enumerate(frame.dtypes)
        if hasattr(dtype, "pyarrow_dtype") and not _is_plain(dtype.pyarrow_dtype)
    ]
    if not odd:
        return frame
    arrow, pandas = sys.modules["pyarrow"], sys.modules["pandas"]
    frame = frame.copy(deep=False)
    for place in odd:
        data = arrow.chunked_array(frame.iloc[:, place].array.__arrow_array__())
        frame.isetitem(place, pandas.arrays.ArrowExtensionArray(to_plain_column(data)))
    return frame


def to_plain_column(data: Any) -> Any:
    """Return a `pyarrow.ChunkedArray` with a plain layout."""
    if _is_plain(data.type):
        return data
    arrow = sys.modules["pyarrow"]
    chunks = [_plain(chunk) for chunk in data.chunks]
    return arrow.chunked_array(chunks, None if chunks else _plain_type(data.type))


def _is_plain(kind: Any) -> bool:
    return bool(_plain_type(kind) is kind)


def _plain_type(kind: Any) -> Any:
    """Return the plain type of the same values; the same object if it is plain."""
    arrow = sys.modules["pyarrow"]
    named = str(kind)  # older versions of pyarrow have no predicates for views
    if named == "string_view":
        return arrow.large_string()
    if named == "binary_view":
        return arrow.large_binary()
    if named.startswith("run_end_encoded"):
        return _plain_type(kind.value_type)
    if arrow.types.is_dictionary(kind):
        levels = kind.value_type
        plain = _plain_type(levels)
        if plain is not levels:
            return arrow.dictionary(kind.index_type, plain, kind.ordered)
    return kind


def _plain(array: Any) -> Any:
    arrow = sys.modules["pyarrow"]
    kind = array.type
    if _is_plain(kind):
        return array
    if arrow.types.is_dictionary(kind):
        values = _plain(array.dictionary)
        return arrow.DictionaryArray.from_arrays(array.indices, values, ordered=kind.ordered)
    if str(kind).startswith("run_end_encoded"):
        ends = array.run_ends.to_numpy(zero_copy_only=False)
        rows = np.arange(array.offset, array.offset + len(array))  # indices in the parent array
        return _plain(array.values).take(arrow.array(np.searchsorted(ends, rows, side="right")))
    return array.cast(_plain_type(kind))
