"""Encoding of categorical columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import MISSING, get_missing_code
from arboleda._engine.labels import (
    Label,
    UnreadableLabelError,
    get_label_kind,
    sort_labels,
    to_plain_label,
)

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """A column of labels: row i has label number ``codes[i]``, negative codes are missing.

    Labels may repeat, be missing values, or occur in no row. `labels_at` returns the labels of some
    numbers; it is only called for labels that occur in some row.
    """

    codes: npt.NDArray[np.integer[Any]]
    labels_at: Callable[[npt.NDArray[np.intp]], Sequence[Any]]

    def present(self) -> npt.NDArray[np.intp]:
        """Return the numbers of the labels that occur in some row, ascending."""
        top = int(self.codes.max(initial=-1))
        if top > 4 * self.codes.size + 1000:
            found = np.unique(self.codes)
            return found[found >= 0].astype(np.intp)
        seen = np.zeros(top + 2, dtype=bool)
        seen[np.maximum(self.codes, -1)] = True
        return np.flatnonzero(seen[:-1])

    def row_of(self, label: int) -> int:
        """Return the first row with a label."""
        return int(np.flatnonzero(self.codes == label)[0])


def encode_object_labels(values: npt.NDArray[Any]) -> LabelColumn:
    """Encode the distinct objects of a 1-D array.

    Raises
    ------
    UnreadableLabelError
        If an object is not hashable.
    """
    rows = values.tolist() if values.dtype.kind != "M" else list(values)
    try:
        number = {label: code for code, label in enumerate(dict.fromkeys(rows))}
    except TypeError as error:
        raise UnreadableLabelError(
            "it has unhashable values such as lists or dicts: convert them to text"
        ) from error
    codes = np.fromiter(map(number.__getitem__, rows), dtype=np.intp, count=len(rows))
    labels = list(number)
    return LabelColumn(codes, lambda wanted: [labels[code] for code in wanted])


def encode_array_labels(values: npt.NDArray[Any]) -> LabelColumn:
    """Encode the distinct values of a 1-D array of numbers, booleans, dates or text."""
    labels, codes = np.unique(values, return_inverse=True)
    return LabelColumn(codes.reshape(-1), lambda wanted: list(labels[wanted]))


def learn_levels(column: LabelColumn, place: str, *, many: bool = False) -> tuple[Label, ...]:
    """Return the sorted labels of a column.

    Parameters
    ----------
    column : LabelColumn
    place : str
        Name of the column, for messages.
    many : bool, default=False
        Whether more levels than the engine supports are allowed.

    Raises
    ------
    ValueError
        If a label is unreadable or there are more levels than the engine supports.
    """
    present = column.present()
    if (
        not many and present.size > 2 * MISSING
    ):  # probably an identifier: raise before reading the labels
        raise ValueError(_too_many(place, present.size))
    levels = set(_plain_labels(column, present, place)) - {None}
    if not many and len(levels) > MISSING:
        raise ValueError(_too_many(place, len(levels)))
    return sort_labels(level for level in levels if level is not None)


def encode(
    column: LabelColumn, codes: Mapping[Label, int], place: str, *, separate_unseen: bool = False
) -> npt.NDArray[Any]:
    """Return the codes of a column; missing and unseen labels get `get_missing_code`.

    With `separate_unseen`, unseen labels get the number of levels instead, unless that equals the
    missing code. Codes are uint16, the engine's type, or uint32 if there are too many levels.

    Raises
    ------
    ValueError
        If a label is unreadable, or all labels are of a different kind than in `fit`, for example
        text instead of numbers.
    """
    present = column.present()
    missing = get_missing_code(len(codes))
    dtype = np.uint16 if missing == MISSING else np.uint32
    table: npt.NDArray[Any] = np.full(
        int(present[-1]) + 2 if present.size else 1, missing, dtype=dtype
    )
    labels = _plain_labels(column, present, place)
    unseen = len(codes) if separate_unseen else missing
    table[present] = [missing if label is None else codes.get(label, unseen) for label in labels]
    if codes and (table >= len(codes)).all():
        _check_kinds(column, present, labels, codes, place)
    return take(table, column.codes)


def take(values: npt.NDArray[Scalar], codes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Scalar]:
    """Return the value of each code; negative codes get the last value."""
    found: npt.NDArray[Scalar] = values[np.maximum(codes, -1)]
    return found


def _plain_labels(
    column: LabelColumn, present: npt.NDArray[np.intp], place: str
) -> list[Label | None]:
    found: list[Label | None] = []
    for code, label in zip(present, column.labels_at(present), strict=True):
        try:
            found.append(to_plain_label(label))
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
    """Raise an error if all labels are of a different kind than those of `fit`."""
    found = {get_label_kind(label) for label in labels if label is not None}
    known = {get_label_kind(label) for label in codes}
    if not found or not found.isdisjoint(known):
        return
    code, label = next(
        (code, label) for code, label in zip(present, labels, strict=True) if label is not None
    )
    raise ValueError(
        f"column {place} of X has {label!r} in row {column.row_of(code)}, a "
        f"{get_label_kind(label)}, but its categories in fit were of kind "
        f"{' and '.join(sorted(known))}: convert the column to its type in fit"
    )


def _too_many(place: str, count: int) -> str:
    return (
        f"column {place} of X has {count:,} categories, more than {MISSING:,}: drop it if it is an "
        "identifier, otherwise merge rare categories or encode it as numbers"
    )
