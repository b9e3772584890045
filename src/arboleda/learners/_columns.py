"""Kinds and bins of columns."""

from __future__ import annotations

import math
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from arboleda._engine.column_options import select_columns
from arboleda._engine.columns import Column, DenseTable, Schema
from arboleda._engine.frames import as_frame

__all__ = ["Bins", "find_cuts"]

ColumnKind = Literal["gaussian", "bernoulli", "categorical"]


def column_kinds(
    X: Any, table: DenseTable, schema: Schema, binary_features: Any
) -> list[ColumnKind]:
    """Return the kind of distribution of each column.

    Parameters
    ----------
    X : array-like or frame
        X of `fit`, from which the types of columns are read.
    table : DenseTable
        The columns of X.
    schema : Schema
        Schema with the categorical columns.
    binary_features : "from_dtype", None, or array-like of bool, int or str

    Returns
    -------
    kinds : list of {"gaussian", "bernoulli", "categorical"}

    Raises
    ------
    ValueError
        If a named column does not exist, is categorical, or has values other than 0 and 1.
    """
    if isinstance(binary_features, str):  # "from_dtype"
        binary = _boolean_columns(X, table.n_columns)
    else:
        binary = select_columns(binary_features, table.n_columns, schema.names, "binary_features")
    kinds: list[ColumnKind] = []
    for j, (kind, is_binary) in enumerate(zip(schema.kinds, binary, strict=True)):
        if kind == "categorical":
            if is_binary and not isinstance(binary_features, str):
                raise ValueError(
                    f"column {schema.describe(j)} is named by binary_features and is categorical: "
                    "remove it from one of the two"
                )
            kinds.append("categorical")
        else:
            if is_binary:
                check_binary(table.columns[j], schema.describe(j))
            kinds.append("bernoulli" if is_binary else "gaussian")
    return kinds


def check_binary(column: Column, place: str) -> None:
    """Check that all values are 0, 1 or missing.

    Raises
    ------
    ValueError
        If there is another value; the message names its row.
    """
    other = ~((column == 0) | (column == 1) | np.isnan(column))
    if other.any():
        row = int(np.flatnonzero(other)[0])
        raise ValueError(
            f"column {place} of X is binary, but holds {column[row]} in row {row}: values must be "
            "0, 1 or missing; remove the column from binary_features to treat it as Gaussian"
        )


def _boolean_columns(X: Any, n_columns: int) -> list[bool]:
    frame = as_frame(X)
    if frame is not None:
        return [frame.get_column(name).dtype == nw.Boolean for name in frame.columns]
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    return [kind == "b"] * n_columns


Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Bins = int | Literal["mdl"]


# Maximum number of candidate cuts by the class; with more values, between parts of equal weight.
_MOST_PLACES = 256


def find_cuts(
    values: Floats, labels: Integers, weight: Floats, n_classes: int, n_bins: Bins
) -> Floats:
    """Return the cuts of a column; a value belongs to the bin of the first cut not below it.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Finite values.
    labels : ndarray of shape (n_rows,)
        Class index of each row.
    weight : ndarray of shape (n_rows,)
        Positive weights.
    n_classes : int
    n_bins : int or "mdl"
        Number of bins of about equal weight; there may be fewer, since equal values share a bin.
        "mdl": recursively the cut with the lowest entropy of the classes, as long as it shortens
        the description length of the labels (Fayyad and Irani 1993).

    Returns
    -------
    cuts : ndarray
        Ascending midpoints between values. Empty without cuts.
    """
    different, number = np.unique(values, return_inverse=True)
    number = number.reshape(-1)
    mass = np.bincount(number, weight, different.size).astype(np.float64, copy=False)
    if n_bins == "mdl":
        parts = _even_parts(mass, _MOST_PLACES)
        part = np.searchsorted(parts, number, side="right")
        cells = np.bincount(part * n_classes + labels, weight, (parts.size + 1) * n_classes)
        counts = cells.astype(np.float64, copy=False).reshape(-1, n_classes)
        cuts = np.array(_mdl_cuts(counts), dtype=np.intp)
        starts = parts[cuts - 1]
    else:
        starts = _even_parts(mass, n_bins)
    return _midway(different[starts - 1], different[starts])


def _even_parts(mass: Floats, n_parts: int) -> Integers:
    """Return the starts of parts of about equal weight, without the first."""
    if mass.size <= n_parts:
        return np.arange(1, mass.size)
    up_to = np.cumsum(mass)
    share = up_to[-1] / n_parts
    ends = np.searchsorted(up_to, share * np.arange(1, n_parts)) + 1
    return np.unique(ends[ends < mass.size])


def _midway(low: Floats, high: Floats) -> Floats:
    """Return midpoints that are at least `low` and below `high`."""
    middle = low / 2.0 + high / 2.0
    return np.where((middle >= low) & (middle < high), middle, low)


def _mdl_cuts(counts: Floats) -> list[int]:
    """Return the parts that start a new bin, given the weight of each class in each part."""
    up_to = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    cuts = []
    todo = [(0, len(counts))]
    while todo:
        start, stop = todo.pop()
        if stop - start < 2:
            continue
        left = up_to[start + 1 : stop] - up_to[start]
        right = up_to[stop] - up_to[start + 1 : stop]
        cut = _mdl_cut(left, right)
        if cut is not None:
            cuts.append(start + 1 + cut)
            todo += [(start, start + 1 + cut), (start + 1 + cut, stop)]
    return sorted(cuts)


def _mdl_cut(left: Floats, right: Floats) -> int | None:
    """Return the best cut of a set; None if it fails the test of Fayyad and Irani (1993, eq. 9)."""
    whole = left[0] + right[0]
    total = float(whole.sum())
    bits = _bits(left) + _bits(right)
    best = int(bits.argmin())
    before = float(_bits(whole))
    k, k_left, k_right = (int(np.count_nonzero(part)) for part in (whole, left[best], right[best]))
    # Entropies times the number of their classes; 0 for an empty side.
    spread = k * before / total - sum(
        n_classes * float(_bits(part)) / float(part.sum())
        for n_classes, part in ((k_left, left[best]), (k_right, right[best]))
        if n_classes
    )
    price = math.log2(max(total - 1.0, 1.0)) + _log2_3_to(k) - spread
    return best if before - float(bits[best]) > price else None


def _log2_3_to(k: int) -> float:
    """Return log2(3^k - 2)."""
    return k * math.log2(3.0) + math.log2(1.0 - 2.0 * 3.0**-k)


def _bits(counts: Floats) -> Any:
    """Return the total weight times the entropy of the classes, in bits."""
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.where(total > 0.0, total, 1.0)
    return -(counts * np.log2(np.where(share > 0.0, share, 1.0))).sum(axis=-1)
