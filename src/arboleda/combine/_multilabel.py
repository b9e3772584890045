"""Multilabel stacking: columns of the members, checks, and predicted labels."""

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
        Whether members were fitted on the original labels rather than on class numbers.

    Returns
    -------
    columns : ndarray of shape (n_samples, n_columns)
        An array with a column for each output is used unchanged. From a list of the probabilities
        of each output, the first class of each output is removed.

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
                "use a member that was fitted on the same outputs"
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
            "estimator cannot learn from: drop the member, or use rows that it can predict"
        )
    return columns


def check_predictions(members: Sequence[Named], X: Any, n_outputs: int) -> None:
    """Refuse fitted members that do not predict a label for each output.

    The probabilities of a single target with two classes have the same shape as those of two
    outputs, so the check uses the predicted labels of a row.

    Raises
    ------
    ValueError
        If a member predicts an array of another shape.
    """
    row = take_rows(X, np.arange(1))
    for name, member in members:
        _check_shape(name, np.shape(member.predict(row)), (1, n_outputs))


def explain_failure(who: str, estimator: Any, y: Array, where: str) -> str | None:
    """Explain why an estimator may have failed to learn several labels, and the remedy.

    Parameters
    ----------
    who : str
        Description of the estimator.
    estimator : estimator
    y : ndarray of shape (n_samples, n_outputs)
        The target that it failed to learn.
    where : str
        Description of the rows.

    Returns
    -------
    sentence : str or None
        None if the labels do not explain the failure.
    """
    kind = type(estimator).__name__
    if not _learns_several_outputs(estimator):
        return (
            f"{who}, a {kind}, cannot learn {y.shape[1]} labels for each row: use an estimator "
            "that can, such as a forest, or wrap it in scikit-learn's MultiOutputClassifier"
        )
    constant = np.flatnonzero((y == y[:1]).all(axis=0))
    if not constant.size:
        return None
    return (
        f"{who}, a {kind}, cannot learn output {constant[0]} of y, which has a single label in "
        f"{where}: remove such outputs from y, use folds in which every output has both labels, "
        "or use estimators that can learn one class, such as trees"
    )


def decode_labels(predicted: Any, classes: Labels) -> Array:
    """Return the labels of the class numbers that the final estimator predicts.

    Raises
    ------
    ValueError
        If there is not one number for each output.
    """
    numbers = np.asarray(predicted)
    if numbers.ndim != 2 or numbers.shape[1] != len(classes):
        raise ValueError(
            f"the final estimator predicts an array of shape {numbers.shape}, and y has "
            f"{len(classes)} outputs: use a final estimator that predicts a label for each output"
        )
    # An output with a single label has that label, whatever the final estimator predicts.
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
        Fitted on class numbers.
    predicted : list of ndarray, or ndarray of shape (n_samples, n_outputs)
        Return value of its ``predict_proba``: a list with the class probabilities of each output,
        or an array with the probability of label 1, or of the first class if it is a stack.
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
        # The only rows with the first class of an output may be in no test set.
        return np.column_stack(
            [
                shares[:, 0] if known[0] == 0 else np.zeros(len(shares))
                for shares, known in zip(predicted, final.classes_, strict=True)
            ]
        )
    raise ValueError(
        f"the final estimator's predict_proba does not have the {n_outputs} outputs of y: it must "
        "return a list with an array for each output, or an array with a column for each output"
    )


def _learns_several_outputs(estimator: Any) -> bool:
    """Return whether an estimator supports several outputs, True for meta-estimators."""
    if hasattr(estimator, "estimator") or not hasattr(estimator, "__sklearn_tags__"):
        return True
    tags = get_tags(estimator)
    of_classes = tags.classifier_tags
    return bool(tags.target_tags.multi_output or (of_classes and of_classes.multi_label))


def _is_stack(final: Any) -> bool:
    """Return whether an estimator is, or ends in, a multilabel stack."""
    while hasattr(final, "best_estimator_") or hasattr(final, "steps"):
        final = final.best_estimator_ if hasattr(final, "best_estimator_") else final.steps[-1][1]
    return isinstance(final, TheirStack) or getattr(final, "_is_multilabel", False)


def _upper_probabilities(name: str, number: int, shares: Floats, own: Any, labels: Array) -> Floats:
    """Return the probabilities of all classes of an output except the first; 0 if unseen."""
    own = np.asarray(own)
    every = np.union1d(labels, own)  # a prefitted member may have a label that y lacks here
    if len(every) > 2:
        raise ValueError(
            f"the member {name!r} has the labels {own.tolist()} of output {number}, and y has "
            f"{labels.tolist()}: a prefitted member must be fitted on the labels of y"
        )
    if shares.ndim != 2 or shares.shape[1] != len(own):
        raise ValueError(
            f"the member {name!r} predicts probabilities of shape {shares.shape} for output "
            f"{number}, which has {len(own)} classes: one column for each is expected"
        )
    full = np.zeros((len(shares), len(every)))
    full[:, np.searchsorted(every, own)] = shares
    return full[:, 1:]


def _check_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if shape != expected:
        raise ValueError(
            f"the member {name!r} predicts an array of shape {shape}, expected {expected} with a "
            "column for each output of y: use a member that learns several labels for each row"
        )
