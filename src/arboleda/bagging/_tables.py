"""Tables as members of any kind take them: frames stay frames, everything else is an array."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from arboleda._engine.frames import as_frame
from arboleda._sparse import check_sparse

__all__ = ["checked_table", "columns_of", "resolve_row_count", "rows_of"]

Indices = npt.NDArray[np.intp]


def checked_table(estimator: Any, X: Any, *, reset: bool, as_array: bool = False) -> Any:
    """Return a frame as it is, so that members see its names and types, else an array or CSR, CSC.

    The values are for the members to judge: missing ones, text and infinity may be what they know.

    Parameters
    ----------
    estimator : estimator
        It remembers the number and names of the columns.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
    reset : bool
        True in ``fit``: learn the columns. False afterwards: compare them.
    as_array : bool, default=False
        Whether frames become arrays too, because columns may be needed twice.
    """
    check_sparse(X)
    frame = as_frame(X)
    if frame is not None and not as_array:
        for count, what in zip(frame.shape, ("sample", "feature"), strict=True):
            if count == 0:
                raise ValueError(f"X has 0 {what}(s): at least 1 is needed")
        return validate_data(estimator, frame.to_native(), reset=reset, skip_check_array=True)
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"],
        dtype=None,
        ensure_all_finite=False,
    )


def resolve_row_count(X: Any) -> int:
    """Number of rows of what `checked_table` returned."""
    return int(X.shape[0])


def rows_of(X: Any, rows: Indices) -> Any:
    """Rows of a checked table, by number; some may be wanted twice."""
    if isinstance(X, np.ndarray):
        return X[rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows, :].to_native() if isinstance(frame, nw.DataFrame) else X[rows]


def columns_of(X: Any, columns: Indices) -> Any:
    """Columns of a checked table, by number."""
    if isinstance(X, np.ndarray):
        return X[:, columns]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[:, columns.tolist()].to_native()
    return X[:, columns]
