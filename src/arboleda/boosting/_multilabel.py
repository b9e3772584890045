"""Multilabel targets: several labels of two values for each row.

The conventions are those of scikit-learn's forests: ``classes_`` is a list with the classes of each
label, and probabilities are a list with an array for each label. A label that is the same in all
training rows has one class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_y

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def has_several_columns(y: Any) -> bool:
    """Return whether a target has more than one column."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def read_labels(y: Any, estimator: Any) -> tuple[list[Array], Floats]:
    """Check a multilabel target, and return the classes of each label and the encoded rows.

    Parameters
    ----------
    y : ndarray of shape (n_samples, n_labels)
    estimator : estimator
        Its name is in error messages.

    Returns
    -------
    classes : list of ndarray
        Sorted; one or two classes for each label.
    target : ndarray of shape (n_samples, n_labels)
        1 for the larger value, 0 for the smaller one.

    Raises
    ------
    ValueError
        If y has more than two values, or values that are not classes.
    """
    y = _check_y(y, multi_output=True, estimator=estimator)
    if type_of_target(y, input_name="y") != "multilabel-indicator":
        _refuse_target(y)
    classes = [np.unique(column) for column in y.T]
    return classes, _encode(y, _find_values(classes))


def encode_labels(y: Any, classes: Sequence[Array], estimator: Any) -> Floats:
    """Check a further multilabel target, and encode it like the one of `read_labels`.

    Raises
    ------
    ValueError
        If y has another number of columns or an unknown value.
    """
    y = _check_y(y, multi_output=True, estimator=estimator)
    n_columns = y.shape[1] if y.ndim == 2 else 1
    if n_columns != len(classes):
        raise ValueError(
            f"y has {n_columns} label{'s' * (n_columns > 1)}, and the training data has "
            f"{len(classes)}: give a column for each"
        )
    values = _find_values(classes)
    unknown = np.argwhere(~np.isin(y, values))
    if unknown.size:
        row, column = unknown[0].tolist()
        raise ValueError(
            f"output {column} of y has the class {y[row, column].item()!r} in row {row}, which was "
            f"not in the training data; the classes are {', '.join(map(repr, values.tolist()))}"
        )
    return _encode(y, values)


def unite_label_classes(parts: Sequence[Sequence[Array]]) -> list[Array]:
    """Return the classes of each label in some parts of a table.

    Raises
    ------
    ValueError
        If the labels have more than two values.
    """
    classes = [np.unique(np.concatenate(known)) for known in zip(*parts, strict=True)]
    values = _find_values(classes)
    if len(values) > 2:
        _refuse_target(np.repeat(values[:, np.newaxis], len(classes), axis=1))
    return classes


def decode_labels(target: Array, classes: Sequence[Array]) -> Array:
    """Return the labels of an encoded target, or of booleans."""
    values = _find_values(classes)
    last = len(values) - 1
    labels: Array = values[np.minimum(target.astype(np.intp), last)]
    return labels


def predict_labels(raw: Floats, classes: Sequence[Array]) -> Array:
    """Return the more probable class of each label; a tie goes to the first class.

    Parameters
    ----------
    raw : ndarray of shape (n_samples, n_labels)
        Raw scores.
    classes : list of ndarray

    Returns
    -------
    labels : ndarray of shape (n_samples, n_labels)
    """
    labels = decode_labels(raw > 0.0, classes)
    for k, known in enumerate(classes):
        if len(known) == 1:
            labels[:, k] = known[0]
    return labels


def split_probabilities(positive: Floats, classes: Sequence[Array]) -> list[Floats]:
    """Return the probabilities of the classes of each label.

    Parameters
    ----------
    positive : ndarray of shape (n_samples, n_labels)
        Probabilities of the larger value.
    classes : list of ndarray

    Returns
    -------
    probabilities : list of ndarray of shape (n_samples, n_classes)
    """
    return [
        np.column_stack([1.0 - p, p]) if len(known) == 2 else np.ones((len(p), 1))
        for p, known in zip(positive.T, classes, strict=True)
    ]


def are_label_classes(classes: Sequence[Array]) -> bool:
    """Return whether arrays, such as those of a model file, are the classes of labels."""
    if len({known.dtype for known in classes}) != 1 or classes[0].dtype.kind not in "biuf":
        return False
    are_sorted = all(len(known) > 0 and (known[:-1] < known[1:]).all() for known in classes)
    return are_sorted and len(_find_values(classes)) <= 2


def _find_values(classes: Sequence[Array]) -> Array:
    """Return the one or two values of all labels."""
    return np.unique(np.concatenate(classes))


def _encode(y: Array, values: Array) -> Floats:
    """Encode labels as 0 and 1; a single value is 1 if it is positive."""
    positive = y == values[1] if len(values) > 1 else y > 0
    return np.ascontiguousarray(positive, dtype=np.float64)


def _refuse_target(y: Array) -> None:
    """Raise an error for a target of several columns that is not multilabel."""
    check_classification_targets(y)
    for k, column in enumerate(y.T):
        n_classes = len(np.unique(column))
        if n_classes > 2:
            raise ValueError(
                f"output {k} of y has {n_classes} classes: each of several outputs must be a label "
                "of two values, such as 0 and 1; fit one classifier for each output"
            )
    values = ", ".join(repr(value) for value in np.unique(y).tolist()[:20])
    raise ValueError(
        f"the outputs of y have the values {values}: several outputs must be labels of the same "
        "two numbers; encode each as 0 and 1"
    )
