"""Cross-validated error along the path of shrunken centroids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arboleda._figures import axes_or_new
from arboleda._frames import new_frame
from arboleda._numbers import integer

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ShrinkagePath:
    """Error of shrunken centroids on held-out rows, over the thresholds.

    Each array has one entry per threshold. It is the ``path_`` of `NearestShrunkenCentroids`.

    Attributes
    ----------
    threshold : ndarray
        Ascending from 0.
    n_features : ndarray of int
        Number of columns that the model of all rows selects.
    mean_error : ndarray
        Misclassified share of the held-out rows.
    standard_error : ndarray
        Standard error of ``mean_error`` over the folds; NaN for a single fold.
    best_index : int
        Index of the chosen threshold.
    """

    threshold: Floats
    n_features: npt.NDArray[np.int64]
    mean_error: Floats
    standard_error: Floats
    best_index: int

    def to_frame(self) -> pd.DataFrame:
        """Return the path as a pandas data frame with one row per threshold.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``threshold``, ``n_features``, ``mean_error``, ``standard_error``.
        """
        names = ("threshold", "n_features", "mean_error", "standard_error")
        return new_frame({name: getattr(self, name) for name in names})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot error against threshold, with bars of one standard error, and the chosen threshold.

        The upper axis shows the number of selected columns (as figure 1 of Tibshirani et al. 2002).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        best = self.best_index
        ax.errorbar(
            self.threshold, self.mean_error, self.standard_error, fmt="o-", color="C0", lw=1, ms=3,
            elinewidth=0.6, capsize=1.5, label="held-out rows, one standard error",
        )  # fmt: skip
        ax.plot(
            self.threshold[best], self.mean_error[best], "o", ms=10, mfc="none", color="C3",
            zorder=3, label=f"chosen: {integer(int(self.n_features[best]))} columns",
        )  # fmt: skip
        above = ax.secondary_xaxis("top")
        shown = np.unique(np.linspace(0, self.threshold.size - 1, 7).round().astype(int))
        counts = [integer(int(count)) for count in self.n_features[shown]]
        above.set_xticks(self.threshold[shown], counts)
        above.set_xlabel("columns left")
        ax.set_xlabel("threshold")
        ax.set_ylabel("error")
        ax.legend(frameon=False)
        return ax
