"""Cuts of a numeric column: bins of equal weight, or those that tell most of the class."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Bins = int | Literal["mdl"]

__all__ = ["Bins", "find_cuts"]

# Places where a cut by the class may be: with more different values, between parts of equal weight.
_MOST_PLACES = 256


def find_cuts(
    values: Floats, labels: Integers, weight: Floats, n_classes: int, n_bins: Bins
) -> Floats:
    """Return where a column is cut; a value belongs to the bin of the first cut not below it.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Finite.
    labels : ndarray of shape (n_rows,)
        Number of each row's class.
    weight : ndarray of shape (n_rows,)
        Positive.
    n_classes : int
    n_bins : int or "mdl"
        Number of bins of about equal weight; a value is never divided, so that there may be fewer.
        "mdl": recursively the cut that leaves the least entropy of the classes, as long as it
        shortens the description of the labels (Fayyad and Irani 1993).

    Returns
    -------
    cuts : ndarray
        Ascending, midway between values. Empty if nothing is cut.
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
    """Where parts of about equal weight start, but the first; each value if there are few."""
    if mass.size <= n_parts:
        return np.arange(1, mass.size)
    up_to = np.cumsum(mass)
    share = up_to[-1] / n_parts
    ends = np.searchsorted(up_to, share * np.arange(1, n_parts)) + 1
    return np.unique(ends[ends < mass.size])


def _midway(low: Floats, high: Floats) -> Floats:
    """Numbers from low to below high, about in the middle."""
    middle = low / 2.0 + high / 2.0
    return np.where((middle >= low) & (middle < high), middle, low)


def _mdl_cuts(counts: Floats) -> list[int]:
    """Parts before which Fayyad and Irani cut, given the weight of each class in each part."""
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
    """Best cut of a set, None if it is not worth its description (Fayyad and Irani 1993, eq. 9)."""
    whole = left[0] + right[0]
    total = float(whole.sum())
    bits = _bits(left) + _bits(right)
    best = int(bits.argmin())
    before = float(_bits(whole))
    k, k_left, k_right = (int(np.count_nonzero(part)) for part in (whole, left[best], right[best]))
    # Entropies times the number of their classes; an empty side has none.
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
    """Total times entropy: the bits that the classes of a set take."""
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.where(total > 0.0, total, 1.0)
    return -(counts * np.log2(np.where(share > 0.0, share, 1.0))).sum(axis=-1)
