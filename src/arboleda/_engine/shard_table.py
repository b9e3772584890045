"""The columns of one shard of a table, coded by the bins of all shards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.columns import Column, DenseTable, get_missing_code
from arboleda._engine.shard_edges import ColumnCodes, learn_edges
from arboleda._native import BinnedDataset

__all__ = ["ShardTable"]


@dataclass(frozen=True, slots=True)
class ShardTable(DenseTable):
    """The columns of one shard; there may be no rows.

    Parameters
    ----------
    columns, n_rows, n_levels, matrix
        As in `DenseTable`.
    shards : AllShards
    """

    shards: AllShards = ALONE

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Bin the rows of this shard; the bins are computed from the ``rows`` of all shards."""
        if max_bins is None:
            raise ValueError("a table in shards needs max_bins")
        numeric = [j for j, n_levels in enumerate(self.n_levels) if not n_levels]
        learned = learn_edges([self.columns[j] for j in numeric], rows, max_bins, self.shards)
        edges = dict(zip(numeric, learned, strict=True))
        missing = self.shards.is_any(self._find_missing()).tolist()
        given: list[ColumnCodes] = [
            (n_levels, True, has_missing, [], [])
            if n_levels
            else edges[j].describe(has_missing=has_missing)
            for j, (n_levels, has_missing) in enumerate(zip(self.n_levels, missing, strict=True))
        ]
        return BinnedDataset.by_edges(given, self.columns, self.n_rows, n_threads)

    def _find_missing(self) -> npt.NDArray[np.bool_]:
        """Return which columns have missing values in this shard."""
        flags = [
            bool((column == get_missing_code(n_levels)).any()) if n_levels else _has_nan(column)
            for column, n_levels in zip(self.columns, self.n_levels, strict=True)
        ]
        return np.array(flags, dtype=bool)


def _has_nan(column: Column) -> bool:
    return column.dtype.kind == "f" and bool(np.isnan(column).any())
