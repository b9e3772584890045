"""What any fitted estimator says of rows, as one table of numbers with names."""

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

__all__ = ["METHODS", "OutputReader", "Outputs", "output_reader"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Method = Literal["predict_proba", "decision_function", "predict"]
Kind = Literal["probability", "decision", "vote", "value"]

METHODS: tuple[Method, ...] = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True, eq=False)
class Outputs:
    """What an estimator says of rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Finite.
    names : tuple of str
        Of the outputs: labels of classes as text; ``"value"`` for a regressor of one target,
        ``"value 0"`` and so on for one of several.
    kind : {"probability", "decision", "vote", "value"}
        Probabilities of all classes; margins (of two classes that of the second alone); 1 for the
        class predicted and 0 for the others; or values predicted.
    classes : ndarray of shape (n_outputs,) or None
        The labels that the names stand for; None for values.
    """

    values: Floats
    names: tuple[str, ...]
    kind: Kind
    classes: Array | None


@dataclass(frozen=True)
class OutputReader:
    """Asks a fitted estimator for what it says of rows, always by the same method.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    method : {"predict_proba", "decision_function", "predict"}
    classes : ndarray of shape (n_classes,) or None
        Labels that a classifier knows; None for other estimators.
    """

    estimator: Any
    method: Method
    classes: Array | None

    def __call__(self, X: Any) -> Outputs:
        """Return what the estimator says of the rows of a table.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_rows, n_features)
            Handed to the estimator as it is: it checks its columns itself.

        Returns
        -------
        Outputs

        Raises
        ------
        ValueError
            If an answer is not finite, or is no table of numbers.
        """
        said = getattr(self.estimator, self.method)(X)
        if self.classes is None:
            values = _table_of(said, self.estimator)
            names = (
                ("value",)
                if values.shape[1] == 1
                else tuple(f"value {k}" for k in range(values.shape[1]))
            )
            kind: Kind = "decision" if self.method == "decision_function" else "value"
            return Outputs(_checked(values, self.estimator), names, kind, None)
        if self.method == "predict":
            shares = _shares_of(np.asarray(said), self.classes, self.estimator)
            return Outputs(shares, _texts(self.classes), "vote", self.classes)
        values = _checked(_table_of(said, self.estimator), self.estimator)
        kind = "probability" if self.method == "predict_proba" else "decision"
        classes = self.classes
        if kind == "decision" and values.shape[1] == 1:
            classes = classes[-1:]
        if values.shape[1] != len(classes):
            raise ValueError(
                f"{type(self.estimator).__name__}.{self.method} gives {values.shape[1]} numbers a "
                f"row for {len(classes)} classes: give one for each class of classes_"
            )
        return Outputs(values, _texts(classes), kind, classes)


def output_reader(estimator: Any, methods: Sequence[Method] = METHODS) -> OutputReader:
    """Decide by which method an estimator is asked.

    Parameters
    ----------
    estimator : estimator
        Fitted. A classifier of one target, a regressor of one or several, or anything else that
        has one of the methods, as a detector of outliers.
    methods : sequence of {"predict_proba", "decision_function", "predict"}
        The first of them that the estimator has is used; a regressor is always asked for
        ``predict``.

    Returns
    -------
    OutputReader

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If it is a class, no estimator, or has none of the methods.
    ValueError
        If it is a classifier of several targets.
    """
    name = type(estimator).__name__
    if inspect.isclass(estimator):
        raise TypeError(f"{estimator.__name__} is a class: give a fitted instance of it")
    if not hasattr(estimator, "fit"):
        raise TypeError(
            f"{estimator!r} is no estimator: it has no fit; give a fitted classifier or regressor"
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(f"this {name} is not fitted yet: call its fit first") from error
    if _is(is_regressor, estimator):
        return OutputReader(estimator, "predict", None)
    method = next((method for method in methods if hasattr(estimator, method)), None)
    if method is None:
        raise TypeError(
            f"{name} has no {' and no '.join(methods)}: give an estimator that has"
            f"{'' if len(methods) == 1 else ' one of them'}"
        )
    if not _is(is_classifier, estimator) and not hasattr(estimator, "classes_"):
        return OutputReader(estimator, method, None)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise TypeError(f"{name} is a classifier without classes_, which name what it says")
    if isinstance(classes, list) and any(np.ndim(of_one) for of_one in classes):
        raise ValueError(
            f"{name} predicts {len(classes)} targets: explain a classifier of one target at a "
            "time, fitted on one column of y"
        )
    return OutputReader(estimator, method, np.asarray(classes))


def _is(asked: Any, estimator: Any) -> bool:
    try:
        return bool(asked(estimator))
    except AttributeError:  # an estimator without scikit-learn's tags
        return False


def _texts(classes: Array) -> tuple[str, ...]:
    return tuple(str(label) for label in classes.tolist())


def _table_of(said: Any, estimator: Any) -> Floats:
    values = np.asarray(said, dtype=np.float64)
    if values.ndim == 1:
        values = values.reshape(-1, 1)
    if values.ndim != 2:
        raise ValueError(
            f"{type(estimator).__name__} answers with an array of shape {values.shape}: one or "
            "more numbers for each row are needed"
        )
    return values


def _checked(values: Floats, estimator: Any) -> Floats:
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(
            f"{type(estimator).__name__} answers {values[row].tolist()} for row {row}, which "
            "cannot be explained: give rows that it can judge"
        )
    return values


def _shares_of(labels: Array, classes: Array, estimator: Any) -> Floats:
    """One-hot rows of predicted labels."""
    if labels.ndim == 2 and labels.shape[1] == 1:  # as CatBoost answers
        labels = labels[:, 0]
    shares: Floats = (labels[:, np.newaxis] == classes).astype(np.float64)
    unknown = np.flatnonzero(~shares.any(axis=1))
    if unknown.size:
        raise ValueError(
            f"{type(estimator).__name__} predicts {labels[unknown[0]]!r} for row {unknown[0]}, "
            f"which is none of its classes {classes.tolist()}"
        )
    return shares
