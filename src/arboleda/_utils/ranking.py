"""Queries of rows that are ranked, and the normalized discounted cumulative gain (NDCG).

NDCG: Järvelin and Kekäläinen (2002), "Cumulated gain-based evaluation of IR techniques".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "NdcgMeasure",
    "RankedQueries",
    "compute_gains",
    "encode_queries",
    "mean_of_known",
    "number_queries",
    "read_group_sizes",
    "read_query_values",
    "sum_discounted_gains",
]

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint32]

LARGEST_RELEVANCE = 31  # of gains 2^y - 1


def encode_queries(qid: Any, n_rows: int, name: str = "qid") -> Codes:
    """Return the number of each row's query.

    Parameters
    ----------
    qid : array-like of shape (n_rows,)
        Numbers, texts or other values; rows of a query need not be neighbours.
    n_rows : int
    name : str
        Name of the argument in messages.

    Raises
    ------
    ValueError
        If the shape is wrong, or a value is missing. The message names the row.

    Examples
    --------
    >>> encode_queries(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    return number_queries(read_query_values(qid, n_rows, name))[1]


def read_query_values(qid: Any, n_rows: int, name: str = "qid") -> npt.NDArray[Any]:
    """Check and return the value of each row's query; see `encode_queries`."""
    given = np.asarray(qid.to_numpy() if hasattr(qid, "to_numpy") else qid)
    if given.shape != (n_rows,):
        raise ValueError(
            f"{name} has the shape {given.shape}: give the query of each of the {n_rows:,} rows"
        )
    missing = np.flatnonzero(_find_missing(given))
    if missing.size:
        row = int(missing[0])
        raise ValueError(
            f"{name} has the missing value {given[row]} in row {row}: give every row a query, or "
            "drop such rows"
        )
    return given


def number_queries(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    """Return the distinct values in the order of their numbers, and the number of each value.

    The order is ascending; that of their first rows for objects, which may have no other.

    Examples
    --------
    >>> names, numbers = number_queries(np.array([7, 3, 7]))
    >>> names.tolist(), numbers.tolist()
    ([3, 7], [1, 0, 1])
    """
    if values.dtype.kind != "O":
        sorted_names, places = np.unique(values, return_inverse=True)
        return sorted_names, places.astype(np.uint32)
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.uint32)
    names = np.empty(len(numbers), dtype=object)
    names[:] = list(numbers)
    return names, codes


def _find_missing(values: npt.NDArray[Any]) -> Any:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    return [_is_missing(value) for value in values] if values.dtype.kind == "O" else []


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - NaN and NaT
    except TypeError:  # pandas.NA
        return True


def read_group_sizes(group: Any, n_rows: int, name: str = "group") -> Codes:
    """Return the number of each row's query, given the sizes of queries in the order of the rows.

    Raises
    ------
    ValueError
        If a size is not a positive integer, or they do not add up to the number of rows.

    Examples
    --------
    >>> read_group_sizes([2, 1], 3).tolist()
    [0, 0, 1]
    """
    sizes = np.asarray(group.to_numpy() if hasattr(group, "to_numpy") else group)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf":
        raise ValueError(
            f"{name} has the shape {sizes.shape} and type {sizes.dtype}: give the number of rows "
            "of each query, in the order of the rows"
        )
    wrong = np.flatnonzero(~((sizes > 0) & (sizes == np.floor(sizes)) & (sizes <= n_rows)))
    if wrong.size:
        raise ValueError(
            f"{name} holds {sizes[wrong[0]]} at position {int(wrong[0])}: sizes must be positive "
            f"integers that add up to the {n_rows:,} rows"
        )
    total = int(sizes.sum())
    if total != n_rows:
        raise ValueError(
            f"the sizes in {name} add up to {total:,}, but there are {n_rows:,} rows: give the "
            "number of rows of each query, in the order of the rows"
        )
    return np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes.astype(np.int64))


