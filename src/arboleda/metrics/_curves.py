"""ROC and precision-recall curves of each class against the rest; the points are scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics as sk
from sklearn.utils import check_consistent_length

from arboleda._figures import axes_or_new
from arboleda._frames import new_frame
from arboleda.metrics._read import codes_of, distinct, score_matrix

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
# Beside colour: curves are told apart in grey, too.
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
        The same share of the rows of the class (recall, sensitivity).
    threshold : ndarray of shape (n_points,)
        Descending from infinity, which no row reaches.
    area : float
        Area under the curve: the probability that a row of the class scores higher than another.
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
        Ascending; the last is infinity, which no row reaches.
    average_precision : float
        Mean of the precisions, each weighted by the increase of recall.
    prevalence : float
        Share of the class among all rows: the precision of a score that tells nothing.
    """

    label: Any
    recall: Floats
    precision: Floats
    threshold: Floats
    average_precision: float
    prevalence: float


@dataclass(frozen=True, eq=False)
class RocCurves:
    """What `roc_curves` returns.

    Attributes
    ----------
    curves : tuple of RocCurve
        One for each class; of two classes only that of the second.
    """

    curves: tuple[RocCurve, ...]

    @property
    def areas(self) -> dict[Any, float]:
        """Area under each curve, by class."""
        return {curve.label: curve.area for curve in self.curves}

    @property
    def mean_area(self) -> float:
        """Plain mean of the areas, as ``roc_auc`` of `classification_table`."""
        return float(np.mean([curve.area for curve in self.curves]))

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a pandas frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``class``, ``threshold``, ``false_positive_rate`` and ``true_positive_rate``.
        """
        return new_frame(
            {
                "class": _repeated(self.curves),
                "threshold": np.concatenate([c.threshold for c in self.curves]),
                "false_positive_rate": np.concatenate([c.false_positive_rate for c in self.curves]),
                "true_positive_rate": np.concatenate([c.true_positive_rate for c in self.curves]),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curves, with the area under each in the legend.

        A score that tells nothing lies on the diagonal, one that separates the class from the rest
        passes through the upper left corner.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure.

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
    """What `precision_recall_curves` returns.

    Attributes
    ----------
    curves : tuple of PrecisionRecallCurve
        One for each class; of two classes only that of the second.
    """

    curves: tuple[PrecisionRecallCurve, ...]

    @property
    def average_precisions(self) -> dict[Any, float]:
        """Average precision of each curve, by class."""
        return {curve.label: curve.average_precision for curve in self.curves}

    @property
    def mean_average_precision(self) -> float:
        """Plain mean over the curves, as ``average_precision`` of `classification_table`."""
        return float(np.mean([curve.average_precision for curve in self.curves]))

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a pandas frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``class``, ``threshold``, ``recall`` and ``precision``.
        """
        return new_frame(
            {
                "class": _repeated(self.curves),
                "threshold": np.concatenate([curve.threshold for curve in self.curves]),
                "recall": np.concatenate([curve.recall for curve in self.curves]),
                "precision": np.concatenate([curve.precision for curve in self.curves]),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curves, with the average precision of each in the legend.

        A single curve is drawn beside the prevalence of its class, the precision of a score that
        tells nothing.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure.

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
                # Between two thresholds nothing is known but the precision at the higher one.
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

    The curve shows, for every threshold of the score, which share of the class reaches it (true
    positive rate) at the price of which share of the others (false positive rate). The points are
    those of ``sklearn.metrics.roc_curve``.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes, of rows that the model did not learn from.
    y_score : array-like of shape (n, n_classes) or (n,)
        Scores that grow with the belief in a class, such as those of ``predict_proba`` or
        ``decision_function``, in the order of ``labels``; with two classes, those of the second
        will do.
    labels : sequence, default=None
        The classes in the order of the columns; None: the sorted classes that occur. A class
        without rows, or with all of them, has no curve and is left out.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

    Returns
    -------
    curves : RocCurves
        With ``areas``, ``to_frame()`` and ``plot()``. Of two classes only the curve of the second.

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
    >>> found = roc_curves([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> found.areas
    {1: 0.75}
    >>> found.curves[0].true_positive_rate.tolist()
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

    The curve shows, for every threshold of the score, which share of the rows that reach it are of
    the class (precision) and which share of the class reaches it (recall). For rare classes it
    tells more than the ROC curve. The points are those of
    ``sklearn.metrics.precision_recall_curve``.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes, of rows that the model did not learn from.
    y_score, labels, sample_weight
        As in `roc_curves`.

    Returns
    -------
    curves : PrecisionRecallCurves
        With ``average_precisions``, ``to_frame()`` and ``plot()``. Of two classes only the curve of
        the second.

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
    >>> found = precision_recall_curves([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(found.average_precisions[1], 3)
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
    """Yield each class that has a curve, whether rows are of it, their scores and weights."""
    true = np.asarray(y_true)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    check_consistent_length(true, weight)
    if not len(true):
        raise ValueError("there are no rows to draw curves of: give at least two")
    names = distinct(true) if labels is None else np.asarray(labels)
    codes = codes_of(true, names)
    if labels is None and len(names) == 1:
        raise ValueError(f"all rows are of the class {names.tolist()[0]!r}, so there is no curve")
    score = score_matrix(y_score, len(true), len(names))
    if not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score).all(axis=1))[0])
        raise ValueError(f"y_score holds {score[row].tolist()} in row {row}: give finite scores")
    counted = codes if weight is None else codes[weight > 0]
    support = np.bincount(counted, minlength=len(names))
    shown = [1] if len(names) == 2 else range(len(names))
    with_curve = [k for k in shown if 0 < support[k] < support.sum()]
    if not with_curve:
        raise ValueError(
            f"no class of {names.tolist()} has both rows of its own and rows of others, so there "
            "is no curve"
        )
    for k in with_curve:
        yield names.tolist()[k], codes == k, score[:, k], weight


def _repeated(curves: Sequence[RocCurve] | Sequence[PrecisionRecallCurve]) -> list[Any]:
    """Return the class of each point."""
    return [curve.label for curve in curves for _ in range(len(curve.threshold))]
