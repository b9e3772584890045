"""ROC and precision-recall curves of classes against the rest, as tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.text import plot_escaped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["PrecisionRecallCurve", "PrecisionRecallCurves", "RocCurve", "RocCurves"]

Floats = npt.NDArray[np.float64]
# Line styles distinguish the curves without colours.
_STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Result):
    """ROC curve of one class against the rest.

    Attributes
    ----------
    label : object
        The class.
    false_positive_rate : ndarray of shape (n_points,)
        Share of the rows of other classes whose score reaches the threshold; ascending.
    true_positive_rate : ndarray of shape (n_points,)
        Share of the rows of the class whose score reaches the threshold (recall, sensitivity).
    threshold : ndarray of shape (n_points,)
        Descending from infinity.
    area : float
        Area under the curve: the probability that a row of the class scores higher than a row of
        another class.
    """

    label: Any
    false_positive_rate: Floats
    true_positive_rate: Floats
    threshold: Floats
    area: float

    def _summarize(self) -> dict[str, Any]:
        return {"label": self.label, "n_points": len(self.threshold), "area": self.area}

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a pandas data frame: see `RocCurves.to_frame`."""
        return RocCurves((self,)).to_frame()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve: see `RocCurves.plot`."""
        return RocCurves((self,)).plot(ax)


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurve(Result):
    """Precision-recall curve of one class against the rest.

    Attributes
    ----------
    label : object
        The class.
    recall : ndarray of shape (n_points,)
        Share of the rows of the class whose score reaches the threshold; descending from 1 to 0.
    precision : ndarray of shape (n_points,)
        Share of the class among the rows whose score reaches the threshold; 1 at recall 0.
    threshold : ndarray of shape (n_points,)
        Ascending to infinity.
    average_precision : float
        Mean of the precisions, weighted by the increase of recall.
    prevalence : float
        Share of the class among all rows: the precision of an uninformative score.
    """

    label: Any
    recall: Floats
    precision: Floats
    threshold: Floats
    average_precision: float
    prevalence: float

    def _summarize(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "n_points": len(self.threshold),
            "average_precision": self.average_precision,
            "prevalence": self.prevalence,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a pandas data frame: see `PrecisionRecallCurves.to_frame`."""
        return PrecisionRecallCurves((self,)).to_frame()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve: see `PrecisionRecallCurves.plot`."""
        return PrecisionRecallCurves((self,)).plot(ax)


@dataclass(frozen=True, eq=False, repr=False)
class RocCurves(Result):
    """Result of `roc_curves`.

    Attributes
    ----------
    curves : tuple of RocCurve
        One curve per class; for two classes only the curve of the second.
    """

    curves: tuple[RocCurve, ...]

    @property
    def areas(self) -> dict[Any, float]:
        """Area under each curve, by class."""
        return {curve.label: curve.area for curve in self.curves}

    @property
    def mean_area(self) -> float:
        """Unweighted mean of the areas, as ``roc_auc`` of `classification_table`."""
        return float(np.mean([curve.area for curve in self.curves]))

    def _summarize(self) -> dict[str, Any]:
        return {
            "classes": list(self.areas),
            "area": list(self.areas.values()),
            "mean_area": self.mean_area,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``class``, ``threshold``, ``false_positive_rate`` and ``true_positive_rate``.
        """
        return new_frame(
            {
                "class": _repeat_labels(self.curves),
                "threshold": np.concatenate([c.threshold for c in self.curves]),
                "false_positive_rate": np.concatenate([c.false_positive_rate for c in self.curves]),
                "true_positive_rate": np.concatenate([c.true_positive_rate for c in self.curves]),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curves, with the area under each in the legend.

        The curve of an uninformative score is the diagonal; the curve of a score that separates the
        class from the rest passes through the upper left corner.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        ax.plot([0, 1], [0, 1], ls="--", lw=0.8, color="0.6", label="chance")
        for number, curve in enumerate(self.curves):
            ax.plot(
                curve.false_positive_rate,
                curve.true_positive_rate,
                color=f"C{number % 10}",
                ls=_STYLES[number % len(_STYLES)],
                lw=1.4,
                label=f"{plot_escaped(str(curve.label))} (AUC {curve.area:.3f})",
            )
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.set_xlabel("false positive rate")
        ax.set_ylabel("true positive rate")
        ax.legend(frameon=False, loc="lower right")
        return ax


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurves(Result):
    """Result of `precision_recall_curves`.

    Attributes
    ----------
    curves : tuple of PrecisionRecallCurve
        One curve per class; for two classes only the curve of the second.
    """

    curves: tuple[PrecisionRecallCurve, ...]

    @property
    def average_precisions(self) -> dict[Any, float]:
        """Average precision of each curve, by class."""
        return {curve.label: curve.average_precision for curve in self.curves}

    @property
    def mean_average_precision(self) -> float:
        """Unweighted mean over the curves, as ``average_precision`` of `classification_table`."""
        return float(np.mean([curve.average_precision for curve in self.curves]))

    def _summarize(self) -> dict[str, Any]:
        return {
            "classes": list(self.average_precisions),
            "average_precision": list(self.average_precisions.values()),
            "mean_average_precision": self.mean_average_precision,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``class``, ``threshold``, ``recall`` and ``precision``.
        """
        return new_frame(
            {
                "class": _repeat_labels(self.curves),
                "threshold": np.concatenate([curve.threshold for curve in self.curves]),
                "recall": np.concatenate([curve.recall for curve in self.curves]),
                "precision": np.concatenate([curve.precision for curve in self.curves]),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curves, with the average precision of each in the legend.

        With a single curve the prevalence of its class is plotted too, which is the precision of an
        uninformative score.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        if len(self.curves) == 1:
            ax.axhline(self.curves[0].prevalence, ls="--", lw=0.8, color="0.6", label="chance")
        for number, curve in enumerate(self.curves):
            ax.plot(
                curve.recall,
                curve.precision,
                # Between two thresholds the precision is that at the higher one.
                drawstyle="steps-post",
                color=f"C{number % 10}",
                ls=_STYLES[number % len(_STYLES)],
                lw=1.4,
                label=f"{plot_escaped(str(curve.label))} (AP {curve.average_precision:.3f})",
            )
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.set_xlabel("recall")
        ax.set_ylabel("precision")
        ax.legend(frameon=False, loc="lower left")
        return ax


def _repeat_labels(curves: Sequence[RocCurve] | Sequence[PrecisionRecallCurve]) -> list[Any]:
    """Return the class of each point."""
    return [curve.label for curve in curves for _ in range(len(curve.threshold))]
