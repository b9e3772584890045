"""Checks of targets and weights; labels as class numbers or as several columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import StackingClassifier as TheirStack
from sklearn.frozen import FrozenEstimator
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_y, _num_samples

from arboleda._engine.shared_binning import take_rows
from arboleda._engine.target import read_target, read_weight
from arboleda.combine._members import Named

__all__ = [
    "check_held_out_weights",
    "check_predictions",
    "check_squares",
    "decode_labels",
    "explain_failure",
    "first_class_probabilities",
    "predict_columns",
    "read_classes",
    "read_multilabel",
    "read_values",
    "read_weights",
]

Array = npt.NDArray[Any]
# The sum of squares of greater values over many rows overflows.
_GREATEST = 1e145


def read_classes(y: Any) -> tuple[Array, npt.NDArray[np.intp]]:
    """Check labels, and return the sorted classes and the class number of each row.

    Raises
    ------
    ValueError
        If a label is missing, or y is continuous.
    NotImplementedError
        If y has several outputs.
    """
    y = read_target(y, numeric=False)
    kind = type_of_target(y, input_name="y")
    if kind.startswith("multi") and kind != "multiclass":
        raise NotImplementedError(
            f"y is {kind}: only one label for each row is supported; combine each output separately"
        )
    y = _check_not_empty(column_or_1d(_check_y(y), warn=True))
    check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.intp)


def read_multilabel(y: Any) -> tuple[list[Array], npt.NDArray[np.intp]] | None:
    """Check multilabel targets, and return the classes and class numbers of each output.

    Parameters
    ----------
    y : array-like of shape (n_samples, n_outputs)

    Returns
    -------
    classes : list of ndarray
        Sorted labels of each output.
    numbers : ndarray of shape (n_samples, n_outputs)
        Class numbers. The result is None if y is not a multilabel indicator, with two values and
        more than one column.

    Raises
    ------
    ValueError
        If a label is missing, or y has no rows.
    """
    y = read_target(y, numeric=False)
    if not isinstance(y, np.ndarray) or y.ndim != 2 or y.shape[1] < 2:
        return None
    if type_of_target(y, input_name="y") != "multilabel-indicator":
        return None
    outputs = [np.unique(column, return_inverse=True) for column in _check_not_empty(y).T]
    numbers = np.column_stack([places for _, places in outputs]).astype(np.intp)
    return [labels for labels, _ in outputs], numbers


def read_values(y: Any) -> npt.NDArray[np.float64]:
    """Check the target of a regression.

    Raises
    ------
    ValueError
        If a value is missing, infinite or not a number, or there are several columns.
    """
    values: npt.NDArray[np.float64] = column_or_1d(
        _check_y(read_target(y, numeric=True), y_numeric=True), dtype=np.float64, warn=True
    )
    return _check_not_empty(values)


def _check_not_empty(y: Array) -> Array:
    if not len(y):
        raise ValueError(
            "Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required: y has no "
            "rows"
        )
    return y


def read_weights(sample_weight: Any, target: Array) -> npt.NDArray[np.float64]:
    """Check the weights of rows, and return ones if there are none.

    Raises
    ------
    ValueError
        If a weight is negative, missing or infinite, all are zero, or their number is wrong.
    """
    rows: Any = target
    weights = read_weight(sample_weight, rows)
    return np.ones(len(target)) if weights is None else weights


def check_held_out_weights(weights: npt.NDArray[np.float64]) -> None:
    """Refuse held-out rows whose weights are all 0.

    Raises
    ------
    ValueError
        If no row has a positive weight.
    """
    if not weights.any():
        raise ValueError(
            "sample_weight is 0 for all rows that members predict out of fold, so the members "
            "cannot be scored: set a positive weight for some of these rows, or use other folds"
        )


def check_squares(values: npt.NDArray[np.float64], what: str) -> None:
    """Refuse values whose sum of squares over rows would overflow.

    Raises
    ------
    ValueError
        If a value is beyond 1e145.
    """
    for extreme in (values.max(), values.min()):
        if abs(extreme) > _GREATEST:
            raise ValueError(
                f"{what} {float(extreme):.3g}, whose squared errors overflow: divide y by a "
                "constant, and multiply the predictions by it"
            )


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