def compute_gains(
    relevance: Floats, label_gain: npt.ArrayLike | None, rows: npt.NDArray[Any] | None = None
) -> Floats:
    """Return the gain of each relevance: ``2^y - 1``, or ``label_gain[y]``.

    ``rows`` are the numbers of the rows in messages.

    Raises
    ------
    ValueError
        If a relevance is not an integer from 0 on, or has no gain. The message names the row.
    """
    wrong = np.flatnonzero(~((relevance >= 0) & (relevance == np.floor(relevance))))
    gains = None if label_gain is None else np.asarray(label_gain, dtype=np.float64)
    last = LARGEST_RELEVANCE if gains is None else len(gains) - 1
    if wrong.size:
        row = wrong[0] if rows is None else rows[wrong[0]]
        raise ValueError(
            f"y must hold relevance 0, 1, 2, ..., but is {relevance[wrong[0]]} in row {row}; "
            "convert y to grades, where a larger one is better"
        )
    wrong = np.flatnonzero(relevance > last)
    if wrong.size:
        row = wrong[0] if rows is None else rows[wrong[0]]
        remedy = (
            f"the gains 2^y - 1 are for relevance up to {last}: use fewer grades, or set label_gain"
            if gains is None
            else f"label_gain has gains for relevance 0 to {last}: add one for each higher grade"
        )
        raise ValueError(f"y is {relevance[wrong[0]]:g} in row {row}, and {remedy}")
    return np.exp2(relevance) - 1.0 if gains is None else gains[relevance.astype(np.intp)]


class RankedQueries:
    """Rows in the order of their queries, and by descending scores within each.

    Rows of equal scores of a query are a group of ties.

    Parameters
    ----------
    queries : ndarray of shape (n_rows,)
        Number of each row's query.
    scores : ndarray of shape (n_rows,)

    Attributes
    ----------
    order : ndarray of shape (n_rows,)
        Row of each place.
    first : ndarray of shape (n_queries,)
        First place of each query.
    rank : ndarray of shape (n_rows,)
        Rank of each place within its query, from 0 on.
    ties : ndarray of shape (n_groups,)
        First place of each group of ties.
    """

    def __init__(self, queries: Codes, scores: Floats) -> None:
        self.order = np.lexsort((-scores, queries))
        ordered = queries[self.order]
        is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(queries)]
        self.first = np.flatnonzero(is_first)
        sizes = np.diff(np.append(self.first, len(queries)))
        self.rank = np.arange(len(queries)) - np.repeat(self.first, sizes)
        score = scores[self.order]
        is_new = np.append(True, score[1:] != score[:-1])[: len(queries)]
        self.ties = np.flatnonzero(is_first | is_new)

    def mean_over_ties(self, values: Floats) -> Floats:
        """Return the mean of values of places over each group of ties, for each place."""
        sizes = np.diff(np.append(self.ties, len(values)))
        return np.repeat(np.add.reduceat(values, self.ties) / sizes, sizes)

    def sum_by_query(self, values: Floats) -> Floats:
        """Return the sum of values of places over each query."""
        sums: Floats = np.add.reduceat(values, self.first)
        return sums


def sum_discounted_gains(ranked: RankedQueries, gains: Floats, at: int) -> Floats:
    """Return the discounted cumulative gain of the first ranks of each query."""
    discount = np.where(ranked.rank < at, 1.0 / np.log2(ranked.rank + 2.0), 0.0)
    return ranked.sum_by_query(gains[ranked.order] * ranked.mean_over_ties(discount))


class NdcgMeasure:
    """NDCG of given rows, for many vectors of scores.

    The discounted cumulative gain of the first ``at`` ranks, with discounts 1 / log2(1 + rank),
    divided by that of the best order. Of rows with equal scores it is the mean over all their
    orders, as in scikit-learn's ``ndcg_score``.

    Parameters
    ----------
    queries : ndarray of shape (n_rows,)
    gains : ndarray of shape (n_rows,)
    at : int

    Examples
    --------
    >>> queries = np.zeros(3, dtype=np.uint32)
    >>> measure = NdcgMeasure(queries, np.array([0.0, 3.0, 1.0]), at=10)
    >>> measure.by_query(np.array([0.0, 2.0, 1.0])).tolist()
    [1.0]
    """

    def __init__(self, queries: Codes, gains: Floats, at: int) -> None:
        self._queries = queries
        self._gains = gains
        self._at = at
        self._ideal = sum_discounted_gains(RankedQueries(queries, gains), gains, at)

    def by_query(self, scores: Floats) -> Floats:
        """Return the NDCG of each query, in the order of their numbers; NaN without any gain."""
        ranked = RankedQueries(self._queries, scores)
        sums = sum_discounted_gains(ranked, self._gains, self._at)
        with np.errstate(invalid="ignore"):
            ratios: Floats = sums / self._ideal
        return ratios

    def mean(self, scores: Floats) -> float:
        """Return the mean over queries with a gain; NaN if there is none."""
        return mean_of_known(self.by_query(scores))


def mean_of_known(ratios: Floats) -> float:
    """Return the mean of the values that are not NaN; NaN if there is none."""
    known = ratios[~np.isnan(ratios)]
    return float(known.mean()) if known.size else math.nan
