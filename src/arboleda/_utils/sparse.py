"""Full validation of sparse matrices, before compiled code uses their indices."""

from __future__ import annotations

from itertools import chain
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

__all__ = ["check_sparse"]

Array = npt.NDArray[Any]

_REMEDY = (
    "build the matrix again from its rows, columns and values, for example with "
    "scipy.sparse.coo_array((values, (rows, columns)), shape=...)"
)


def check_sparse(X: Any, name: str = "X") -> None:
    """Check that the arrays of a SciPy sparse matrix are valid for its shape.

    SciPy checks only part of this when a matrix is created, and nothing when its arrays are
    modified later; compiled code, in SciPy and elsewhere, uses indices without bounds checks.
    Dense tables and unsorted or duplicate entries, which are legal, pass.

    Parameters
    ----------
    X : object
        Only sparse matrices and arrays, of any format, are checked.
    name : str, default="X"
        Name of X in messages.

    Raises
    ------
    ValueError
        If X does not have two dimensions, an array has a wrong type, shape or length, index
        pointers do not ascend from 0, or an index is out of range.
    """
    if not issparse(X):
        return
    if len(X.shape) != 2:
        raise ValueError(
            f"{name} is a sparse array of shape {X.shape}: it must have two dimensions, rows and "
            "columns"
        )
    match X.format:
        case "csr":
            _check_compressed(X, name, X.shape, ("row", "column"))
        case "csc":
            _check_compressed(X, name, X.shape[::-1], ("column", "row"))
        case "bsr":
            _check_blocks(X, name)
        case "coo":
            _check_coordinates(X, name)
        case "dia":
            _check_diagonals(X, name)
        case "lil":
            _check_lists(X, name)
        case "dok":
            _check_keys(X, name)
        case other:
            raise ValueError(
                f"{name} is a sparse matrix of the unknown format {other!r}: convert it to CSR"
            )


def _refuse(name: str, fault: str) -> NoReturn:
    raise ValueError(f"{name}: {fault}; {_REMEDY}")


def _check_indices(array: Any, name: str, what: str) -> None:
    """Check that an array is a vector of int32 or int64, SciPy's types of indices."""
    if not isinstance(array, np.ndarray):
        _refuse(name, f"{what} of the sparse matrix is a {type(array).__name__}, not an array")
    if array.ndim != 1:
        _refuse(name, f"{what} of the sparse matrix has {array.ndim} dimensions instead of 1")
    if array.dtype not in (np.int32, np.int64):
        _refuse(name, f"{what} of the sparse matrix has type {array.dtype}, not int32 or int64")


def _check_values(array: Any, name: str, n_dims: int) -> None:
    if not isinstance(array, np.ndarray):
        _refuse(name, f"data of the sparse matrix is a {type(array).__name__}, not an array")
    if array.ndim != n_dims:
        _refuse(name, f"data of the sparse matrix has {array.ndim} dimensions instead of {n_dims}")


def _check_compressed(
    X: Any, name: str, shape: tuple[int, int], words: tuple[str, str], n_dims: int = 1
) -> None:
    """Check compressed lines: ``shape`` is the number of lines and the length of each."""
    n_lines, length = shape
    line, across = words
    start, indices = X.indptr, X.indices
    _check_indices(start, name, "indptr")
    _check_indices(indices, name, "indices")
    _check_values(X.data, name, n_dims)
    if len(start) != n_lines + 1:
        _refuse(
            name,
            f"indptr of the sparse matrix has {len(start)} values instead of {n_lines + 1}, one "
            f"more than it has {line}s",
        )
    if start[0] != 0:
        _refuse(name, f"indptr of the sparse matrix begins with {start[0]} instead of 0")
    if len(indices) != len(X.data):
        _refuse(
            name, f"the sparse matrix has {len(indices)} {across} indices, but {len(X.data)} values"
        )
    falls = start[1:] < start[:-1]
    if falls.any():
        low = int(falls.argmax())
        _refuse(
            name,
            f"indptr of the sparse matrix falls from {start[low]} to {start[low + 1]} at {line} "
            f"{low}",
        )
    if start[-1] > len(indices):
        _refuse(
            name,
            f"indptr of the sparse matrix ends with {start[-1]}, but it has {len(indices)} values",
        )
    used = indices[: start[-1]]  # SciPy's arrays may be longer
    at = _first_outside(used, length)
    if at is not None:
        where = int(np.searchsorted(start, at, side="right")) - 1
        _refuse(
            name,
            f"{across} index {used[at]} in {line} {where} of the sparse matrix is out of range for "
            f"{length} {across}s",
        )


