"""What a column is worth: how much worse the trees get when it is permuted among left-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.schema import Schema
from arboleda._frames import new_frame

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PermutationImportance:
    """Increase of each tree's error on the rows it left out, when one column is permuted there.

    Breiman (2001), "Random forests", Machine Learning 45, section 10. The error is the share of
    misclassified rows, or the mean squared error.

    Parameters
    ----------
    importances : ndarray of shape (n_trees, n_features)
        Increase of the error; 0 where the tree does not ask the column. Trees that left no row out
        have no row here.
    schema : Schema
        The columns.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Mean over the trees.
    standard_error : ndarray of shape (n_features,)
        Standard deviation over the trees, divided by the root of their number.
    z_score : ndarray of shape (n_features,)
        ``mean / standard_error``; 0 for a column that no tree asks. It grows with the root of the
        number of trees, so it orders columns but is no test of a column.
    """

    importances: Floats
    schema: Schema

    @property
    def mean(self) -> Floats:
        mean: Floats = self.importances.mean(axis=0)
        return mean

    @property
    def standard_error(self) -> Floats:
        n_trees = len(self.importances)
        if n_trees < 2:
            return np.full(self.importances.shape[1], np.nan)
        error: Floats = self.importances.std(axis=0, ddof=1) / np.sqrt(n_trees)
        return error

    @property
    def z_score(self) -> Floats:
        mean, error = self.mean, self.standard_error
        return np.divide(mean, error, out=np.zeros_like(mean), where=error != 0.0)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a column as a pandas data frame, the most important first.

        Returns
        -------
        frame : pandas.DataFrame
            ``column``, ``mean``, ``standard_error`` and ``z_score``.
        """
        names: Any = self.schema.names
        frame = new_frame(
            {
                "column": range(self.schema.n_columns) if names is None else list(names),
                "mean": self.mean,
                "standard_error": self.standard_error,
                "z_score": self.z_score,
            }
        )
        return frame.sort_values("mean", ascending=False, kind="stable", ignore_index=True)
