"""Sharing of a validated and binned table between fits."""

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
from arboleda._engine.table import DenseTable, SparseTable, check_table


class SharedBinning:
    """Rows of a table, passed to `fit` instead of X, that are validated and binned on first use.

    Fitting on it gives the same estimator as fitting on those rows. It is thread-safe.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    rows : ndarray or None
        Which rows; None: all.
    estimator : estimator
        Estimator with the same `get_reading_options` as all that will be fitted.
    """

    def __init__(self, X: Any, rows: npt.NDArray[np.intp] | None, estimator: Any) -> None:
        self._X = X
        self._rows = rows
        self._reader = clone(estimator)
        self._read: DenseTable | SparseTable | None = None
        self._codes: dict[tuple[int | None, bytes | None], BinnedDataset] = {}
        self._lock = Lock()

    def table_for(self, estimator: Any) -> DenseTable | SparseTable:
        """Return the shared table and set the columns of the estimator.

        Raises
        ------
        ValueError
            As `check_table`.
        """
        with self._lock:
            if self._read is None:
                self._read = self._check_table()
            learned = vars(self._reader).items()
            vars(estimator).update({k: value for k, value in learned if k.endswith("_")})
            return self._read

    def code(
        self,
        table: DenseTable | SparseTable,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Bin a table, as `Table.code` does; bins of the shared table are cached."""
        if table is not self._read:  # the estimator has replaced columns by statistics
            return table.code(n_threads, max_bins, rows)
        key = max_bins, None if rows is None else rows.tobytes()
        with self._lock:
            if key not in self._codes:
                self._codes[key] = table.code(n_threads, max_bins, rows)
            return self._codes[key]

    def _check_table(self) -> DenseTable | SparseTable:
        return check_table(
            self._reader,
            self._X if self._rows is None else take_rows(self._X, self._rows),
            reset=True,
            categorical_features=self._reader.categorical_features,
            many_levels=_many_levels(self._reader),
        )


def get_reading_options(estimator: Any) -> Hashable:
    """Return the options that determine how an estimator reads a table."""
    features = estimator.categorical_features
    if not isinstance(features, str | None):
        features = repr(np.asarray(features, dtype=object).tolist())
    return features, _many_levels(estimator)


def supports_shared_binning(estimator: Any) -> bool:
    """Return whether ``fit`` accepts a `SharedBinning`, as the library's estimators do."""
    kind = type(estimator)
    return getattr(kind, "_uses_binned_data", False) and kind.__module__.startswith("arboleda.")


def take_rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Return rows of a table by index, in a container of the same type."""
    frame = as_frame(X)
    return _safe_indexing(X, rows) if frame is None else frame[rows, :].to_native()


def _many_levels(estimator: Any) -> bool:
    """Return whether the estimator replaces categories by numbers."""
    return getattr(estimator, "category_encoding", "native") != "native"
