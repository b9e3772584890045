"""A table that is larger than memory, to which boosting is fitted for its test."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.coded_table import CodedTable

__all__ = ["WholeTable", "iterate_prepared"]

# Rows that are prepared and predicted at a time.
_BLOCK_ROWS = 20_000


@dataclass(frozen=True)
class WholeTable:
    """The prepared rows of a table that is larger than memory, in the file of a `CodedTable`.

    ``threads`` is the number of threads of a fit, which has the same result with any number.
    """

    path: Path
    n_rows: int
    threads: int

    def fit(self, model: Any) -> None:
        """Fit a model to the rows, as if they were a matrix in memory."""
        table = CodedTable(self.path)
        model.set_params(n_jobs=self.threads).fit(table, table.y)
        model.set_params(n_jobs=1)
        # Models of a study take matrices: the names of the file's columns have no meaning.
        model.schema_ = replace(model.schema_, names=None)
        del model.feature_names_in_


def iterate_prepared(
    preparation: Any, x: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield rows, transformed by a fitted preparation, in parts that take little memory."""
    for first in range(0, len(rows), _BLOCK_ROWS):
        part = x[rows[first : first + _BLOCK_ROWS]]
        yield part if preparation == "passthrough" else preparation.transform(part)
