"""The columns of another library's model: names, and the labels of its category codes."""

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
        For each column None if it holds numbers, else its categories: the label of each code.
    """

    names: tuple[str, ...] | None
    labels: tuple[Mapping[int, Label] | None, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.labels)

    @cached_property
    def schema(self) -> Schema:
        """The columns as our estimators know them.

        Raises
        ------
        ValueError
            If two columns have one name, or a column two equal categories or too many.
        """
        levels = tuple(
            None if labels is None else sort_labels(labels.values()) for labels in self.labels
        )
        schema = Schema(self.names, levels)
        for j, n_levels in enumerate(schema.n_levels):
            refuse_many(n_levels, schema.describe(j))
        return schema

    @cached_property
    def _codes(self) -> tuple[dict[int, int], ...]:
        """For each column our code of each code of theirs."""
        return tuple(
            {} if labels is None or ours is None else {k: ours[x] for k, x in labels.items()}
            for labels, ours in zip(self.labels, self.schema.codes, strict=True)
        )

    def recoded(self, column: int, codes: Iterable[int]) -> Integers:
        """Return our codes of categories that a model names by its own, ascending.

        Raises
        ------
        ValueError
            If the column has no such category.
        """
        if not 0 <= column < self.n_columns:
            raise ValueError(f"a node asks for column {column} of {self.n_columns}")
        known = self._codes[column]
        try:
            found = np.array(sorted({known[int(code)] for code in codes}), dtype=np.int64)
        except KeyError as error:
            raise ValueError(
                f"a node asks for category {error} of column {self.schema.describe(column)}, "
                f"which has {len(known)} categories"
            ) from error
        return found

    def others(self, column: int, codes: Integers) -> Integers:
        """Return our codes of all categories of a column but these."""
        return np.setdiff1d(np.arange(len(self._codes[column])), codes)


def refuse_many(n_categories: int, place: str) -> None:
    """Refuse more categories than a column can have.

    Raises
    ------
    ValueError
        If there are so many.
    """
    if n_categories > MISSING:
        raise ValueError(
            f"column {place} has {n_categories:,} categories: at most {MISSING:,} can be told apart"
        )


def as_labels(categories: Any, place: str) -> dict[int, Label]:
    """Return the label of each code, of categories in the order of their codes.

    Raises
    ------
    ValueError
        If one is missing, or nothing that can name a category.
    """
    labels = {}
    try:
        for code, category in enumerate(categories):
            label = to_plain_label(category)
            if label is None:
                raise ValueError(f"column {place} has a category without a name")
            labels[code] = label
    except UnreadableLabelError as error:
        raise ValueError(f"the categories of column {place}: {error}") from error
    return labels


def is_present(category: Any) -> bool:
    """Whether a category is no missing value; scikit-learn lists those behind all others."""
    return to_plain_label(category) is not None


def given_categories(
    categories: Mapping[Any, Sequence[Any]] | None, names: Sequence[str] | None, n_columns: int
) -> dict[int, dict[int, Label]]:
    """Read what a caller says of categories: labels in the order of codes, by name or place.

    Raises
    ------
    TypeError
        If it is no mapping of columns to sequences.
    ValueError
        If a column is none of the model's, or a label cannot be read.
    """
    if categories is None:
        return {}
    if not isinstance(categories, Mapping):
        raise TypeError(
            f"categories is of type {type(categories).__name__}: give a mapping of columns to "
            "their labels, in the order of their codes"
        )
    places = {name: j for j, name in enumerate(names or ())}
    found = {}
    for column, labels in categories.items():
        place = places.get(column, column)
        if type(place) is not int or not 0 <= place < n_columns:
            raise ValueError(f"categories names column {column!r}, which the model does not have")
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise TypeError(f"categories[{column!r}] is no sequence of labels")
        found[place] = as_labels(labels, repr(column))
    return found
