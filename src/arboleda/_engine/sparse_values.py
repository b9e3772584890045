"""A column of a sparse table, as its bins are learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["SparseValues"]

Floats = npt.NDArray[np.float64]


class SparseValues:
    """The values of a column of which most are 0.

    Parameters
    ----------
    entries : ndarray
        Values, NaN is missing.
    rows : ndarray of int
        Their rows, ascending.
    n_rows : int

    Examples
    --------
    >>> column = SparseValues(np.array([2.0, -1.0]), np.array([0, 3]), 5)
    >>> column.sort(np.empty(5)).tolist(), column[np.array([1, 3])].sort(np.empty(2)).tolist()
    ([-1.0, 0.0, 0.0, 0.0, 2.0], [-1.0, 0.0])
    """

    def __init__(self, entries: npt.NDArray[Any], rows: npt.NDArray[Any], n_rows: int) -> None:
        kept = entries != 0
        self._entries, self._rows, self._n_rows = entries[kept], rows[kept], n_rows

    def __len__(self) -> int:
        return self._n_rows

    def __getitem__(self, rows: npt.NDArray[np.integer[Any]]) -> SparseValues:
        """Return the values of some rows, in ascending order."""
        places = np.searchsorted(rows, self._rows)
        found = np.append(rows, -1).take(places) == self._rows
        return SparseValues(self._entries[found], places[found], rows.size)

    @property
    def n_entries(self) -> int:
        """Number of values that are not 0."""
        return int(self._entries.size)

    @property
    def has_nan(self) -> bool:
        """Whether a value is missing."""
        return self._entries.dtype.kind == "f" and bool(np.isnan(self._entries).any())

    def sort(self, room: Floats) -> Floats:
        """Return all values that are not NaN, sorted in ``room``, one number for each row."""
        ordered = np.sort(self._entries.astype(np.float64))
        ordered = ordered[: np.searchsorted(ordered, np.nan)]  # NaN is last
        n_below = int(np.searchsorted(ordered, 0.0))
        n_not_above = n_below + self._n_rows - self.n_entries
        n_present = n_not_above + ordered.size - n_below
        room[:n_below] = ordered[:n_below]
        room[n_below:n_not_above] = 0.0
        room[n_not_above:n_present] = ordered[n_below:]
        return room[:n_present]
