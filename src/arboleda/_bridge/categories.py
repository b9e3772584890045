"""Categorical columns: their levels are learned at fit, their codes looked up ever after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._bridge.labels import Label, UnreadableLabelError, plain_label, sorted_labels
from arboleda._bridge.schema import MISSING

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """A column of labels: row i holds ``labels[codes[i]]``, a negative code means missing.

    Labels may repeat, be missing values, or be in no row.
    """

    codes: npt.NDArray[np.integer[Any]]
    labels: Any  # a sequence; it is asked only for labels that are in some row


def labels_of_objects(values: npt.NDArray[Any]) -> LabelColumn:
    """Number the different objects of a 1-D array.

    Raises
    ------
    UnreadableLabelError
        If an object cannot be hashed and so is no label.
    """
    rows = values.tolist() if values.dtype.kind != "M" else list(values)
    try:
        number = {label: code for code, label in enumerate(dict.fromkeys(rows))}
    except TypeError as error:
        raise UnreadableLabelError(
            "it holds lists, dicts or the like: turn them into text first"
        ) from error
    codes = np.fromiter(map(number.__getitem__, rows), dtype=np.intp, count=len(rows))
    return LabelColumn(codes, list(number))


def labels_of_numbers(values: npt.NDArray[Any]) -> LabelColumn:
    """Number the different values of a 1-D array of numbers, booleans, dates or text."""
    labels, codes = np.unique(values, return_inverse=True)
    return LabelColumn(codes.reshape(-1), labels)


def learn_levels(column: LabelColumn, place: str) -> tuple[Label, ...]:
    """Labels that are present in a column, sorted.

    Parameters
    ----------
    column : LabelColumn
    place : str
        The column's name, for the message.

    Raises
    ------
    ValueError
        If a label is unreadable or there are more levels than the engine numbers.
    """
    present = _present(column)
    if present.size > 2 * MISSING:  # most probably an identifier: say so before looking at labels
        raise ValueError(_too_many(place, present.size))
    levels = set(_plain_labels(column, present, place)) - {None}
    if len(levels) > MISSING:
        raise ValueError(_too_many(place, len(levels)))
    return sorted_labels(level for level in levels if level is not None)


def encode(column: LabelColumn, codes: Mapping[Label, int], place: str) -> npt.NDArray[np.uint16]:
    """Codes of a column's rows; a missing label and one that `fit` did not see get 65535."""
    present = _present(column)
    table = np.full(int(present[-1]) + 2 if present.size else 1, MISSING, dtype=np.uint16)
    table[present] = [
        MISSING if label is None else codes.get(label, MISSING)
        for label in _plain_labels(column, present, place)
    ]
    return take(table, column.codes)


def take(values: npt.NDArray[Scalar], codes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Scalar]:
    """Return the value of each code; the last value stands for negative codes."""
    found: npt.NDArray[Scalar] = values[np.maximum(codes, -1)]
    return found


def _present(column: LabelColumn) -> npt.NDArray[np.intp]:
    """Numbers of the labels that are in some row, ascending."""
    codes = column.codes
    if not codes.size:
        return np.empty(0, dtype=np.intp)
    if int(codes.max()) > 4 * codes.size + 1000:
        found = np.unique(codes)
        return found[found >= 0].astype(np.intp)
    seen = np.zeros(max(int(codes.max()), 0) + 2, dtype=bool)
    seen[np.maximum(codes, -1)] = True
    return np.flatnonzero(seen[:-1])


def _plain_labels(
    column: LabelColumn, present: npt.NDArray[np.intp], place: str
) -> list[Label | None]:
    found: list[Label | None] = []
    for code in present:
        label = column.labels[code]
        try:
            found.append(plain_label(label))
        except UnreadableLabelError as error:
            row = int(np.flatnonzero(column.codes == code)[0])
            raise ValueError(f"column {place} of X, row {row}: {error}") from error
    return found


def _too_many(place: str, count: int) -> str:
    return (
        f"column {place} of X has {count:,} categories, more than {MISSING:,}: drop it if it is an "
        "identifier, otherwise merge rare categories or give it as numbers"
    )
