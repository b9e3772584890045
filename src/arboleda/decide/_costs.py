"""Costs of decisions: read from matrices, tables and mappings, and weighed by posteriors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["best_decisions", "expected_costs", "read_cost_matrix", "read_row_costs"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# Sums of so large costs, times probabilities that miss 1 by rounding, stay inside float64.
_LARGEST = np.finfo(np.float64).max / 4
_HOW = (
    "give an array with a row for each true class and a column for each predicted one in the order "
    "of classes_, a pandas data frame with the classes as index and columns, or a mapping "
    "{true: {predicted: cost}} or {(true, predicted): cost}"
)


def read_cost_matrix(given: Any, classes: Array) -> Floats:
    """Costs L[k, j] of predicting class j when the truth is k.

    Parameters
    ----------
    given : array-like, pandas data frame, mapping or None
        A mapping is ``{true: {predicted: cost}}`` or ``{(true, predicted): cost}``; an error that
        it does not name costs 1, a correct prediction 0. None: 1 for every error.
    classes : ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If it does not fit the classes, or a cost is no finite number.
    """
    n = len(classes)
    if given is None:
        return 1.0 - np.eye(n)
    if isinstance(given, Mapping):
        return _of_mapping(given, classes)
    if hasattr(given, "columns"):
        return _of_frame(given, classes)
    costs = _numbers(given, "cost_matrix")
    if costs.shape != (n, n):
        raise ValueError(
            f"cost_matrix has the shape {costs.shape}, but there are {n} classes, "
            f"{classes.tolist()}: {_HOW}"
        )
    _check(costs, "cost_matrix", classes)
    return costs


def read_row_costs(given: Any, matrix: Floats, classes: Array, n_rows: int) -> Floats:
    """Costs of each row by itself.

    Parameters
    ----------
    given : array-like of shape (n_rows, n_classes, n_classes) or mapping
        A mapping, of either form that `read_cost_matrix` takes, from pairs of classes to a cost or
        to the costs of all rows. Pairs that it does not name have the costs of the matrix.
    matrix : ndarray of shape (n_classes, n_classes)
    classes : ndarray of shape (n_classes,)
    n_rows : int

    Returns
    -------
    costs : ndarray of shape (n_rows, n_classes, n_classes)

    Raises
    ------
    ValueError
        If they do not fit the rows and the classes, or a cost is no finite number.
    """
    n = len(classes)
    if isinstance(given, Mapping):
        costs = np.repeat(matrix[np.newaxis], n_rows, axis=0)
        for pair, value in _named_pairs(given, "costs"):
            true, predicted = _places(pair, classes, "costs")
            column = _numbers(value, "costs")
            if column.ndim and column.shape != (n_rows,):
                raise ValueError(
                    f"costs of {pair!r} have the shape {column.shape}, but there are {n_rows} "
                    "rows: give one cost, or one for each row"
                )
            costs[:, true, predicted] = column
    else:
        costs = _numbers(given, "costs")
        if costs.shape != (n_rows, n, n):
            raise ValueError(
                f"costs has the shape {costs.shape}, but there are {n_rows} rows and {n} classes, "
                f"{classes.tolist()}: give an array of shape {(n_rows, n, n)}, costs[i, k, j] of "
                "predicting class j for row i when the truth is k, or a mapping {(true, "
                "predicted): costs of all rows}"
            )
    _check(costs, "costs", classes)
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
    """Return the decision of least expected cost in each row, the first of equals.

    Parameters are those of `expected_costs`; posteriors may be scaled.
    """
    decisions: npt.NDArray[np.intp] = expected_costs(posteriors, relative(costs)).argmin(axis=1)
    return decisions


def relative(costs: Floats) -> Floats:
    """Costs less the largest of the same truth, which changes no decision, scaled to about 1.

    The costs 0 and 1 become minus the identity, so that the decision is the largest posterior to
    the last bit; the scale is a power of two, which rounds nothing, and keeps tiny costs from
    vanishing when they meet small posteriors.
    """
    _, exponents = np.frexp(np.abs(costs).max(axis=(-2, -1), keepdims=True))
    scaled: Floats = np.ldexp(costs, -exponents)
    scaled -= scaled.max(axis=-1, keepdims=True)
    return scaled


def _of_mapping(given: Mapping[Any, Any], classes: Array) -> Floats:
    costs = 1.0 - np.eye(len(classes))
    for pair, value in _named_pairs(given, "cost_matrix"):
        place = _places(pair, classes, "cost_matrix")
        cost = _numbers(value, "cost_matrix")
        if cost.ndim:
            raise ValueError(
                f"cost_matrix has {value!r} for {pair!r}: one number is needed; costs of each row "
                "are given to predict as costs="
            )
        costs[place] = cost
    _check(costs, "cost_matrix", classes)
    return costs


def _named_pairs(given: Mapping[Any, Any], name: str) -> Iterator[tuple[tuple[Any, Any], Any]]:
    """Yield ((true, predicted), cost) of both forms of mapping."""
    for key, value in given.items():
        if isinstance(value, Mapping):
            yield from (((key, predicted), cost) for predicted, cost in value.items())
        elif isinstance(key, tuple) and len(key) == 2:
            yield key, value
        else:
            raise ValueError(
                f"{name} has the key {key!r} with the value {value!r}: write "
                "{true: {predicted: cost}} or {(true, predicted): cost}"
            )


def _of_frame(given: Any, classes: Array) -> Floats:
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
                f"each of them once{_if_numbered(classes.tolist())}"
            )
        places.append([names.index(label) for label in classes.tolist()])
    costs = _numbers(given.to_numpy(), "cost_matrix")[np.ix_(*places)]
    _check(costs, "cost_matrix", classes)
    return costs


def _places(pair: tuple[Any, Any], classes: Array, name: str) -> tuple[int, int]:
    names = classes.tolist()
    for label in pair:
        if label not in names:
            raise ValueError(
                f"{name} names the class {label!r} in {pair!r}, but the classes are {names}"
                f"{_if_numbered(names)}"
            )
    return names.index(pair[0]), names.index(pair[1])


def _if_numbered(names: list[Any]) -> str:
    """What to do where classes are numbers, which may not be those that the user has."""
    if names != list(range(len(names))):
        return ""
    return "; an ensemble, which numbers the sorted classes from 0 for its members, needs an array"


def _numbers(given: Any, name: str) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds {given!r}, where numbers are needed: {_HOW}") from error


def _check(costs: Floats, name: str, classes: Array) -> None:
    wrong = np.argwhere(~(np.abs(costs) <= _LARGEST))
    if len(wrong):
        place = tuple(wrong[0])
        true, predicted = (classes.tolist()[k] for k in place[-2:])
        row = f" in row {place[0]}" if costs.ndim == 3 else ""
        raise ValueError(
            f"{name} has {costs[place]} for the pair (true, predicted) = ({true!r}, {predicted!r})"
            f"{row}: costs are finite numbers up to {_LARGEST:.0e}; for what must never happen "
            "give a large one"
        )
