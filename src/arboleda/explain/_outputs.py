"""Outputs of any fitted estimator, as one table of numbers with names."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

__all__ = ["METHODS", "OutputReader", "Outputs", "make_output_reader"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Method = Literal["predict_proba", "decision_function", "predict"]
Kind = Literal["probability", "decision", "vote", "value"]

METHODS: tuple[Method, ...] = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs of an estimator for some rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Finite outputs.
    names : tuple of str
        Names of the outputs: class labels as text; ``"value"`` for a single-target regressor,
        ``"value 0"`` and so on for several targets.
    kind : {"probability", "decision", "vote", "value"}
        Probabilities of all classes; margins (for two classes, only that of the second); 1 for the
        predicted class and 0 for the others; or predicted values.
    classes : ndarray of shape (n_outputs,) or None
        The class labels of the names; None for values.
    """

    values: Floats
    names: tuple[str, ...]
    kind: Kind
    classes: Array | None


@dataclass(frozen=True)
class OutputReader:
    """Reader of a fitted estimator's outputs, always by the same method.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    method : {"predict_proba", "decision_function", "predict"}
    classes : ndarray of shape (n_classes,) or None
        Class labels of a classifier; None for other estimators.
    """

    estimator: Any
    method: Method
    classes: Array | None

    def __call__(self, X: Any) -> Outputs:
        """Compute the estimator's outputs for the rows of a table.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_rows, n_features)
            Passed to the estimator unchanged, which checks the columns itself.

        Returns
        -------
        Outputs

        Raises
        ------
        ValueError
            If an output is not finite, or the outputs are not a table of numbers.
        """
        raw = getattr(self.estimator, self.method)(X)
        if self.classes is None:
            values = _as_table(raw, self.estimator)
            names = (
                ("value",)
                if values.shape[1] == 1
                else tuple(f"value {k}" for k in range(values.shape[1]))
            )
            kind: Kind = "decision" if self.method == "decision_function" else "value"
            return Outputs(_check_finite(values, self.estimator), names, kind, None)
        if self.method == "predict":
            shares = _one_hot(np.asarray(raw), self.classes, self.estimator)
            return Outputs(shares, _as_texts(self.classes), "vote", self.classes)
        values = _check_finite(_as_table(raw, self.estimator), self.estimator)
        kind = "probability" if self.method == "predict_proba" else "decision"
        classes = self.classes
        if kind == "decision" and values.shape[1] == 1:
            classes = classes[-1:]
        if values.shape[1] != len(classes):
            raise ValueError(
                f"{type(self.estimator).__name__}.{self.method} returns {values.shape[1]} numbers "
                f"per row for {len(classes)} classes: it must return one for each class of classes_"
            )
        return Outputs(values, _as_texts(classes), kind, classes)


def make_output_reader(estimator: Any, methods: Sequence[Method] = METHODS) -> OutputReader:
    """Make a reader of an estimator's outputs, by the first available method.

    Parameters
    ----------
    estimator : estimator
        Fitted: a single-target classifier, a regressor, or any estimator with one of the methods,
        such as an outlier detector.
    methods : sequence of {"predict_proba", "decision_function", "predict"}
        The first of them that the estimator has is used; for a regressor always ``predict``.

    Returns
    -------
    OutputReader

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If it is a class, is not an estimator, or has none of the methods.
    ValueError
        If it is a multi-target classifier.
    """
    name = type(estimator).__name__
    if inspect.isclass(estimator):
        raise TypeError(f"{estimator.__name__} is a class: give a fitted instance of it")
    if not hasattr(estimator, "fit"):
        raise TypeError(
            f"{estimator!r} is not an estimator, as it has no fit: give a fitted classifier or "
            "regressor"
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(f"this {name} is not fitted yet: call fit first") from error
    if _has_type(is_regressor, estimator):
        return OutputReader(estimator, "predict", None)
    method = next((method for method in methods if hasattr(estimator, method)), None)
    if method is None:
        raise TypeError(
            f"{name} has no {' and no '.join(methods)}: give an estimator that has"
            f"{'' if len(methods) == 1 else ' one of them'}"
        )
    if not _has_type(is_classifier, estimator) and not hasattr(estimator, "classes_"):
        return OutputReader(estimator, method, None)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise TypeError(f"{name} is a classifier without classes_: give one that defines them")
    if isinstance(classes, list) and any(np.ndim(of_one) for of_one in classes):
        raise ValueError(
            f"{name} predicts {len(classes)} targets: explain a classifier of one target at a "
            "time, fitted on one column of y"
        )
    return OutputReader(estimator, method, np.asarray(classes))


def _has_type(check: Any, estimator: Any) -> bool:
    try:
        return bool(check(estimator))
    except AttributeError:  # an estimator without scikit-learn's tags
        return False


def _as_texts(classes: Array) -> tuple[str, ...]:
    return tuple(str(label) for label in classes.tolist())


def _as_table(raw: Any, estimator: Any) -> Floats:
    values = np.asarray(raw, dtype=np.float64)
    if values.ndim == 1:
        values = values.reshape(-1, 1)
    if values.ndim != 2:
        raise ValueError(
            f"{type(estimator).__name__} returns an array of shape {values.shape}, but one or more "
            "numbers per row are required"
        )
    return values


def _check_finite(values: Floats, estimator: Any) -> Floats:
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(
            f"{type(estimator).__name__} returns {values[row].tolist()} for row {row}, which "
            "cannot be explained: give rows with finite predictions"
        )
    return values


def _one_hot(labels: Array, classes: Array, estimator: Any) -> Floats:
    """Encode predicted labels as one-hot rows."""
    if labels.ndim == 2 and labels.shape[1] == 1:  # as CatBoost returns
        labels = labels[:, 0]
    shares: Floats = (labels[:, np.newaxis] == classes).astype(np.float64)
    unknown = np.flatnonzero(~shares.any(axis=1))
    if unknown.size:
        raise ValueError(
            f"{type(estimator).__name__} predicts {labels[unknown[0]]!r} for row {unknown[0]}, "
            f"which is not one of its classes {classes.tolist()}"
        )
    return shares
