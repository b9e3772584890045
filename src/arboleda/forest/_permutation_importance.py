"""Out-of-bag permutation importance of columns."""

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
    """Increase of each tree's out-of-bag error when one column is permuted.

    Breiman (2001), "Random forests", Machine Learning 45, section 10. The error is the
    misclassification rate or the mean squared error.

    Parameters
    ----------
    importances : ndarray of shape (n_trees, n_features)
        Increase of the error; 0 if the tree does not split on the column. Trees without out-of-bag
        rows are omitted.
    schema : Schema
        The columns.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Mean over the trees.
    standard_error : ndarray of shape (n_features,)
        Standard deviation over the trees, divided by the square root of their number.
    z_score : ndarray of shape (n_features,)
        ``mean / standard_error``; 0 for a column that no tree splits on. It grows with the square
        root of the number of trees, so it can rank columns but is not a significance test.
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
        """Return a pandas data frame with one row per column, the most important first.

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
