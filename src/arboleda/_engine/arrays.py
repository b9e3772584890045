"""Arrays, lists of lists and all that NumPy makes an array of, read column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_n_features, validate_data

from arboleda._engine.categories import LabelColumn, labels_of_numbers, labels_of_objects
from arboleda._engine.labels import UnreadableLabelError
from arboleda._engine.numbers import (
    engine_numbers,
    in_engine_type,
    infinite_columns,
    numbers_of_objects,
)


class ArraySource:
    """The columns of a two-dimensional array."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        # All columns at once: reading a row-major array column by column would take far longer.
        self._array = in_engine_type(array) if array.dtype.kind in "fiub" else array
        self._infinite = infinite_columns(self._array)
        self.n_rows, self.n_columns = array.shape

    def is_labelled(self, column: int) -> bool:
        """Whether a type says that the column holds categories: an array has one type, so no."""
        del column
        return False

    def numbers(self, column: int, place: str) -> npt.NDArray[Any]:
        """Return the column as finite numbers in a type of the engine's."""
        values = self._array[:, column]
        if values.dtype.kind in "Mm":
            raise ValueError(
                f"column {place} of X holds dates or durations: turn them into numbers first"
            )
        if values.dtype.kind in "fiub" and not self._infinite[column]:
            return values
        if values.dtype.kind not in "fiub":
            values = numbers_of_objects(values.astype(object), f"column {place} of X")
        return engine_numbers(values, place)

    def labels(self, column: int, place: str) -> LabelColumn:
        """Return the column as labels."""
        values = self._array[:, column]
        try:
            return (labels_of_objects if values.dtype.kind == "O" else labels_of_numbers)(values)
        except UnreadableLabelError as error:
            raise ValueError(f"column {place} of X: {error}") from error


def read_array(estimator: object, X: Any, *, reset: bool, labelled: bool) -> ArraySource:
    """Let scikit-learn check shape and number of columns; nothing is copied that has one type.

    Parameters
    ----------
    estimator : object
        It remembers, or is asked for, the number of columns.
    X : array-like of shape (n_samples, n_features)
    reset : bool
        Whether the estimator is being fitted.
    labelled : bool
        Whether some column holds categories, so that text may stay.

    Raises
    ------
    ValueError
        If X has another shape, or is no table of numbers and should be.
    """
    if reset and type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "fiub":
        # What scikit-learn would let through as it is, after looking for plugins that read frames.
        _check_n_features(estimator, X, reset=True)
        vars(estimator).pop("feature_names_in_", None)
        return ArraySource(X)
    if isinstance(X, np.ma.MaskedArray):  # scikit-learn would read what is under the mask
        hidden, X = np.ma.getmaskarray(X), np.ma.getdata(X).astype(object)
        X[hidden] = None
    if labelled and isinstance(X, list | tuple):
        X = np.asarray(X, dtype=object)  # by itself NumPy would write numbers beside text as text
    try:
        array: npt.NDArray[Any] = validate_data(
            estimator, X, reset=reset, dtype=None, ensure_all_finite=False
        )
    except (TypeError, ValueError, OverflowError):
        _name_culprit(X)
        raise
    if not labelled and array.dtype.kind not in "fiubO":
        _name_culprit(X)
        raise ValueError(
            f"X has values of type {array.dtype}; {type(estimator).__name__} reads numbers and "
            "booleans"
        )
    return ArraySource(array)


def _name_culprit(X: Any) -> None:
    """Raise an error that names the first value that is no number, if that was the matter."""
    if isinstance(X, list | tuple):
        sizes = [len(row) if isinstance(row, list | tuple) else None for row in X]
        odd = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
        if odd is not None and None not in sizes:
            raise ValueError(
                f"X has {sizes[0]} values in row 0 and {sizes[odd]} in row {odd}: give every row "
                "as many"
            )
    array = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "OUSTMm":
        return
    source = ArraySource(array)
    for j in range(source.n_columns):
        source.numbers(j, str(j))
