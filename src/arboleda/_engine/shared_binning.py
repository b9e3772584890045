"""One table for many fits: checked and coded once."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from arboleda._engine.fit import BinnedDataset
from arboleda._engine.frames import as_frame
from arboleda._engine.table import SparseTable, Table, check_table


class SharedBinning:
    """Some rows of a table, for `fit` in the place of X: checked and coded by the first who asks.

    An estimator learns from it exactly what it would have learned from those rows alone. Threads
    may share it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    rows : ndarray or None
        Which rows; None: all.
    estimator : estimator
        One that reads tables as all do which will be fitted: with their `reading`.
    """

    def __init__(self, X: Any, rows: npt.NDArray[np.intp] | None, estimator: Any) -> None:
        self._X = X
        self._rows = rows
        self._reader = clone(estimator)
        self._read: Table | SparseTable | None = None
        self._codes: dict[tuple[int | None, bytes | None], BinnedDataset] = {}
        self._lock = Lock()

    def table_for(self, estimator: Any) -> Table | SparseTable:
        """Return the table, always the same; the estimator remembers its columns.

        Raises
        ------
        ValueError
            As `check_table`.
        """
        with self._lock:
            if self._read is None:
                self._read = self._checked()
            learned = vars(self._reader).items()
            vars(estimator).update({k: value for k, value in learned if k.endswith("_")})
            return self._read

    def code(
        self,
        table: Table | SparseTable,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Return the codes of a table, as `Table.code` does; those of its own are kept."""
        if table is not self._read:  # an estimator has put statistics in the place of columns
            return table.code(n_threads, max_bins, rows)
        key = max_bins, None if rows is None else rows.tobytes()
        with self._lock:
            if key not in self._codes:
                self._codes[key] = table.code(n_threads, max_bins, rows)
            return self._codes[key]

    def _checked(self) -> Table | SparseTable:
        return check_table(
            self._reader,
            self._X if self._rows is None else rows_of(self._X, self._rows),
            reset=True,
            categorical_features=self._reader.categorical_features,
            many_levels=_many_levels(self._reader),
        )


def reading(estimator: Any) -> Hashable:
    """What estimators of the library must have in common to read a table alike."""
    features = estimator.categorical_features
    if not isinstance(features, str | None):
        features = repr(np.asarray(features, dtype=object).tolist())
    return features, _many_levels(estimator)


def learns_from_codes(estimator: Any) -> bool:
    """Return whether ``fit`` takes a `SharedBinning`: the library's own estimators do."""
    kind = type(estimator)
    return getattr(kind, "_learns_from_codes", False) and kind.__module__.startswith("arboleda.")


def rows_of(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Rows of a table by number, in a container of the same kind."""
    frame = as_frame(X)
    return _safe_indexing(X, rows) if frame is None else frame[rows, :].to_native()


def _many_levels(estimator: Any) -> bool:
    """Whether the estimator puts numbers in the place of categories."""
    return getattr(estimator, "category_encoding", "native") != "native"
