"""Checks of labels, scores and probabilities."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["encode_labels", "read_probabilities", "read_score_matrix", "sort_distinct_labels"]

# Tolerance for sums of probabilities, since some classifiers compute in float32.
_SUM_TOLERANCE = 1e-4


def encode_labels(y: npt.NDArray[Any], names: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Encode labels as indices among the names of the classes.

    Raises
    ------
    ValueError
        If a label is not among the names, or cannot be compared with them.
    """
    order = np.argsort(names, kind="stable")
    try:
        at = np.searchsorted(names, y, sorter=order).clip(max=len(names) - 1)
    except TypeError as error:
        raise _make_order_error([*names.tolist(), *y.tolist()]) from error
    codes = np.asarray(order[at], dtype=np.int64)
    unknown = np.flatnonzero(names[codes] != y)
    if unknown.size:
        raise ValueError(
            f"class {y.tolist()[unknown[0]]!r} in row {int(unknown[0])} is not among labels; "
            "add it there"
        )
    return codes


def read_score_matrix(y_score: npt.ArrayLike, n: int, n_classes: int) -> npt.NDArray[np.float64]:
    """Return the scores of all classes; with two classes, a single column is completed.

    Raises
    ------
    ValueError
        If the number of rows or columns is wrong.
    """
    score = np.asarray(y_score, dtype=np.float64)
    if score.ndim == 1 and n_classes == 2:
        inside = bool(np.all((score >= 0) & (score <= 1)))
        score = np.column_stack([1.0 - score if inside else -score, score])
    if score.shape != (n, n_classes):
        raise ValueError(
            f"y_score has the shape {score.shape}; {n} rows of {n_classes} classes are expected"
        )
    return score


def read_probabilities(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike, labels: Sequence[Any] | None
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Check labels and probabilities.

    Returns
    -------
    names : ndarray of shape (n_classes,)
        The classes, in the order of the columns.
    codes : ndarray of shape (n,)
        Class index of each row.
    probabilities : ndarray of shape (n, n_classes)

    Raises
    ------
    ValueError
        If there is no row, lengths differ, labels have duplicates or cannot be sorted, a class is
        not among them, or a row does not hold probabilities.
    """
    true, given = np.asarray(y_true), np.asarray(y_prob, dtype=np.float64)
    if true.ndim != 1 or not len(true):
        raise ValueError(f"y_true has the shape {true.shape}: one label for each row is expected")
    names = sort_distinct_labels(true) if labels is None else _read_labels(labels)
    if given.ndim == 1 and len(names) == 2:
        given = np.column_stack([1.0 - given, given])
    if given.shape != (len(true), len(names)):
        raise ValueError(
            f"y_prob has the shape {given.shape}; {len(true)} rows of the {len(names)} classes "
            f"{names.tolist()} are expected: give labels= if there are more classes"
        )
    inside = np.all((given >= 0.0) & (given <= 1.0), axis=1, keepdims=True)
    sums = given.sum(axis=1, where=inside)
    wrong = np.flatnonzero(~inside[:, 0] | (np.abs(sums - 1.0) > _SUM_TOLERANCE))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(
            f"y_prob holds {given[row].tolist()} in row {row}: probabilities must be between 0 and "
            "1 and sum to 1; pass those of predict_proba"
        )
    return names, encode_labels(true, names), given


def sort_distinct_labels(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sorted distinct labels.

    Raises
    ------
    ValueError
        If the labels have types that cannot be sorted.
    """
    try:
        return np.unique(labels)
    except TypeError as error:
        raise _make_order_error(labels.tolist()) from error


def _make_order_error(labels: list[Any]) -> ValueError:
    kinds = sorted({type(label).__name__ for label in labels})
    return ValueError(
        f"labels of the types {', '.join(kinds)} cannot be sorted: drop rows whose class is "
        "missing, and convert the others to one type, for example with str()"
    )


def _read_labels(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Check and return the classes in their order."""
    names = np.asarray(labels)
    if names.ndim != 1:
        raise ValueError(f"labels={labels!r}: give a list of the classes, in the order of columns")
    if len(sort_distinct_labels(names)) < len(names):
        raise ValueError(f"labels={names.tolist()} name a class twice: name each once")
    return names
