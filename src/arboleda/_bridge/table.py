"""Tables as the engine reads them: a list of one-dimensional arrays, each of any stride."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from arboleda._bridge.culprit import find_culprit
from arboleda._native import CodedTable

# Types that the engine does not read, and the ones that hold the same values.
_WIDENED = {"float16": np.float32, "longdouble": np.float64}


def check_table(estimator: object, X: object, *, reset: bool) -> npt.NDArray[np.generic]:
    """Validate a table of numbers and return it as a 2-D array that the engine can read.

    A NumPy array of a type and byte order that the engine knows is returned as it is, whatever its
    strides. NaN means missing.

    Parameters
    ----------
    estimator : object
        The estimator, for its messages; it remembers the number and the names of the columns.
    X : array-like of shape (n_samples, n_features)
    reset : bool
        True in ``fit``: remember the columns. False afterwards: compare them.

    Raises
    ------
    ValueError
        If a value is infinite, a column is not numeric, or the columns are not those of ``fit``.
    """
    try:
        table: npt.NDArray[np.generic] = validate_data(
            estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False
        )
        _check_numbers(estimator, table)
    except Exception as error:
        culprit = find_culprit(X)
        if culprit is None:
            raise
        raise ValueError(culprit) from error
    with np.errstate(over="ignore"):  # beyond float64 is infinite: refused below, with its place
        table = table.astype(_engine_dtype(table.dtype), copy=False)
    _check_no_infinity(estimator, table)
    return table


def columns_of(X: npt.NDArray[np.generic]) -> list[npt.NDArray[np.generic]]:
    """Views of the columns; nothing is copied."""
    return [X[:, j] for j in range(X.shape[1])]


def take_rows(X: npt.NDArray[np.generic], rows: npt.NDArray[np.intp]) -> npt.NDArray[np.generic]:
    """Copy of some rows of a table that `check_table` returned."""
    return X[rows]


def code_table(X: npt.NDArray[np.generic], n_threads: int) -> CodedTable:
    """Rank codes of a table that `check_table` returned."""
    return CodedTable(columns_of(X), X.shape[0], n_threads)


def check_class_shares_fit(n_nodes: int, n_classes: int) -> None:
    """Refuse a tree whose class shares could not be held, before it takes the machine down."""
    needed = 8 * n_nodes * n_classes
    if needed > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise ValueError(
            f"y has {n_classes:,} classes: a tree of up to {n_nodes:,} nodes would need "
            f"{needed / 2**30:,.0f} GiB for its class shares. If y is a quantity, use a regressor; "
            "otherwise merge rare classes or set max_leaf_nodes"
        )


def _check_numbers(estimator: object, X: npt.NDArray[np.generic]) -> None:
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X has values of type {X.dtype}; {type(estimator).__name__} reads numbers and booleans"
        )


def _engine_dtype(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    name = "longdouble" if dtype == np.longdouble else dtype.name
    if name == "float64":
        return np.dtype(np.float64)
    return np.dtype(_WIDENED.get(name, dtype.newbyteorder("=")))


def _check_no_infinity(estimator: object, X: npt.NDArray[np.generic]) -> None:
    if X.dtype.kind != "f" or X.size == 0:
        return
    # fmax and fmin skip NaN and need no temporary the size of X.
    infinite = np.isinf(np.fmax.reduce(X, axis=0)) | np.isinf(np.fmin.reduce(X, axis=0))
    if not infinite.any():
        return
    column = int(np.flatnonzero(infinite)[0])
    row = int(np.flatnonzero(np.isinf(X[:, column]))[0])
    names = getattr(estimator, "feature_names_in_", None)
    label = repr(str(names[column])) if names is not None else str(column)
    raise ValueError(
        f"Input X contains infinity: column {label}, row {row} is {X[row, column]}. Replace it by "
        "NaN if the value is missing, or by a finite number"
    )
