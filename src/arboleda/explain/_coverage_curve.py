"""Empirical coverage of intervals and sets by their nominal coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.frames import new_frame
from arboleda._utils.results import Result
from arboleda.plot import coverage

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["CoverageCurve"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class CoverageCurve(Result):
    """Empirical coverage for several nominal coverages, as returned by ``coverage_curve``.

    Attributes
    ----------
    promised : ndarray of shape (n_points,)
        Nominal coverage, ascending.
    covered : ndarray of shape (n_points,)
        Share of the rows whose true value was inside.
    size : ndarray of shape (n_points,)
        Mean width of the intervals, or mean number of classes of the sets.
    size_name : str
        What ``size`` holds.
    n_rows : int
        Number of evaluated rows.
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
        """Standard error of the share covered, that of a binomial proportion of ``n_rows`` rows.

        It does not include the randomness of the calibration rows.
        """
        error: Floats = np.sqrt(self.covered * (1.0 - self.covered) / self.n_rows)
        return error

    def _summarize(self) -> dict[str, Any]:
        return {
            "method": self.name,
            "n_rows": self.n_rows,
            "promised": self.promised.tolist(),
            "covered": self.covered.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per coverage as a pandas data frame.

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
        """Plot the empirical coverage against the nominal coverage.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: those of a new figure. Several curves may share axes.
        label : str, default=None
            Name of the curve; None: the name of the method.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        return coverage(self, ax, label=self.name if label is None else label)
