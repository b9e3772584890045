"""Costs of decisions: input as arrays, data frames and mappings, and expected costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["best_decisions", "expected_costs", "read_cost_matrix", "read_row_costs"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# Largest cost whose products with probabilities do not overflow when summed.
_LARGEST = np.finfo(np.float64).max / 4
_HOW = (
    "give an array with a row for each true class and a column for each predicted one in the order "
    "of classes_, a pandas data frame with the classes as index and columns, or a mapping "
    "{true: {predicted: cost}} or {(true, predicted): cost}"
)


def read_cost_matrix(given: Any, classes: Array) -> Floats:
    """Return the costs L[k, j] of predicting class j when the truth is k.

    Parameters
    ----------
    given : array-like, pandas data frame, mapping or None
        A mapping is ``{true: {predicted: cost}}`` or ``{(true, predicted): cost}``; errors that it
        does not name cost 1, and correct predictions 0. Classes may be named by their text, as in
        JSON. None: each error costs 1.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    costs : ndarray of shape (n_classes, n_classes)

    Raises
    ------
    ValueError
        If the costs do not match the classes, or a cost is not a finite number.
    """
    n = len(classes)
    if given is None:
        return 1.0 - np.eye(n)
    if isinstance(given, Mapping):
        return _read_mapping(given, classes)
    if hasattr(given, "columns"):
        return _read_frame(given, classes)
    costs = _as_numbers(given, "cost_matrix")
    if costs.shape != (n, n):
        raise ValueError(
            f"cost_matrix has the shape {costs.shape}, but there are {n} classes, "
            f"{classes.tolist()}: {_HOW}"
        )
    _check_costs(costs, "cost_matrix", classes)
    return costs


def read_row_costs(given: Any, matrix: Floats, classes: Array, n_rows: int) -> Floats:
    """Return the costs of each row.

    Parameters
    ----------
    given : array-like of shape (n_rows, n_classes, n_classes) or mapping
        A mapping, in either form of `read_cost_matrix`, from pairs of classes to a cost or to the
        costs of all rows. Pairs that it does not name have the costs of the matrix.
    matrix : ndarray of shape (n_classes, n_classes)
    classes : ndarray of shape (n_classes,)
    n_rows : int

    Returns
    -------
    costs : ndarray of shape (n_rows, n_classes, n_classes)

    Raises
    ------
    ValueError
        If the costs do not match the rows and the classes, or a cost is not a finite number.
    """
    n = len(classes)
    if isinstance(given, Mapping):
        costs = np.repeat(matrix[np.newaxis], n_rows, axis=0)
        for pair, value in _iter_pairs(given, "costs"):
            true, predicted = _find_indices(pair, classes, "costs")
            column = _as_numbers(value, "costs")
            if column.ndim and column.shape != (n_rows,):
                raise ValueError(
                    f"costs of {pair!r} have the shape {column.shape}, but there are {n_rows} "
                    "rows: give a single cost, or one for each row"
                )
            costs[:, true, predicted] = column
    else:
        costs = _as_numbers(given, "costs")
        if costs.shape != (n_rows, n, n):
            raise ValueError(
                f"costs has the shape {costs.shape}, but there are {n_rows} rows and {n} classes, "
                f"{classes.tolist()}: give an array of shape {(n_rows, n, n)}, costs[i, k, j] of "
                "predicting class j for row i when the truth is k, or a mapping {(true, "
                "predicted): costs of all rows}"
            )
    _check_costs(costs, "costs", classes)
    return costs


def expected_costs(posteriors: Floats, costs: Floats) -> Floats:
    """Return sum_k L_kj P(k | x) for each row and each decision j.

    Parameters
    ----------
    posteriors : ndarray of shape (n_rows, n_classes)
    costs : ndarray of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes)
    """
    if costs.ndim == 2:
        return posteriors @ costs
    expected: Floats = np.einsum("ik,ikj->ij", posteriors, costs)
    return expected


def best_decisions(posteriors: Floats, costs: Floats) -> npt.NDArray[np.intp]:
    """Return the decision of lowest expected cost in each row; ties go to the first.

    The parameters are those of `expected_costs`; posteriors may be scaled.
    """
    decisions: npt.NDArray[np.intp] = expected_costs(posteriors, normalize_costs(costs)).argmin(
        axis=1
    )
    return decisions


def normalize_costs(costs: Floats) -> Floats:
    """Subtract the largest cost of the same true class, and scale costs to about 1.

    This does not change any decision. The costs 0 and 1 become minus the identity matrix, for
    which the decision is exactly the largest posterior. The scale is a power of two, which is exact
    and keeps small costs from underflowing when multiplied by small posteriors.
    """
    _, exponents = np.frexp(np.abs(costs).max(axis=(-2, -1), keepdims=True))
    scaled: Floats = np.ldexp(costs, -exponents)
    scaled -= scaled.max(axis=-1, keepdims=True)
    return scaled


def _read_mapping(given: Mapping[Any, Any], classes: Array) -> Floats:
    costs = 1.0 - np.eye(len(classes))
    for pair, value in _iter_pairs(given, "cost_matrix"):
        place = _find_indices(pair, classes, "cost_matrix")
        cost = _as_numbers(value, "cost_matrix")
        if cost.ndim:
            raise ValueError(
                f"cost_matrix has {value!r} for {pair!r}: one number is needed; pass costs of each "
                "row to predict as costs="
            )
        costs[place] = cost
    _check_costs(costs, "cost_matrix", classes)
    return costs


def _iter_pairs(given: Mapping[Any, Any], name: str) -> Iterator[tuple[tuple[Any, Any], Any]]:
    """Yield ((true, predicted), cost) for either form of mapping."""
    for key, value in given.items():
        if isinstance(value, Mapping):
            yield from (((key, predicted), cost) for predicted, cost in value.items())
        elif isinstance(key, tuple) and len(key) == 2:
            yield key, value
        else:
            raise ValueError(
                f"{name} has the key {key!r} with the value {value!r}: use "
                "{true: {predicted: cost}} or {(true, predicted): cost}"
            )


def _read_frame(given: Any, classes: Array) -> Floats:
    if not hasattr(given, "index"):
        raise ValueError(
            f"cost_matrix is a table of type {type(given).__name__}, whose rows have no names: "
            f"{_HOW}"
        )
    places = []
    for side, labels in (("index (true classes)", given.index), ("columns", given.columns)):
        names = list(labels)
        if len(names) != len(classes) or any(names.count(c) != 1 for c in classes.tolist()):
            raise ValueError(
                f"cost_matrix has the {side} {names}, but the classes are {classes.tolist()}: name "
                f"each of them once{_describe_numbered_classes(classes.tolist())}"
            )
        places.append([names.index(label) for label in classes.tolist()])
    costs = _as_numbers(given.to_numpy(), "cost_matrix")[np.ix_(*places)]
    _check_costs(costs, "cost_matrix", classes)
    return costs


def _find_indices(pair: tuple[Any, Any], classes: Array, name: str) -> tuple[int, int]:
    """Return the indices of two classes, named as they are or, as keys of JSON are, by text."""
    names = classes.tolist()
    texts = [str(label) for label in names]
    places = []
    for label in pair:
        if label in names:
            places.append(names.index(label))
        elif label in texts:
            places.append(texts.index(label))
        else:
            raise ValueError(
                f"{name} names the class {label!r} in {pair!r}, but the classes are {names}"
                f"{_describe_numbered_classes(names)}"
            )
    return places[0], places[1]


def _describe_numbered_classes(names: list[Any]) -> str:
    """Return a hint for classes that an ensemble may have encoded as integers."""
    if names != list(range(len(names))):
        return ""
    return (
        "; a member of an ensemble, which encodes the sorted classes as 0, 1, .., requires an array"
    )


def _as_numbers(given: Any, name: str) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers, got {given!r}: {_HOW}") from error


def _check_costs(costs: Floats, name: str, classes: Array) -> None:
    wrong = np.argwhere(~(np.abs(costs) <= _LARGEST))
    if len(wrong):
        place = tuple(wrong[0])
        true, predicted = (classes.tolist()[k] for k in place[-2:])
        row = f" in row {place[0]}" if costs.ndim == 3 else ""
        raise ValueError(
            f"{name} has {costs[place]} for the pair (true, predicted) = ({true!r}, {predicted!r})"
            f"{row}: costs must be finite numbers up to {_LARGEST:.0e}; use a large cost for "
            "errors that must not occur"
        )
