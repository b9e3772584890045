"""The columns of a model of LightGBM: names, and what its category codes stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arboleda._engine.labels import Label
from arboleda._errors import ModelFormatError
from arboleda.importers._columns import (
    Columns,
    Integers,
    as_labels,
    given_categories,
    refuse_many,
)
from arboleda.importers._fields import refusing
from arboleda.importers._lightgbm_text import ModelText, text_entry
from arboleda.importers._lightgbm_trees import asked_categories

_MOST_COLUMNS = 2**24


def read_columns(
    text: ModelText,
    place: str,
    categories: Mapping[Any, Any] | None,
    feature_names: Sequence[str] | None,
) -> Columns:
    """Read the columns; names and labels that were given take the place of those in the file.

    Raises
    ------
    ModelFormatError
        If they cannot be read.
    ValueError
        If what was given does not go with them.
    """
    own_names, labels = refusing(place, lambda: (_names(text), _labels(text)))
    names = own_names
    if feature_names is not None:
        names = [str(name) for name in feature_names]
        if len(names) != len(labels):
            raise ValueError(
                f"feature_names has {len(names)} names, and the model {len(labels)} columns"
            )
    for column, listed in given_categories(categories, names, len(labels)).items():
        if labels[column] is None:
            raise ValueError(f"categories names column {column}, which holds numbers")
        labels[column] = listed
    return Columns(None if names is None else tuple(names), tuple(labels))


def _names(text: ModelText) -> list[str] | None:
    """Names; none where they are those that LightGBM gives to columns of an array."""
    names = text_entry(text.header, "feature_names").split(" ")
    if len(names) != text.n_columns:
        raise ModelFormatError(f"it has {len(names)} names for {text.n_columns} columns")
    if names == [f"Column_{j}" for j in range(len(names))]:
        return None
    return names


def _labels(text: ModelText) -> list[Mapping[int, Label] | None]:
    """Labels of each column of categories, by their codes."""
    n_columns = text.n_columns
    if n_columns > _MOST_COLUMNS:
        raise ModelFormatError(f"it has {n_columns} columns")
    infos = text_entry(text.header, "feature_infos").split(" ")
    if len(infos) != n_columns:
        raise ModelFormatError(f"feature_infos has {len(infos)} entries for {n_columns} columns")
    numbers = {j: _whole_numbers(info) for j, info in enumerate(infos) if _lists_categories(info)}
    for tree in text.trees:
        for column, codes in asked_categories(tree).items():
            refuse_many(codes.size, str(column))  # before they are compared
            numbers[column] = np.union1d(numbers.get(column, codes), codes)
            refuse_many(numbers[column].size, str(column))
    labels: list[Mapping[int, Label] | None] = [None] * n_columns
    for column, known in numbers.items():
        if not 0 <= column < n_columns:
            raise ModelFormatError(f"a node asks for column {column} of {n_columns}")
        labels[column] = {code: code for code in known.tolist()}
    if text.categories:
        places = _categorical_places(text, sorted(numbers))
        for column, listed in zip(places, text.categories, strict=True):
            labels[column] = as_labels(listed, str(column))
    return labels


def _categorical_places(text: ModelText, asked: list[int]) -> list[int]:
    """Places of the columns whose labels the file lists."""
    told = text.parameters.get("categorical_feature", "").replace(",", " ").split()
    places = sorted({int(word) for word in told if word.isascii() and word.isdigit()})
    for found in (places, asked):
        if len(found) == len(text.categories or ()) and all(j < text.n_columns for j in found):
            return found
    raise ModelFormatError(
        f"it lists categories of {len(text.categories or ())} columns and does not tell which"
    )


def _lists_categories(info: str) -> bool:
    return info != "none" and not info.startswith("[")


def _whole_numbers(info: str) -> Integers:
    """Categories that were in the table, such as "-1:0:2"; negative ones are missing values."""
    try:
        found = np.array(info.split(":"), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise ModelFormatError("feature_infos holds what is no category") from error
    return np.unique(found[found >= 0])