def _check_blocks(X: Any, name: str) -> None:
    _check_values(X.data, name, 3)
    height, width = X.data.shape[1:]
    if not height or not width or X.shape[0] % height or X.shape[1] % width:
        _refuse(name, f"blocks of shape {(height, width)} do not fill a sparse matrix of {X.shape}")
    grid = X.shape[0] // height, X.shape[1] // width
    _check_compressed(X, name, grid, ("block row", "block column"), n_dims=3)


def _check_coordinates(X: Any, name: str) -> None:
    _check_values(X.data, name, 1)
    for across, places, length in zip(("row", "column"), X.coords, X.shape, strict=True):
        _check_indices(places, name, f"the {across} coordinate")
        if len(places) != len(X.data):
            _refuse(
                name,
                f"the sparse matrix has {len(places)} {across} indices, but {len(X.data)} values",
            )
        at = _first_outside(places, length)
        if at is not None:
            _refuse(
                name,
                f"{across} index {places[at]} of entry {at} of the sparse matrix is out of range "
                f"for {length} {across}s",
            )


def _check_diagonals(X: Any, name: str) -> None:
    _check_indices(X.offsets, name, "offsets")
    _check_values(X.data, name, 2)
    if len(X.offsets) != len(X.data):
        _refuse(
            name, f"the sparse matrix has {len(X.offsets)} offsets, but {len(X.data)} diagonals"
        )
    offsets, counts = np.unique(X.offsets, return_counts=True)
    if (counts > 1).any():
        _refuse(name, f"the sparse matrix has offset {offsets[counts.argmax()]} more than once")
    n_rows, n_columns = X.shape
    outside = (X.offsets < -n_rows) | (X.offsets > n_columns)
    if outside.any():
        _refuse(
            name,
            f"offset {X.offsets[outside.argmax()]} of the sparse matrix is out of range for "
            f"{n_rows} rows and {n_columns} columns",
        )


def _check_lists(X: Any, name: str) -> None:
    n_rows, n_columns = X.shape
    for what in ("rows", "data"):
        lists = getattr(X, what)
        if not isinstance(lists, np.ndarray) or lists.dtype != object or lists.shape != (n_rows,):
            _refuse(name, f"{what} of the sparse matrix is not an array of {n_rows} lists")
        if not all(isinstance(line, list) for line in lists):
            _refuse(name, f"{what} of the sparse matrix is not an array of lists only")
    for row, (indices, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(indices) != len(values):
            _refuse(
                name,
                f"row {row} of the sparse matrix has {len(indices)} column indices, but "
                f"{len(values)} values",
            )
    places = _whole_numbers(chain.from_iterable(X.rows), name)
    at = _first_outside(places, n_columns)
    if at is not None:
        ends = np.cumsum([len(line) for line in X.rows])
        row = int(np.searchsorted(ends, at, side="right"))
        _refuse(
            name,
            f"column index {places[at]} in row {row} of the sparse matrix is out of range for "
            f"{n_columns} columns",
        )


def _check_keys(X: Any, name: str) -> None:
    keys = list(X.keys())
    if not all(isinstance(key, tuple) and len(key) == 2 for key in keys):
        _refuse(name, "a key of the sparse matrix is not a pair of a row and a column")
    for axis, (across, length) in enumerate(zip(("row", "column"), X.shape, strict=True)):
        places = _whole_numbers((key[axis] for key in keys), name)
        at = _first_outside(places, length)
        if at is not None:
            _refuse(
                name,
                f"{across} index {places[at]} of the sparse matrix is out of range for {length} "
                f"{across}s",
            )


def _whole_numbers(values: Any, name: str) -> Array:
    """Return integers as an array, checking that they fit int64."""
    listed = list(values)
    for value in listed:
        if not isinstance(value, int | np.integer):
            _refuse(name, f"{value!r} is among the indices of the sparse matrix")
        if not -(2**63) <= value < 2**63:
            _refuse(name, f"index {value} of the sparse matrix is out of range")
    return np.array(listed, dtype=np.int64)


def _first_outside(places: Array, length: int) -> int | None:
    """Return the position of the first index that is out of range, or None."""
    if not places.size or (places.min() >= 0 and places.max() < length):
        return None
    return int(((places < 0) | (places >= length)).argmax())
