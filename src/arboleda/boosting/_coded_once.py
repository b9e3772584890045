"""One table for many fits: checked and coded once."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from arboleda._bridge.fit import CodedTable
from arboleda._bridge.table import SparseTable, Table, check_table


class CodedOnce:
    """Some rows of a table, for `fit` in the place of X: checked and coded by the first who asks.

    An estimator learns from it exactly what it would have learned from those rows alone. Codes are
    kept, the rows are not. Threads may share it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    rows : ndarray
        Which rows.
    estimator : estimator
        One that reads tables as all do which will be fitted: of their class, and with their
        ``categorical_features`` and ``category_encoding``.
    """

    def __init__(self, X: Any, rows: npt.NDArray[np.intp], estimator: Any) -> None:
        self._X = X
        self._rows = rows
        self._reader = clone(estimator)
        self._read: Table | SparseTable | None = None  # until it is coded
        self._learned: dict[str, Any] = {}
        self._codes: dict[tuple[int | None, bytes | None], CodedTable] = {}
        self._lock = Lock()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._rows.size

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, as scikit-learn asks for it."""
        return (self.n_rows,)

    def teach(self, estimator: Any) -> None:
        """Let an estimator remember the columns, as `check_table` does in ``fit``.

        Raises
        ------
        ValueError
            As `check_table`.
        """
        with self._lock:
            if not self._learned:
                self._read = self._checked()
            vars(estimator).update(self._learned)

    def table(self) -> Table | SparseTable:
        """Return the rows as `check_table` reads them; they are not kept."""
        with self._lock:
            return self._checked()

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> CodedTable:
        """Return the codes, as `Table.code` does."""
        key = max_bins, None if rows is None else rows.tobytes()
        with self._lock:
            if key not in self._codes:
                table = self._read or self._checked()
                self._read = None
                self._codes[key] = table.code(n_threads, max_bins, rows)
            return self._codes[key]

    def _checked(self) -> Table | SparseTable:
        table = check_table(
            self._reader,
            _safe_indexing(self._X, self._rows),
            reset=True,
            categorical_features=self._reader.categorical_features,
            many_levels=self._reader.category_encoding != "native",
        )
        found = vars(self._reader).items()
        self._learned = {name: value for name, value in found if name.endswith("_")}
        return table
