"""Copies of rows with shuffled columns, and the predictions for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from arboleda.explain._rows import MAX_ROWS, TableRows

__all__ = ["CachedPredictions", "PermutedCopies", "iter_permuted", "permute_copies"]

Places = npt.NDArray[np.intp]


class CachedPredictions(BaseEstimator):  # type: ignore[misc]
    """Predictions of an estimator for the rows of a table, computed once and read by row index.

    It replaces the estimator in scikit-learn's scorers, with row indices in place of the table. If
    the table holds several stacked copies, `offset_by` selects one of them. ``places`` holds the
    row of the table for each row index, if the table holds equal rows once.
    """

    def __init__(
        self, estimator: Any, table: Any, first: int = 0, places: Places | None = None
    ) -> None:
        self.estimator = estimator
        self.table = table
        self.first = first
        self.places = places
        self._known: dict[str, npt.NDArray[Any]] = {}

    def offset_by(self, first: int) -> CachedPredictions:
        """Return the predictions with row indices relative to row ``first``."""
        result = CachedPredictions(self.estimator, self.table, first, self.places)
        result._known = self._known
        return result

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in {"estimator", "table", "first", "places", "_known"}:
            raise AttributeError(name)
        result = getattr(self.estimator, name)  # raises AttributeError if there is none
        if name not in {"predict", "predict_proba", "decision_function", "predict_log_proba"}:
            return result

        def of_rows(rows: Places) -> npt.NDArray[Any]:
            if name not in self._known:
                predicted = np.asarray(result(self.table))
                self._known[name] = predicted if self.places is None else predicted[self.places]
            return self._known[name][self.first + rows]

        of_rows.__name__ = name  # scorers find the method by it
        return of_rows


@dataclass(frozen=True, eq=False)
class PermutedCopies:
    """Copies of the rows, one for each of the ``orders`` in which a group of columns is shuffled.

    Without ``places``, ``table`` holds the copies one after the other. With them, its rows are
    distinct, and they are the row of the table for each row of the copies.
    """

    group: int
    orders: Sequence[Places]
    table: Any
    places: Places | None = None


def permute_copies(
    rows: TableRows, group: int, columns: Sequence[int], orders: Sequence[Places]
) -> PermutedCopies:
    """Make copies of the rows with shuffled columns.

    If the columns have few distinct values, most of the rows occur several times: in several copies
    of an array of numbers, they are held once.
    """
    sources = np.concatenate(orders)
    targets = np.tile(np.arange(rows.n_rows, dtype=np.intp), len(orders))
    x = rows.native
    if len(orders) == 1 or not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        copies = rows if len(orders) == 1 else rows.take(targets)
        table = copies.gather(dict.fromkeys(columns, sources))
        return PermutedCopies(group, orders, table)
    values = np.ascontiguousarray(x[:, columns])
    # Compared as bytes, in which missing values are equal.
    texts = values.view(np.dtype((np.void, values.strides[0]))).ravel()
    codes = np.unique(texts, return_inverse=True)[1].ravel()
    pairs = codes[sources] * rows.n_rows + targets
    _, first, places = np.unique(pairs, return_index=True, return_inverse=True)
    table = x[targets[first]]
    table[:, columns] = values[sources[first]]
    return PermutedCopies(group, orders, table, places.ravel())


def iter_permuted(
    estimator: Any, drawn: Iterable[PermutedCopies]
) -> Iterator[tuple[int, Places, CachedPredictions]]:
    """Yield each group and permutation of its columns with the predictions.

    Distinct rows of several groups are predicted together, for each call has an overhead.
    """
    waiting: list[PermutedCopies] = []
    for copies in drawn:
        if copies.places is None:
            yield from _predict_together(estimator, [copies])
            continue
        waiting.append(copies)
        if sum(len(some.table) for some in waiting) >= MAX_ROWS:
            yield from _predict_together(estimator, waiting)
            waiting = []
    if waiting:
        yield from _predict_together(estimator, waiting)


def _predict_together(
    estimator: Any, parts: Sequence[PermutedCopies]
) -> Iterator[tuple[int, Places, CachedPredictions]]:
    table, places = parts[0].table, None
    if parts[0].places is not None:
        starts = np.cumsum([0, *(len(part.table) for part in parts)])
        table = np.concatenate([part.table for part in parts])
        places = np.concatenate(
            [start + part.places for start, part in zip(starts, parts, strict=False)]
        )
    permuted, first = CachedPredictions(estimator, table, places=places), 0
    for part in parts:
        for order in part.orders:
            yield part.group, order, permuted.offset_by(first)
            first += len(order)
