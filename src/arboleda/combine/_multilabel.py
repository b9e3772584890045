"""Stacking of several labels for each row: columns of the members, errors, labels predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import StackingClassifier as TheirStack
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples

from arboleda._engine.shared_binning import take_rows
from arboleda.combine._members import Named

__all__ = [
    "check_predictions",
    "decode_labels",
    "explain_failure",
    "first_class_probabilities",
    "predict_columns",
]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Labels = list[Array]


def predict_columns(
    named: Named,
    X: Any,
    _: Array | None,
    *,
    methods: dict[str, str],
    classes: Labels,
    is_prefit: bool,
) -> Floats:
    """Return the columns that a fitted member contributes for rows with several labels.

    Parameters
    ----------
    named : (str, estimator)
    X : array-like of shape (n_samples, n_features)
    methods : dict of str to str
        The method to call, by the name of the member.
    classes : list of ndarray
        Labels of each output.
    is_prefit : bool
        Whether members were fitted on the labels themselves, rather than on their numbers.

    Returns
    -------
    columns : ndarray of shape (n_samples, n_columns)
        An array of a column for each output is taken whole. Of a list, which holds the
        probabilities of each output, the first class is left out.

    Raises
    ------
    ValueError
        If the predictions have another shape, or are missing or infinite.
    """
    name, member = named
    predicted = getattr(member, methods[name])(X)
    if methods[name] == "predict_proba" and isinstance(predicted, list):
        if len(predicted) != len(classes):
            raise ValueError(
                f"the member {name!r} predicts {len(predicted)} outputs, and y has {len(classes)}: "
                "give a member that was fitted on the same outputs"
            )
        known = classes
        if not is_prefit and not isinstance(member, FrozenEstimator):
            known = [np.arange(len(labels)) for labels in classes]
        own = getattr(member, "classes_", known)
        blocks = [
            _upper_probabilities(name, number, np.asarray(shares, np.float64), own[number], labels)
            for number, (shares, labels) in enumerate(zip(predicted, known, strict=True))
        ]
        columns = np.hstack(blocks)
    else:
        columns = np.asarray(predicted, dtype=np.float64)
        _check_shape(name, columns.shape, (_num_samples(X), len(classes)))
    if not np.isfinite(columns).all():
        row = int(np.argwhere(~np.isfinite(columns))[0][0])
        raise ValueError(
            f"the member {name!r} predicts {columns[row].tolist()} for row {row}, which the final "
            "estimator cannot learn from: leave the member out, or give it rows that it can predict"
        )
    return columns


def check_predictions(members: Sequence[Named], X: Any, n_outputs: int) -> None:
    """Refuse fitted members that do not predict a label for each output.

    The probabilities of one target with two classes have the shape of those of two outputs, so a
    member of another target is recognised by what it predicts for a row.

    Raises
    ------
    ValueError
        If a member predicts an array of another shape.
    """
    row = take_rows(X, np.arange(1))
    for name, member in members:
        _check_shape(name, np.shape(member.predict(row)), (1, n_outputs))


def explain_failure(who: str, estimator: Any, y: Array, where: str) -> str | None:
    """Return why an estimator may have failed to learn several labels, and the remedy.

    Parameters
    ----------
    who : str
        The estimator, as messages name it.
    estimator : estimator
    y : ndarray of shape (n_samples, n_outputs)
        What it was to learn.
    where : str
        The rows, as messages name them.

    Returns
    -------
    sentence : str or None
        None if the labels do not explain the failure.
    """
    kind = type(estimator).__name__
    if not _learns_several_outputs(estimator):
        return (
            f"{who}, a {kind}, cannot learn {y.shape[1]} labels for each row: give one that can, "
            "such as a forest, or wrap it in scikit-learn's MultiOutputClassifier"
        )
    constant = np.flatnonzero((y == y[:1]).all(axis=0))
    if not constant.size:
        return None
    return (
        f"{who}, a {kind}, cannot learn output {constant[0]} of y, which has a single label in "
        f"{where}: leave such outputs out of y, use folds in which every output has both labels, "
        "or estimators that can learn one class, such as trees"
    )


def decode_labels(predicted: Any, classes: Labels) -> Array:
    """Return the labels that the final estimator predicts by their numbers.

    Raises
    ------
    ValueError
        If it does not predict a number for each output.
    """
    numbers = np.asarray(predicted)
    if numbers.ndim != 2 or numbers.shape[1] != len(classes):
        raise ValueError(
            f"the final estimator predicts an array of shape {numbers.shape}, and y has "
            f"{len(classes)} outputs: give one that predicts a label for each"
        )
    # An output with one label has that label, whatever a final estimator makes of its zeros.
    return np.column_stack(
        [
            labels[np.minimum(column.astype(np.intp), len(labels) - 1)]
            for column, labels in zip(numbers.T, classes, strict=True)
        ]
    )


def first_class_probabilities(final: Any, predicted: Any, n_outputs: int) -> Floats:
    """Return the probability of the first class of each output, of shape (n_samples, n_outputs).

    Parameters
    ----------
    final : estimator
        Fitted on the numbers of the labels.
    predicted : list of ndarray, or ndarray of shape (n_samples, n_outputs)
        What its ``predict_proba`` returned: of each output the probabilities of its classes, or
        in an array that of label 1 alone; a stack has that of the first class there.
    n_outputs : int

    Raises
    ------
    ValueError
        If the number of outputs differs.
    """
    if not isinstance(predicted, list):
        shares = np.asarray(predicted, dtype=np.float64)
        if shares.ndim == 2 and shares.shape[1] == n_outputs:
            return shares if _is_stack(final) else np.asarray(1.0 - shares)
    elif len(predicted) == n_outputs:
        # Rows that are in no test may have been the only ones with an output's first class.
        return np.column_stack(
            [
                shares[:, 0] if known[0] == 0 else np.zeros(len(shares))
                for shares, known in zip(predicted, final.classes_, strict=True)
            ]
        )
    raise ValueError(
        f"the final estimator's predict_proba does not have the {n_outputs} outputs of y: give one "
        "that returns a list of arrays, one for each output, or a column for each"
    )


def _learns_several_outputs(estimator: Any) -> bool:
    """Whether an estimator's tags allow several outputs; those of a search do not tell."""
    if hasattr(estimator, "estimator") or not hasattr(estimator, "__sklearn_tags__"):
        return True
    tags = get_tags(estimator)
    of_classes = tags.classifier_tags
    return bool(tags.target_tags.multi_output or (of_classes and of_classes.multi_label))


