"""ROC and precision-recall curves of each class against the rest; the points are scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics as sk
from sklearn.utils import check_consistent_length

from arboleda.metrics._class_curves import (
    PrecisionRecallCurve,
    PrecisionRecallCurves,
    RocCurve,
    RocCurves,
)
from arboleda.metrics._read import encode_labels, read_score_matrix, sort_distinct_labels

__all__ = ["precision_recall_curves", "roc_curves"]

Floats = npt.NDArray[np.float64]


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
