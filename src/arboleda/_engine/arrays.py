"""Column-wise reading of arrays, Arrow layouts and sparse matrices.

The values are the same: views of text or bytes become text or bytes, run-end encoding is expanded.

Tables read here pass all checks of the general code; all others are left to the general code, which
raises detailed errors.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_n_features, validate_data

from arboleda._engine.columns import DenseTable, Schema, SparseTable
from arboleda._engine.encoding import (
    LabelColumn,
    check_engine_numbers,
    convert_objects_to_numbers,
    encode_array_labels,
    encode_object_labels,
    find_infinite_columns,
    has_infinity,
    to_engine_type,
)
from arboleda._engine.labels import UnreadableLabelError
from arboleda._utils.sparse import check_sparse

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


_MOST = np.iinfo(np.int32).max


def read_sparse(estimator: object, X: Any, *, reset: bool) -> SparseTable:
    """Validate a sparse matrix and convert it to canonical form, without modifying the input.

    Duplicate entries are summed; explicit zeros equal implicit ones; NaN is missing.

    Parameters
    ----------
    estimator : object
        Estimator whose number of columns is set or compared.
    X : sparse matrix or array of shape (n_samples, n_features)
        Of any format.
    reset : bool
        Whether the estimator is being fitted.

    Raises
    ------
    ValueError
        If its arrays are invalid, a value is infinite or not a number, or the shape is wrong.
    """
    check_sparse(X)
    matrix = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csc", "csr"],
        dtype="numeric",
        ensure_all_finite=False,
    )
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X has values of type {matrix.dtype}: convert them to numbers")
    if max(matrix.shape) > _MOST:
        raise ValueError(
            f"X has shape {matrix.shape}: sparse matrices support at most {_MOST:,} rows and "
            "columns"
        )
    # SciPy caches whether entries are sorted, which is wrong if its arrays were modified.
    matrix = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    try:
        data = check_engine_numbers(matrix.data, "of a sparse matrix")
    except ValueError:
        entries = matrix.tocoo()
        first = np.flatnonzero(np.isinf(entries.data))[0]
        row, column = entries.row[first], entries.col[first]
        raise ValueError(
            f"Input X contains infinity: column {column}, row {row} is {entries.data[first]}. "
            "Replace it by NaN if the value is missing, or by a finite number"
        ) from None
    if data is not matrix.data:
        matrix = type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return SparseTable(matrix)


class ArraySource:
    """The columns of a two-dimensional array."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        # Converting all columns at once is much faster for row-major arrays.
        self._array = to_engine_type(array) if array.dtype.kind in "fiub" else array
        self._infinite = find_infinite_columns(self._array)
        self.n_rows, self.n_columns = array.shape

    def is_labelled(self, column: int) -> bool:
        """Return False, as the type of an array does not distinguish columns."""
        del column
        return False

    def numbers(self, column: int, place: str) -> npt.NDArray[Any]:
        """Return the column as finite numbers of a type that the engine supports."""
        values = self._array[:, column]
        if values.dtype.kind in "Mm":
            raise ValueError(f"column {place} of X has dates or durations: convert them to numbers")
        if values.dtype.kind in "fiub" and not self._infinite[column]:
            return values
        if values.dtype.kind not in "fiub":
            values = convert_objects_to_numbers(values.astype(object), f"column {place} of X")
        return check_engine_numbers(values, place)

    def labels(self, column: int, place: str) -> LabelColumn:
        """Return the column as labels."""
        values = self._array[:, column]
        try:
            return (encode_object_labels if values.dtype.kind == "O" else encode_array_labels)(
                values
            )
        except UnreadableLabelError as error:
            raise ValueError(f"column {place} of X: {error}") from error


def read_array(estimator: object, X: Any, *, reset: bool, labelled: bool) -> ArraySource:
    """Validate the shape and number of columns with scikit-learn, without copying typed arrays.

    Parameters
    ----------
    estimator : object
        Estimator whose number of columns is set or compared.
    X : array-like of shape (n_samples, n_features)
    reset : bool
        Whether the estimator is being fitted.
    labelled : bool
        Whether some column is categorical, so that text is allowed.

    Raises
    ------
    ValueError
        If X has the wrong shape, or values that are not numbers although they must be.
    """
    if reset and type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "fiub":
        # Fast path for arrays that scikit-learn would return unchanged.
        _check_n_features(estimator, X, reset=True)
        vars(estimator).pop("feature_names_in_", None)
        return ArraySource(X)
    if isinstance(X, np.ma.MaskedArray):  # scikit-learn would ignore the mask
        hidden, X = np.ma.getmaskarray(X), np.ma.getdata(X).astype(object)
        X[hidden] = None
    if labelled and isinstance(X, list | tuple):
        X = np.asarray(X, dtype=object)  # NumPy would convert numbers to text otherwise
    try:
        array: npt.NDArray[Any] = validate_data(
            estimator, X, reset=reset, dtype=None, ensure_all_finite=False
        )
    except (TypeError, ValueError, OverflowError):
        _raise_for_invalid_value(X)
        raise
    if not labelled and array.dtype.kind not in "fiubO":
        _raise_for_invalid_value(X)
        raise ValueError(
            f"X has values of type {array.dtype}; {type(estimator).__name__} supports numbers and "
            "booleans"
        )
    return ArraySource(array)


def _raise_for_invalid_value(X: Any) -> None:
    """Raise an error that names the first value that is not a number, if there is one."""
    if isinstance(X, list | tuple):
        sizes = [len(row) if isinstance(row, list | tuple) else None for row in X]
        odd = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
        if odd is not None and None not in sizes:
            raise ValueError(
                f"X has {sizes[0]} values in row 0 and {sizes[odd]} in row {odd}: all rows must "
                "have the same length"
            )
    array = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "OUSTMm":
        return
    source = ArraySource(array)
    for j in range(source.n_columns):
        source.numbers(j, str(j))


_FEW_ROWS = 1000  # of a frame, whose numbers may have to be copied into one array


def read_float_matrix(estimator: Any, X: Any) -> DenseTable | None:
    """Return the columns of a table; None if it is not one of the common cases.

    Parameters
    ----------
    estimator : object
        A fitted estimator.
    X : object
    """
    schema: Schema = estimator.schema_
    if not schema.is_numeric:
        return None
    if type(X) is np.ndarray:
        # scikit-learn warns if a model has feature names and a table does not.
        matrix = None if hasattr(estimator, "feature_names_in_") else X
    else:
        matrix = _matrix_of_frame(X, schema)
    if matrix is None or matrix.ndim != 2 or matrix.dtype.char not in "fd":
        return None
    if matrix.shape[1] != schema.n_columns or not matrix.shape[0] or not matrix.dtype.isnative:
        return None
    if has_infinity(matrix):
        return None
    return DenseTable(list(matrix.T), len(matrix), schema.n_levels, matrix)


def _matrix_of_frame(X: Any, schema: Schema) -> npt.NDArray[Any] | None:
    """Return the values of a small pandas frame with the names of ``fit`` in their order."""
    pandas = sys.modules.get("pandas")
    if pandas is None or type(X) is not pandas.DataFrame or len(X) > _FEW_ROWS:
        return None
    if not schema.names_are_text or tuple(X.columns) != schema.names:
        return None
    matrix: npt.NDArray[Any] = X.to_numpy()
    return matrix