def _is_stack(final: Any) -> bool:
    """Whether an estimator is a stack of several labels, or ends in one."""
    while hasattr(final, "best_estimator_") or hasattr(final, "steps"):
        final = final.best_estimator_ if hasattr(final, "best_estimator_") else final.steps[-1][1]
    return isinstance(final, TheirStack) or getattr(final, "_is_multilabel", False)


def _upper_probabilities(name: str, number: int, shares: Floats, own: Any, labels: Array) -> Floats:
    """Probabilities of an output's classes but the first; a class that was not seen has 0."""
    own = np.asarray(own)
    every = np.union1d(labels, own)  # a member fitted before may know a label that y lacks here
    if len(every) > 2:
        raise ValueError(
            f"the member {name!r} knows the labels {own.tolist()} of output {number}, and y has "
            f"{labels.tolist()}: a member that was fitted before must know the labels of y"
        )
    if shares.ndim != 2 or shares.shape[1] != len(own):
        raise ValueError(
            f"the member {name!r} predicts probabilities of shape {shares.shape} for output "
            f"{number}, of which it knows {len(own)} classes: one column for each is expected"
        )
    full = np.zeros((len(shares), len(every)))
    full[:, np.searchsorted(every, own)] = shares
    return full[:, 1:]


def _check_shape(name: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if shape != wanted:
        raise ValueError(
            f"the member {name!r} predicts an array of shape {shape} where {wanted} is expected, a "
            "column for each output of y: give a member that learns several labels for each row"
        )
