"""The columns of one shard of a sparse table, coded by the bins of all shards."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.columns import SparseTable, get_entries
from arboleda._engine.shard_edges import learn_edges
from arboleda._engine.sparse_values import SparseValues
from arboleda._native import BinnedDataset

__all__ = ["SparseShardTable"]


@dataclass(frozen=True, slots=True)
class SparseShardTable(SparseTable):
    """The columns of one shard of a sparse table; there may be no rows.

    Parameters
    ----------
    matrix
        As in `SparseTable`.
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
        values, indices, start = get_entries(self.matrix.tocsc())
        columns = [
            SparseValues(values[begin:end], indices[begin:end], self.n_rows)
            for begin, end in pairwise(start)
        ]
        edges = learn_edges(columns, rows, max_bins, self.shards)
        has_nan = np.array([column.has_nan for column in columns], dtype=bool)
        missing = self.shards.is_any(has_nan).tolist()
        given = [
            own.describe(has_missing=has_missing)
            for own, has_missing in zip(edges, missing, strict=True)
        ]
        n_entries = self.shards.add(np.array([column.n_entries for column in columns]))
        n_rows_of_all = self.shards.count(self.n_rows)
        return BinnedDataset.csc_by_edges(
            given, values, indices, start, self.n_rows, n_entries, n_rows_of_all, n_threads
        )
