"""Reading of SciPy's sparse matrices and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from arboleda._engine.columns import SparseTable
from arboleda._engine.numbers import check_engine_numbers
from arboleda._sparse import check_sparse

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
