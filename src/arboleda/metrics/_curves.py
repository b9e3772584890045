"""ROC and precision-recall curves of each class against the rest; the points are scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics as sk
from sklearn.utils import check_consistent_length

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda.metrics._read import encode_labels, read_score_matrix, sort_distinct_labels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "PrecisionRecallCurve",
    "PrecisionRecallCurves",
    "RocCurve",
    "RocCurves",
    "precision_recall_curves",
    "roc_curves",
]

Floats = npt.NDArray[np.float64]
# Line styles distinguish the curves without colours.
_STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True, eq=False)
class RocCurve:
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


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
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


@dataclass(frozen=True, eq=False)
class RocCurves:
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
                label=f"{curve.label} (AUC {curve.area:.3f})",
            )
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.set_xlabel("false positive rate")
        ax.set_ylabel("true positive rate")
        ax.legend(frameon=False, loc="lower right")
        return ax


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurves:
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
                label=f"{curve.label} (AP {curve.average_precision:.3f})",
            )
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.set_xlabel("recall")
        ax.set_ylabel("precision")
        ax.legend(frameon=False, loc="lower left")
        return ax


def roc_curves(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> RocCurves:
    """Compute the ROC curve of each class against the rest.

    For every threshold of the score, the curve shows the share of the class that reaches it (true
    positive rate) and the share of the other classes that does (false positive rate). The points
    are those of ``sklearn.metrics.roc_curve``.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes of rows that are not in the training data.
    y_score : array-like of shape (n, n_classes) or (n,)
        Scores that increase with the confidence in a class, such as those of ``predict_proba`` or
        ``decision_function``, in the order of ``labels``; with two classes, optionally only those
        of the second one.
    labels : sequence, default=None
        The classes in the order of the columns; None: the sorted classes of ``y_true``. A class
        without rows, or with all rows, has no curve and is left out.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

    Returns
    -------
    curves : RocCurves
        With ``areas``, ``to_frame()`` and ``plot()``. For two classes only the curve of the second.

    Raises
    ------
    ValueError
        If lengths differ, a score is not finite, a class is not among the labels, or no class has
        a curve.

    References
    ----------
    T. Fawcett (2006), "An introduction to ROC analysis", Pattern Recognition Letters 27.

    Examples
    --------
    >>> from arboleda.metrics import roc_curves
    >>> result = roc_curves([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> result.areas
    {1: 0.75}
    >>> result.curves[0].true_positive_rate.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    curves = []
    for label, hit, score, weight in _one_against_rest(y_true, y_score, labels, sample_weight):
        false, true, threshold = sk.roc_curve(hit, score, sample_weight=weight)
        curves.append(RocCurve(label, false, true, threshold, float(sk.auc(false, true))))
    return RocCurves(tuple(curves))


def precision_recall_curves(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> PrecisionRecallCurves:
    """Compute the precision-recall curve of each class against the rest.

    For every threshold of the score, the curve shows the share of the class among the rows that
    reach it (precision) and the share of the class that reaches it (recall). For rare classes it is
    more informative than the ROC curve. The points are those of
    ``sklearn.metrics.precision_recall_curve``.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes of rows that are not in the training data.
    y_score, labels, sample_weight
        As in `roc_curves`.

    Returns
    -------
    curves : PrecisionRecallCurves
        With ``average_precisions``, ``to_frame()`` and ``plot()``. For two classes only the curve
        of the second.

    Raises
    ------
    ValueError
        As `roc_curves`.

    References
    ----------
    J. Davis, M. Goadrich (2006), "The relationship between precision-recall and ROC curves", ICML.

    Examples
    --------
    >>> from arboleda.metrics import precision_recall_curves
    >>> result = precision_recall_curves([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(result.average_precisions[1], 3)
    0.833
    """
    curves = []
    for label, hit, score, weight in _one_against_rest(y_true, y_score, labels, sample_weight):
        precision, recall, threshold = sk.precision_recall_curve(hit, score, sample_weight=weight)
        average = float(sk.average_precision_score(hit, score, sample_weight=weight))
        prevalence = float(np.average(hit, weights=weight))
        threshold = np.append(threshold, np.inf)
        curves.append(
            PrecisionRecallCurve(label, recall, precision, threshold, average, prevalence)
        )
    return PrecisionRecallCurves(tuple(curves))


def _one_against_rest(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    labels: Sequence[Any] | None,
    sample_weight: npt.ArrayLike | None,
) -> Iterator[tuple[Any, npt.NDArray[np.bool_], Floats, Floats | None]]:
    """Yield each class that has a curve, with membership, scores and weights of the rows."""
    true = np.asarray(y_true)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    check_consistent_length(true, weight)
    if not len(true):
        raise ValueError("there are no rows to compute curves from: give at least two")
    names = sort_distinct_labels(true) if labels is None else np.asarray(labels)
    codes = encode_labels(true, names)
    if labels is None and len(names) == 1:
        raise ValueError(
            f"all rows are of the class {names.tolist()[0]!r}: a curve needs rows of other classes"
        )
    score = read_score_matrix(y_score, len(true), len(names))
    if not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score).all(axis=1))[0])
        raise ValueError(f"y_score holds {score[row].tolist()} in row {row}: give finite scores")
    counted = codes if weight is None else codes[weight > 0]
    support = np.bincount(counted, minlength=len(names))
    shown = [1] if len(names) == 2 else range(len(names))
    with_curve = [k for k in shown if 0 < support[k] < support.sum()]
    if not with_curve:
        raise ValueError(
            f"no class of {names.tolist()} has a curve, which needs rows of the class and rows of "
            "other classes"
        )
    for k in with_curve:
        yield names.tolist()[k], codes == k, score[:, k], weight


def _repeat_labels(curves: Sequence[RocCurve] | Sequence[PrecisionRecallCurve]) -> list[Any]:
    """Return the class of each point."""
    return [curve.label for curve in curves for _ in range(len(curve.threshold))]
