"""Column-wise reading of arrays, lists of lists and other array-likes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_n_features, validate_data

from arboleda._engine.categories import LabelColumn, encode_array_labels, encode_object_labels
from arboleda._engine.labels import UnreadableLabelError
from arboleda._engine.numbers import (
    check_engine_numbers,
    convert_objects_to_numbers,
    find_infinite_columns,
    to_engine_type,
)


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
