"""SciPy's sparse matrices and arrays, read without making them dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from arboleda._engine.columns import SparseTable
from arboleda._engine.numbers import engine_numbers
from arboleda._sparse import check_sparse

_MOST = np.iinfo(np.int32).max


def read_sparse(estimator: object, X: Any, *, reset: bool) -> SparseTable:
    """Check a sparse matrix and bring its entries in order; the caller's stays as it is.

    Entries given twice are summed; entries that are zero are zeros like the others; NaN is missing.

    Parameters
    ----------
    estimator : object
        It remembers, or is asked for, the number of columns.
    X : sparse matrix or array of shape (n_samples, n_features)
        Of any format.
    reset : bool
        Whether the estimator is being fitted.

    Raises
    ------
    ValueError
        If its arrays do not describe a matrix of its shape, a value is infinite or no number, or
        the shape does not fit.
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
        raise ValueError(f"X has values of type {matrix.dtype}; give numbers")
    if max(matrix.shape) > _MOST:
        raise ValueError(f"X has shape {matrix.shape}: a sparse side may have {_MOST:,} at most")
    # SciPy remembers whether entries are in order, also when its arrays are changed afterwards.
    matrix = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    try:
        data = engine_numbers(matrix.data, "of a sparse matrix")
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
