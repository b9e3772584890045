"""Column-wise reading of pandas, polars and Arrow frames, without importing these libraries."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from arboleda._engine.arrays import ArraySource, to_plain_arrow, to_plain_pandas
from arboleda._engine.columns import Name
from arboleda._engine.encoding import (
    LabelColumn,
    check_engine_numbers,
    convert_labels_to_numbers,
    convert_objects_to_numbers,
    encode_array_labels,
    encode_object_labels,
    is_missing,
)
from arboleda._engine.labels import UnreadableLabelError

Frame = nw.DataFrame[Any]
Series = nw.Series[Any]


def _types(*names: str) -> tuple[type[Any], ...]:
    """Return the column types that exist in the installed version of narwhals."""
    return tuple(getattr(nw, name) for name in names if hasattr(nw, name))


_LABELLED = _types("Categorical", "Enum", "String")
_DATED = _types("Date", "Datetime", "Duration", "Time")
_NESTED = _types("List", "Array", "Struct")
_FEW_ROWS = 1000
_CAST = _types("Decimal", "Int128", "UInt128")  # not supported by NumPy


def as_frame(X: Any) -> Frame | None:
    """Return X as a narwhals frame, or None if it is not a frame.

    Raises
    ------
    ValueError
        If two columns have the same name, or the frame is lazy.
    """
    if isinstance(X, np.ndarray | list | tuple):  # skip narwhals' slow search for plugins
        return None
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(X, arrow.RecordBatch):
        X = arrow.Table.from_batches([X])
    if arrow is not None and isinstance(X, arrow.Table):
        X = to_plain_arrow(X)
    elif arrow is not None and nw.dependencies.is_pandas_dataframe(X):
        X = to_plain_pandas(X)
    if not nw.dependencies.is_into_dataframe(X):
        if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
            raise ValueError("X is a lazy frame: call collect() first")
        return None
    names = list(getattr(X, "column_names", X.columns))
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"X has more than one column named {twice[0]!r}: rename or drop one")
    frame: Frame = nw.from_native(X, eager_only=True)
    return frame


def get_column_names(frame: Frame) -> tuple[Name, ...] | None:
    """Return the names of columns if they are text, integers, or tuples of these, else None."""
    names = [_plain_name(name) for name in frame.columns]
    plain = tuple(name for name in names if name is not None)
    return plain if len(plain) == len(names) else None


def read_frame(frame: Frame, order: list[int] | None = None) -> ArraySource | FrameSource:
    """Return the columns of a frame in the model's order.

    Small pandas frames of a single type are converted at once, which is much faster for wide tables
    than reading column by column.
    """
    native = frame.to_native()
    if frame.shape[0] <= _FEW_ROWS and nw.dependencies.is_pandas_dataframe(native):
        types = set(native.dtypes)
        if len(types) == 1 and isinstance(kind := types.pop(), np.dtype) and kind.kind in "fiub":
            array = native.to_numpy()
            return ArraySource(array if order is None else array[:, order])
    return FrameSource(frame, order)


class FrameSource:
    """The columns of a frame in the model's order."""

    def __init__(self, frame: Frame, order: list[int] | None = None) -> None:
        columns = [frame.get_column(name) for name in frame.columns]
        self._columns = columns if order is None else [columns[j] for j in order]
        self.n_rows = len(frame)
        self.n_columns = len(self._columns)

    def is_labelled(self, column: int) -> bool:
        """Return whether the type of the column is categorical or text."""
        return is_labelled(self._columns[column])

    def numbers(self, column: int, place: str) -> npt.NDArray[Any]:
        """Return the column as finite numbers of a type that the engine supports."""
        return check_engine_numbers(read_numbers(self._columns[column], place), place)

    def labels(self, column: int, place: str) -> LabelColumn:
        """Return the column as labels."""
        return read_labels(self._columns[column], place)


def is_labelled(series: Series) -> bool:
    """Return whether the type of a column is categorical, an enumeration or text."""
    if series.dtype != nw.Object:
        return isinstance(series.dtype, _LABELLED)
    values = series.to_numpy().tolist()
    others = {kind for kind in set(map(type, values)) if not issubclass(kind, str)}
    if len(others) == 0:
        return True
    gaps = all(is_missing(value) for value in values if type(value) in others)
    return gaps and any(isinstance(value, str) for value in values)


