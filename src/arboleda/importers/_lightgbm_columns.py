"""Columns of a LightGBM model: names, and labels of category codes."""

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
    check_category_count,
    read_given_categories,
)
from arboleda.importers._fields import with_error_context
from arboleda.importers._lightgbm_text import ModelText, read_text_entry
from arboleda.importers._lightgbm_trees import collect_categories

_MAX_COLUMNS = 2**24


def read_columns(
    text: ModelText,
    place: str,
    categories: Mapping[Any, Any] | None,
    feature_names: Sequence[str] | None,
) -> Columns:
    """Read the columns; names and labels of the caller override those in the file.

    Raises
    ------
    ModelFormatError
        If they cannot be read.
    ValueError
        If names or labels of the caller do not match the model.
    """
    own_names, labels = with_error_context(place, lambda: (_read_names(text), _read_labels(text)))
    names = own_names
    if feature_names is not None:
        names = [str(name) for name in feature_names]
        if len(names) != len(labels):
            raise ValueError(
                f"feature_names must hold a name for each of the {len(labels)} columns, got "
                f"{len(names)} names"
            )
    for column, listed in read_given_categories(categories, names, len(labels)).items():
        if labels[column] is None:
            raise ValueError(f"categories names column {column}, which is numeric: remove it")
        labels[column] = listed
    return Columns(None if names is None else tuple(names), tuple(labels))


def _read_names(text: ModelText) -> list[str] | None:
    """Read the names, or return None if they are LightGBM's defaults for arrays."""
    names = read_text_entry(text.header, "feature_names").split(" ")
    if len(names) != text.n_columns:
        raise ModelFormatError(f"it has {len(names)} names for {text.n_columns} columns")
    if names == [f"Column_{j}" for j in range(len(names))]:
        return None
    return names


def _read_labels(text: ModelText) -> list[Mapping[int, Label] | None]:
    """Read the labels of each categorical column, by their codes."""
    n_columns = text.n_columns
    if n_columns > _MAX_COLUMNS:
        raise ModelFormatError(f"it has {n_columns} columns")
    infos = read_text_entry(text.header, "feature_infos").split(" ")
    if len(infos) != n_columns:
        raise ModelFormatError(f"feature_infos has {len(infos)} entries for {n_columns} columns")
    numbers = {
        j: _parse_categories(info) for j, info in enumerate(infos) if _lists_categories(info)
    }
    for tree in text.trees:
        for column, codes in collect_categories(tree).items():
            check_category_count(codes.size, str(column))  # before they are compared
            numbers[column] = np.union1d(numbers.get(column, codes), codes)
            check_category_count(numbers[column].size, str(column))
    labels: list[Mapping[int, Label] | None] = [None] * n_columns
    for column, known in numbers.items():
        if not 0 <= column < n_columns:
            raise ModelFormatError(f"a node splits on column {column}, but there are {n_columns}")
        labels[column] = {code: code for code in known.tolist()}
    if text.categories:
        places = _find_categorical_columns(text, sorted(numbers))
        for column, listed in zip(places, text.categories, strict=True):
            labels[column] = as_labels(listed, str(column))
    return labels


def _find_categorical_columns(text: ModelText, columns_in_trees: list[int]) -> list[int]:
    """Return the indices of the columns whose labels the file lists."""
    words = text.parameters.get("categorical_feature", "").replace(",", " ").split()
    listed = sorted({int(word) for word in words if word.isascii() and word.isdigit()})
    for columns in (listed, columns_in_trees):
        if len(columns) == len(text.categories or ()) and all(j < text.n_columns for j in columns):
            return columns
    raise ModelFormatError(
        f"it lists categories of {len(text.categories or ())} columns without their indices"
    )


def _lists_categories(info: str) -> bool:
    return info != "none" and not info.startswith("[")


def _parse_categories(info: str) -> Integers:
    """Parse the categories of the training data, such as "-1:0:2"; negative ones are missing."""
    try:
        codes = np.array(info.split(":"), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise ModelFormatError("feature_infos holds a value that is not a category") from error
    return np.unique(codes[codes >= 0])
