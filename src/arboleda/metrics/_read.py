"""Labels as numbers of classes, scores and probabilities as a matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["codes_of", "distinct", "read_probabilities", "score_matrix"]

# Rows of probabilities may miss 1 by so much: classifiers of float32 do.
_SUM_TOLERANCE = 1e-4


def codes_of(y: npt.NDArray[Any], names: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Number each row's label by its place among the names of the classes.

    Raises
    ------
    ValueError
        If a label is none of them, or has no order among them.
    """
    order = np.argsort(names, kind="stable")
    try:
        at = np.searchsorted(names, y, sorter=order).clip(max=len(names) - 1)
    except TypeError as error:
        raise _without_order([*names.tolist(), *y.tolist()]) from error
    codes = np.asarray(order[at], dtype=np.int64)
    unknown = np.flatnonzero(names[codes] != y)
    if unknown.size:
        raise ValueError(
            f"class {y.tolist()[unknown[0]]!r} in row {int(unknown[0])} is not among labels; "
            "add it there"
        )
    return codes


def score_matrix(y_score: npt.ArrayLike, n: int, n_classes: int) -> npt.NDArray[np.float64]:
    """Scores of all classes; with two, one column for the second will do.

    Raises
    ------
    ValueError
        If there are other numbers of rows or columns.
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
        Number of each row's class.
    probabilities : ndarray of shape (n, n_classes)

    Raises
    ------
    ValueError
        If there is no row, lengths differ, labels stand twice or cannot be sorted, a class is not
        among them, or a row holds no probabilities.
    """
    true, given = np.asarray(y_true), np.asarray(y_prob, dtype=np.float64)
    if true.ndim != 1 or not len(true):
        raise ValueError(f"y_true has the shape {true.shape}: one label for each row is expected")
    names = distinct(true) if labels is None else _names_of(labels)
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
            f"y_prob holds {given[row].tolist()} in row {row}: probabilities lie between 0 and 1 "
            "and sum to 1; give those of predict_proba"
        )
    return names, codes_of(true, names), given


def distinct(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Sort labels, each once.

    Raises
    ------
    ValueError
        If they are objects of types that have no order.
    """
    try:
        return np.unique(labels)
    except TypeError as error:
        raise _without_order(labels.tolist()) from error


def _without_order(labels: list[Any]) -> ValueError:
    kinds = sorted({type(label).__name__ for label in labels})
    return ValueError(
        f"labels of the types {', '.join(kinds)} stand together and have no order: drop rows whose "
        "class is missing, and give the others one type, for example with str()"
    )


def _names_of(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Classes in the order in which they are given."""
    names = np.asarray(labels)
    if names.ndim != 1:
        raise ValueError(f"labels={labels!r}: give a list of the classes, in the order of columns")
    if len(distinct(names)) < len(names):
        raise ValueError(f"labels={names.tolist()} name a class twice: name each once")
    return names