def read_numbers(series: Series, place: str) -> npt.NDArray[Any]:
    """Return a column as numbers, a view if possible; missing values are NaN.

    Raises
    ------
    ValueError
        If a value is not a number; the message names the first one.
    """
    dtype = series.dtype
    refusal = _no_numbers(dtype)
    if refusal is not None:
        raise ValueError(f"column {place} of X has {refusal}")
    if isinstance(dtype, _LABELLED):
        return convert_labels_to_numbers(read_labels(series, place), f"column {place} of X")
    if isinstance(dtype, _CAST) or (dtype == nw.Boolean and series.null_count()):
        series = series.cast(nw.Float64)
    values = series.to_numpy()
    if values.dtype.kind in "fiub":
        return values
    return convert_objects_to_numbers(values.astype(object), f"column {place} of X")


def read_labels(series: Series, place: str) -> LabelColumn:
    """Return a column as labels.

    Raises
    ------
    ValueError
        If a value cannot be a label.
    """
    native = series.to_native()
    try:
        if nw.dependencies.is_polars_series(native):
            return _polars_labels(series)
        if nw.dependencies.is_pyarrow_chunked_array(native):
            return _arrow_labels(native)
        if nw.dependencies.is_pandas_series(native):
            return _pandas_labels(native)
        return encode_object_labels(series.to_numpy().astype(object))
    except UnreadableLabelError as error:
        raise ValueError(f"column {place} of X: {error}") from error


def _no_numbers(dtype: Any) -> str | None:
    """Describe a type that cannot be converted to numbers, with a remedy; None otherwise."""
    if isinstance(dtype, _DATED):
        return (
            "dates or durations: convert them to numbers, or include the column in "
            "categorical_features"
        )
    return (
        f"values of type {dtype}: split them into columns" if isinstance(dtype, _NESTED) else None
    )


def _pandas_labels(native: Any) -> LabelColumn:
    if native.dtype == object:
        return encode_object_labels(native.to_numpy())
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):
        categories = native.cat.categories
        codes = native.cat.codes.to_numpy()
        return LabelColumn(codes, lambda wanted: categories[wanted].tolist())
    codes, labels = native.factorize()
    return LabelColumn(codes, lambda wanted: labels[wanted].tolist())


def _arrow_labels(native: Any) -> LabelColumn:
    arrow = sys.modules["pyarrow"]
    try:
        if not arrow.types.is_dictionary(native.type):
            native = native.dictionary_encode()
    except arrow.ArrowNotImplementedError as error:
        raise UnreadableLabelError(
            f"it has values of type {native.type}: split them into columns"
        ) from error
    whole = native.unify_dictionaries().combine_chunks()
    codes = whole.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return LabelColumn(codes, lambda wanted: whole.dictionary.take(wanted).to_pylist())


def _polars_labels(series: Series) -> LabelColumn:
    dtype = series.dtype
    if isinstance(dtype, (*_NESTED, *_types("Binary"))):
        raise UnreadableLabelError(f"it has values of type {dtype}: split them into columns")
    if dtype == nw.String:
        series = series.cast(nw.Categorical)
    elif not isinstance(dtype, _LABELLED):
        if dtype.is_numeric() and not isinstance(dtype, _CAST):
            return encode_array_labels(series.to_numpy())
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        return encode_object_labels(values)
    # Physical codes of polars are shared by all columns: keep only those present.
    native = series.to_native()
    numbers = nw.from_native(native.to_physical(), series_only=True).cast(nw.Int64)
    found, first, codes = np.unique(
        numbers.fill_null(-1).to_numpy(), return_index=True, return_inverse=True
    )
    codes = np.where(found[codes] < 0, -1, codes)
    return LabelColumn(codes, lambda wanted: native.gather(first[wanted]).to_list())


def _plain_name(name: Any) -> Name | None:
    if isinstance(name, str):
        return str(name)
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return int(name)
    if isinstance(name, tuple):
        parts = [_plain_name(part) for part in name]
        plain = tuple(part for part in parts if isinstance(part, str | int))
        return plain if len(plain) == len(name) else None
    return None
