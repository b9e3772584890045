"""The three-piece classifier, a weak learner on an interval of one column."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda._engine.columns import Schema
from arboleda._engine.table import check_table
from arboleda.learners._class_rows import complete_matrix, dense_table, read_class_rows

__all__ = ["ThreePieceClassifier"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Piece(NamedTuple):
    """An interval of a column: its correlation with the classes, its ends, and the sign b."""

    correlation: float
    low: float
    high: float
    sign: int


class ThreePieceClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier by an interval of one column: one class inside it, the other outside.

    h(x) = b where x_j < theta_1 or x_j > theta_2, and -b in between, with b one of the two classes.
    The column, interval and sign minimize the weighted training error. A decision stump is the
    special case of an unbounded interval. The classifier is a weak learner, for boosting with
    `AdaBoostClassifier`.

    Attributes
    ----------
    feature_ : int
        Index of the column.
    thresholds_ : ndarray of shape (2,)
        theta_1 and theta_2, between values of the training rows; infinite if the interval is
        unbounded. Infinity and minus infinity for the empty interval: b everywhere.
    sign_ : int
        b: 1 if the second class is outside the interval, -1 if the first class is.
    error_ : float
        Weighted share of misclassified training rows.
    classes_ : ndarray of shape (n_classes,)
        One or two class labels, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.

    Notes
    -----
    With s_i the weight of row i, negative for the first class, minimizing the error maximizes
    b (sum of all s - 2 sum of s in the interval). This is the interval of minimum sum for b = 1,
    and of maximum sum for b = -1, found in one pass over the sorted column. Ties go to the first
    column.

    References
    ----------
    S. Shalev-Shwartz, S. Ben-David (2014), "Understanding Machine Learning", example 10.1.

    Examples
    --------
    >>> from arboleda import ThreePieceClassifier
    >>> model = ThreePieceClassifier().fit([[1], [2], [3], [4], [5], [6]], [1, 1, 0, 0, 1, 1])
    >>> model.thresholds_, model.sign_, model.error_
    (array([2.5, 4.5]), 1, 0.0)
    """

    feature_: int
    thresholds_: Floats
    sign_: int
    error_: float
    classes_: Array
    schema_: Schema

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the column and the interval.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers, without missing values.
        y : array-like of shape (n_samples,)
            Labels of at most two classes, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X has missing values, infinite values or text, y has more than two classes, or the
            weights are invalid. The estimator is left unchanged.
        """
        with restore_on_failure(self):
            rows = read_class_rows(self, X, y, sample_weight)
            if len(rows.classes) > 2:
                raise ValueError(
                    "Only binary classification is supported. The type of the target is "
                    f"multiclass: y has {len(rows.classes)} classes; use scikit-learn's "
                    "OneVsRestClassifier with this model"
                )
            table = complete_matrix(self, rows.table, self.schema_)
            self.classes_ = rows.classes
            weight = rows.unit_weight / rows.unit_weight.sum()
            signed = np.where(rows.labels == len(rows.classes) - 1, weight, -weight)
            found = [find_best_piece(column, signed) for column in table.T]
            self.feature_ = max(range(len(found)), key=lambda j: found[j].correlation)
            best = found[self.feature_]
            self.thresholds_ = np.array([best.low, best.high])
            self.sign_ = best.sign
            self.error_ = max(0.0, (1.0 - best.correlation) / 2)
        return self

    def predict(self, X: Any) -> Array:
        """Predict the class of each row by whether it is in the interval.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        table = dense_table(self, check_table(self, X, reset=False))
        column = complete_matrix(self, table, self.schema_)[:, self.feature_]
        low, high = self.thresholds_
        inside = (column >= low) & (column <= high)
        is_last = inside if self.sign_ < 0 else ~inside
        labels: Array = self.classes_[np.where(is_last, len(self.classes_) - 1, 0)]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def find_best_piece(column: Floats, signed: Floats) -> Piece:
    """Find the interval of a column whose classification correlates most with the classes.

    Parameters
    ----------
    column : ndarray of shape (n_rows,)
    signed : ndarray of shape (n_rows,)
        Weights, negative for the first class.

    Returns
    -------
    best : Piece
    """
    values, place = np.unique(column, return_inverse=True)
    # before[k]: sum over the k smallest values. An interval from value i up to k - 1 has the sum
    # before[k] - before[i].
    before = np.concatenate([[0.0], np.cumsum(np.bincount(place.ravel(), weights=signed))])
    total = before[-1]
    best = Piece(-np.inf, np.inf, -np.inf, 1)
    for sign in (1, -1):
        # The interval of the minimum sum for sign 1, of the maximum for -1; 0 if empty.
        heights = sign * before
        begin = np.maximum.accumulate(heights)
        gain = begin - heights
        end = int(gain.argmax())
        correlation = float(sign * total + 2 * gain[end])
        if correlation > best.correlation:
            start = int(heights[: end + 1].argmax())
            low, high = _ends(values, start, end)
            best = Piece(correlation, low, high, sign)
    return best


def _ends(values: Floats, start: int, end: int) -> tuple[float, float]:
    """Return the ends of the interval of the values with indices ``start`` to ``end`` - 1."""
    if start == end:
        return np.inf, -np.inf
    low, high = -np.inf, np.inf
    if start > 0:
        low = values[start - 1] / 2 + values[start] / 2
        if low <= values[start - 1]:  # adjacent floating-point numbers
            low = values[start]
    if end < len(values):
        high = values[end - 1] / 2 + values[end] / 2
        if high >= values[end]:
            high = values[end - 1]
    return float(low), float(high)
