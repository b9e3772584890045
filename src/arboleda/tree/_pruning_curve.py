"""Cross-validated error along a pruning path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import ModelFormatError
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda.persist import Integer, SavedArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from arboleda.persist.fields import Sections

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PruningCurve(Result):
    """Cross-validated error of the optimal pruned trees, from the full tree to the root.

    Each array has one entry per tree. It is the ``pruning_curve_`` of `PrunedTreeClassifier` and
    `PrunedTreeRegressor`.

    Attributes
    ----------
    alpha : ndarray
        Complexity parameter from which on the tree is optimal, ascending from 0.
    n_leaves : ndarray
        Number of leaves of the tree grown from all rows and pruned at that alpha.
    mean_error : ndarray
        Error on the held-out rows.
    standard_error : ndarray
        Its standard error; NaN if there is only one fold.
    train_error : ndarray
        Error of the tree on its training rows.
    best_index : int
        Index of the entry selected by the rule.
    min_index : int
        Index of the smallest tree with the minimum mean error.
    """

    alpha: Floats
    n_leaves: npt.NDArray[np.int64]
    mean_error: Floats
    standard_error: Floats
    train_error: Floats
    best_index: int
    min_index: int

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_trees": len(self.alpha),
            "chosen_leaves": int(self.n_leaves[self.best_index]),
            "error": float(self.mean_error[self.best_index]),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a pandas data frame with one row per tree.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``alpha``, ``n_leaves``, ``mean_error``, ``standard_error``, ``train_error``.
        """
        names = ("alpha", "n_leaves", "mean_error", "standard_error", "train_error")
        return new_frame({name: getattr(self, name) for name in names})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot error against size, with bars of one standard error, and the selected tree.

        The dotted line lies one standard error above the minimum: the one-standard-error rule
        selects the smallest tree that is not above it (Hastie, Tibshirani and Friedman 2009,
        figure 9.4).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: those of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        size, best = self.n_leaves, self.best_index
        bars: dict[str, Any] = {"lw": 1, "ms": 3, "elinewidth": 0.6, "capsize": 1.5}
        ax.plot(size, self.train_error, color="C1", lw=1, label="training rows")
        ax.errorbar(
            size, self.mean_error, self.standard_error, fmt="o-", color="C0",
            label="held-out rows, one standard error", **bars,
        )  # fmt: skip
        limit = self.mean_error[self.min_index] + self.standard_error[self.min_index]
        ax.axhline(limit, color="grey", lw=0.8, ls=":", label="least error + one standard error")
        ax.plot(
            size[best], self.mean_error[best], "o", ms=10, mfc="none", color="C3", zorder=3,
            label=f"chosen: {size[best]} leaves",
        )  # fmt: skip
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlabel("leaves")
        ax.set_ylabel("error")
        ax.legend(frameon=False)
        return ax


class CurveField:
    """Field of a model file for a curve or None, with each array as a section of its own."""

    _fields: ClassVar[dict[str, SavedArray | Integer]] = {
        "alpha": SavedArray(np.float64),
        "n_leaves": SavedArray(np.int64),
        "mean_error": SavedArray(np.float64),
        "standard_error": SavedArray(np.float64),
        "train_error": SavedArray(np.float64),
        "best_index": Integer(),
        "min_index": Integer(),
    }

    def encode(self, name: str, value: PruningCurve | None, sections: Sections) -> Any:
        """Return the header entry."""
        if value is None:
            return None
        return {
            part: field.encode(f"{name}.{part}", getattr(value, part), sections)
            for part, field in self._fields.items()
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> PruningCurve | None:
        """Return the validated curve."""
        if stored is None:
            return None
        if not isinstance(stored, dict) or stored.keys() != self._fields.keys():
            raise ModelFormatError(f"{name} is not a pruning curve")
        parts: dict[str, Any] = {
            part: field.decode(f"{name}.{part}", stored[part], sections)
            for part, field in self._fields.items()
        }
        curve = PruningCurve(**parts)
        lengths = {array.size for array in parts.values() if isinstance(array, np.ndarray)}
        if len(lengths) != 1 or not max(curve.best_index, curve.min_index) < min(lengths):
            raise ModelFormatError(f"{name} has inconsistent arrays")
        return curve
