"""How many rows intervals or sets cover, beside how many they promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboleda._frames import new_frame
from arboleda.explain._conformal import Floats
from arboleda.plot import coverage

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["CoverageCurve"]


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """What ``coverage_curve`` of intervals and sets returns: one point for each coverage asked for.

    Attributes
    ----------
    promised : ndarray of shape (n_points,)
        Coverage asked for, ascending.
    covered : ndarray of shape (n_points,)
        Share of the rows whose truth was inside.
    size : ndarray of shape (n_points,)
        Mean width of the intervals, or mean number of classes of the sets.
    size_name : str
        Which of the two.
    n_rows : int
        Rows asked about.
    name : str
        Name of the method.
    """

    promised: Floats
    covered: Floats
    size: Floats
    size_name: str
    n_rows: int
    name: str

    @property
    def standard_error(self) -> Floats:
        """Standard error of the share covered, that of a binomial share of so many rows.

        It says nothing of the calibration rows, which were drawn once too.
        """
        error: Floats = np.sqrt(self.covered * (1.0 - self.covered) / self.n_rows)
        return error

    def to_frame(self) -> pd.DataFrame:
        """One row per coverage, as a pandas frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``promised``, ``covered``, ``standard_error`` and one named as ``size_name``.
        """
        return new_frame(
            {
                "promised": self.promised,
                "covered": self.covered,
                "standard_error": self.standard_error,
                self.size_name: self.size,
            }
        )

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw what is covered over what is promised.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure. Several curves may share axes.
        label : str, default=None
            Name of the curve; None: that of the method.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        return coverage(self, ax, label=self.name if label is None else label)
