"""Columns of another library's model: names, and labels of category codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.labels import Label, UnreadableLabelError, sort_labels, to_plain_label
from arboleda._engine.schema import MISSING, Schema

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Columns:
    """Columns in the order of the model.

    Parameters
    ----------
    names : tuple of str, or None
    labels : tuple
        For each column, None if it is numeric, else the label of each category code.
    """

    names: tuple[str, ...] | None
    labels: tuple[Mapping[int, Label] | None, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.labels)

    @cached_property
    def schema(self) -> Schema:
        """Schema of the columns, as our estimators use it.

        Raises
        ------
        ValueError
            If column names or categories are not unique, or a column has too many categories.
        """
        levels = tuple(
            None if labels is None else sort_labels(labels.values()) for labels in self.labels
        )
        schema = Schema(self.names, levels)
        for j, n_levels in enumerate(schema.n_levels):
            check_category_count(n_levels, schema.describe(j))
        return schema

    @cached_property
    def _codes(self) -> tuple[dict[int, int], ...]:
        """For each column, the mapping of their category codes to ours."""
        return tuple(
            {} if labels is None or ours is None else {k: ours[x] for k, x in labels.items()}
            for labels, ours in zip(self.labels, self.schema.codes, strict=True)
        )

    def encode_categories(self, column: int, codes: Iterable[int]) -> Integers:
        """Convert category codes of the other library to ours, ascending.

        Raises
        ------
        ValueError
            If the column has no such category.
        """
        if not 0 <= column < self.n_columns:
            raise ValueError(f"a node splits on column {column}, but there are {self.n_columns}")
        known = self._codes[column]
        try:
            return np.array(sorted({known[int(code)] for code in codes}), dtype=np.int64)
        except KeyError as error:
            raise ValueError(
                f"a node splits on category {error} of column {self.schema.describe(column)}, "
                f"which has {len(known)} categories"
            ) from error

    def other_categories(self, column: int, codes: Integers) -> Integers:
        """Return our codes of all other categories of a column."""
        return np.setdiff1d(np.arange(len(self._codes[column])), codes)


def check_category_count(n_categories: int, place: str) -> None:
    """Refuse a column with too many categories.

    Raises
    ------
    ValueError
        If there are more categories than a column can have.
    """
    if n_categories > MISSING:
        raise ValueError(
            f"column {place} has {n_categories:,} categories: at most {MISSING:,} are supported"
        )


def as_labels(categories: Any, place: str) -> dict[int, Label]:
    """Return the label of each code, for categories in the order of their codes.

    Raises
    ------
    ValueError
        If a category is missing, or has an unsupported type.
    """
    labels = {}
    try:
        for code, category in enumerate(categories):
            label = to_plain_label(category)
            if label is None:
                raise ValueError(f"column {place} has a missing value as a category")
            labels[code] = label
    except UnreadableLabelError as error:
        raise ValueError(f"the categories of column {place}: {error}") from error
    return labels


def is_present(category: Any) -> bool:
    """Return whether a category is not a missing value, which scikit-learn lists last."""
    return to_plain_label(category) is not None


def read_given_categories(
    categories: Mapping[Any, Sequence[Any]] | None, names: Sequence[str] | None, n_columns: int
) -> dict[int, dict[int, Label]]:
    """Read the argument ``categories``: labels in the order of codes, by column name or index.

    Raises
    ------
    TypeError
        If it is not a mapping of columns to sequences.
    ValueError
        If the model does not have a column, or a label has an unsupported type.
    """
    if categories is None:
        return {}
    if not isinstance(categories, Mapping):
        raise TypeError(
            f"categories must be a mapping of columns to their labels, in the order of their "
            f"codes, got {type(categories).__name__}"
        )
    places = {name: j for j, name in enumerate(names or ())}
    found = {}
    for column, labels in categories.items():
        place = places.get(column, column)
        if type(place) is not int or not 0 <= place < n_columns:
            raise ValueError(f"categories names column {column!r}, which the model does not have")
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise TypeError(f"categories[{column!r}] must be a sequence of labels, got {labels!r}")
        found[place] = as_labels(labels, repr(column))
    return found
