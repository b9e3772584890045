"""Categorical columns: their levels are learned at fit, their codes looked up ever after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._engine.labels import (
    Label,
    UnreadableLabelError,
    kind_of,
    plain_label,
    sorted_labels,
)
from arboleda._engine.schema import MISSING, missing_code

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """A column of labels: row i holds label number ``codes[i]``, a negative code means missing.

    Labels may repeat, be missing values, or be in no row. `labels_at` gives those of some numbers;
    it is asked only for labels that are in some row.
    """

    codes: npt.NDArray[np.integer[Any]]
    labels_at: Callable[[npt.NDArray[np.intp]], Sequence[Any]]

    def present(self) -> npt.NDArray[np.intp]:
        """Numbers of the labels that are in some row, ascending."""
        top = int(self.codes.max(initial=-1))
        if top > 4 * self.codes.size + 1000:
            found = np.unique(self.codes)
            return found[found >= 0].astype(np.intp)
        seen = np.zeros(top + 2, dtype=bool)
        seen[np.maximum(self.codes, -1)] = True
        return np.flatnonzero(seen[:-1])

    def row_of(self, label: int) -> int:
        """Return the first row that holds a label."""
        return int(np.flatnonzero(self.codes == label)[0])


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
    labels = list(number)
    return LabelColumn(codes, lambda wanted: [labels[code] for code in wanted])


def labels_of_numbers(values: npt.NDArray[Any]) -> LabelColumn:
    """Number the different values of a 1-D array of numbers, booleans, dates or text."""
    labels, codes = np.unique(values, return_inverse=True)
    return LabelColumn(codes.reshape(-1), lambda wanted: list(labels[wanted]))


def learn_levels(column: LabelColumn, place: str, *, many: bool = False) -> tuple[Label, ...]:
    """Labels that are present in a column, sorted.

    Parameters
    ----------
    column : LabelColumn
    place : str
        The column's name, for the message.
    many : bool, default=False
        Whether there may be more than the engine numbers.

    Raises
    ------
    ValueError
        If a label is unreadable or there are more levels than the engine numbers.
    """
    present = column.present()
    if (
        not many and present.size > 2 * MISSING
    ):  # most probably an identifier: say so before looking at labels
        raise ValueError(_too_many(place, present.size))
    levels = set(_plain_labels(column, present, place)) - {None}
    if not many and len(levels) > MISSING:
        raise ValueError(_too_many(place, len(levels)))
    return sorted_labels(level for level in levels if level is not None)


def encode(
    column: LabelColumn, codes: Mapping[Label, int], place: str, *, unseen_apart: bool = False
) -> npt.NDArray[Any]:
    """Codes of a column's rows; a missing label and one that `fit` did not see get `missing_code`.

    With `unseen_apart` one that `fit` did not see gets the number of levels instead, where that is
    not the missing code too. Codes are uint16, as the engine reads them, or uint32 where there are
    too many levels for that.

    Raises
    ------
    ValueError
        If a label is unreadable, or all are of another kind than those of `fit`: text, say, where
        there were numbers.
    """
    present = column.present()
    missing = missing_code(len(codes))
    dtype = np.uint16 if missing == MISSING else np.uint32
    table: npt.NDArray[Any] = np.full(
        int(present[-1]) + 2 if present.size else 1, missing, dtype=dtype
    )
    labels = _plain_labels(column, present, place)
    unseen = len(codes) if unseen_apart else missing
    table[present] = [missing if label is None else codes.get(label, unseen) for label in labels]
    if codes and (table >= len(codes)).all():
        _check_kinds(column, present, labels, codes, place)
    return take(table, column.codes)


def take(values: npt.NDArray[Scalar], codes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Scalar]:
    """Return the value of each code; the last value stands for negative codes."""
    found: npt.NDArray[Scalar] = values[np.maximum(codes, -1)]
    return found


def _plain_labels(
    column: LabelColumn, present: npt.NDArray[np.intp], place: str
) -> list[Label | None]:
    found: list[Label | None] = []
    for code, label in zip(present, column.labels_at(present), strict=True):
        try:
            found.append(plain_label(label))
        except UnreadableLabelError as error:
            row = column.row_of(code)
            raise ValueError(f"column {place} of X, row {row}: {error}") from error
    return found


def _check_kinds(
    column: LabelColumn,
    present: npt.NDArray[np.intp],
    labels: Sequence[Label | None],
    codes: Mapping[Label, int],
    place: str,
) -> None:
    """Refuse a column whose labels are all of another kind than those of `fit`."""
    found = {kind_of(label) for label in labels if label is not None}
    known = {kind_of(label) for label in codes}
    if not found or not found.isdisjoint(known):
        return
    code, label = next(
        (code, label) for code, label in zip(present, labels, strict=True) if label is not None
    )
    raise ValueError(
        f"column {place} of X holds {label!r} in row {column.row_of(code)}, a {kind_of(label)}, "
        f"but its categories in fit were of kind {' and '.join(sorted(known))}: give the column "
        "the type that it had in fit"
    )


def _too_many(place: str, count: int) -> str:
    return (
        f"column {place} of X has {count:,} categories, more than {MISSING:,}: drop it if it is an "
        "identifier, otherwise merge rare categories or give it as numbers"
    )
