"""Cross-validated error over the two parameters of regularised discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arboleda._figures import axes_or_new
from arboleda._frames import new_frame
from arboleda._numbers import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegularizationPlane:
    """Error of regularised discriminant analysis on held-out rows, over its two parameters.

    It is the ``plane_`` of `RegularizedDiscriminantAnalysis`.

    Attributes
    ----------
    alpha : ndarray of shape (n_alphas,)
        Shares of the pooled covariance, ascending.
    gamma : ndarray of shape (n_gammas,)
        Shares of the sphere, ascending.
    mean_error : ndarray of shape (n_alphas, n_gammas)
        Misclassified share of the held-out weight.
    standard_error : ndarray of shape (n_alphas, n_gammas)
        Standard error of ``mean_error`` over the folds; NaN for a single fold.
    best_index : tuple of int
        Indices of the chosen pair.
    """

    alpha: Floats
    gamma: Floats
    mean_error: Floats
    standard_error: Floats
    best_index: tuple[int, int]

    def to_frame(self) -> pd.DataFrame:
        """Return the plane as a pandas data frame with one row per pair.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``alpha``, ``gamma``, ``mean_error``, ``standard_error``.
        """
        alpha, gamma = np.meshgrid(self.alpha, self.gamma, indexing="ij")
        return new_frame(
            {
                "alpha": alpha.ravel(),
                "gamma": gamma.ravel(),
                "mean_error": self.mean_error.ravel(),
                "standard_error": self.standard_error.ravel(),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the errors as a heat map, with the chosen pair marked.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        ax.imshow(self.mean_error, cmap="Blues", origin="lower", aspect="auto")
        dark = (self.mean_error.min() + self.mean_error.max()) / 2
        for (i, j), error in np.ndenumerate(self.mean_error):
            colour = "white" if error > dark else "black"
            ax.text(j, i, f"{error:.3f}", ha="center", va="center", color=colour, fontsize=8)
        i, j = self.best_index
        frame_x, frame_y = np.array([0, 1, 1, 0, 0]) - 0.5, np.array([0, 0, 1, 1, 0]) - 0.5
        ax.plot(j + frame_x, i + frame_y, color="C3", lw=2)
        ax.set_xticks(range(self.gamma.size), [plain(value) for value in self.gamma])
        ax.set_yticks(range(self.alpha.size), [plain(value) for value in self.alpha])
        ax.set_xlabel("gamma: share of the sphere")
        ax.set_ylabel("alpha: share of the pooled covariance")
        return ax
