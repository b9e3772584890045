"""Columns of an XGBoost model: names, and categories of data frames."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from arboleda._engine.labels import Label
from arboleda._errors import ModelFormatError
from arboleda.importers._columns import Columns, as_labels, read_given_categories
from arboleda.importers._fields import (
    read_entry,
    read_integer,
    read_integers,
    read_numbers,
    read_strings,
    with_error_context,
)

_MAX_COLUMNS = 2**22


def read_columns(
    learner: dict[str, Any], place: str, categories: Mapping[Any, Any] | None
) -> Columns:
    """Read the columns; labels of the caller override those in the file.

    Raises
    ------
    ModelFormatError
        If they cannot be read.
    ValueError
        If labels of the caller do not match the model, or categories are neither in the file nor
        given by the caller.
    """
    n_columns, names, is_category, own = with_error_context(place, lambda: _read(learner))
    given = read_given_categories(categories, names, n_columns)
    labels: list[dict[int, Label] | None] = [None] * n_columns
    for column, listed in given.items():
        if column not in is_category:
            raise ValueError(f"categories names column {column}, which is numeric: remove it")
        labels[column] = listed
    for column in is_category - given.keys():
        if column not in own:
            shown = repr(names[column]) if names else str(column)
            raise ValueError(
                f"the model does not contain the categories of column {shown}, or has truncated "
                "labels that are not ASCII: give "
                f"categories={{{shown}: [...]}} with their labels in the order of their codes, "
                "such as a pandas column's .cat.categories; range(12) for the numbers 0 to 11"
            )
        labels[column] = own[column]
    return Columns(None if names is None else tuple(names), tuple(labels))


def _read(
    learner: dict[str, Any],
) -> tuple[int, list[str] | None, set[int], dict[int, dict[int, Label]]]:
    """Read the number of columns, names, categorical columns, and labels of categories."""
    parameters = read_entry(learner, "learner_model_param", dict)
    n_columns = read_integer(read_entry(parameters, "num_feature", object), "num_feature")
    names = read_strings(learner, "feature_names") if "feature_names" in learner else []
    types = read_strings(learner, "feature_types") if "feature_types" in learner else []
    for name, listed in (("feature_names", names), ("feature_types", types)):
        if listed and len(listed) != n_columns:
            raise ModelFormatError(f"{name} has {len(listed)} entries for {n_columns} columns")
    # Without names and types, the size of the file does not limit the number of columns.
    if n_columns > _MAX_COLUMNS:
        raise ModelFormatError(f"it has {n_columns} columns")
    is_category = {j for j, kind in enumerate(types) if kind == "c"}
    return n_columns, names or None, is_category, _read_own_categories(learner, n_columns)


def _read_own_categories(learner: dict[str, Any], n_columns: int) -> dict[int, dict[int, Label]]:
    booster = read_entry(learner, "gradient_booster", dict)
    model = read_entry(booster.get("gbtree", booster), "model", dict)
    if "cats" not in model:
        return {}
    stored = read_entry(read_entry(model, "cats", dict), "enc", list)
    if len(stored) > n_columns:
        raise ModelFormatError("it lists categories of more columns than it has")
    found = {}
    for column, encoded in enumerate(stored):
        labels = with_error_context(
            f"categories of column {column}", partial(_read_labels, encoded)
        )
        if labels:
            found[column] = as_labels(labels, str(column))
    return found


def _read_labels(encoded: Any) -> list[Any]:
    """Read labels: strings are stored as bytes with offsets, numbers as a list.

    Return an empty list if a label is not ASCII.
    """
    if not isinstance(encoded, dict):
        raise ModelFormatError("they are not an object")
    if "offsets" not in encoded:
        listed: list[Any] = read_numbers(encoded, "values").tolist()
        return listed
    offsets, values = read_integers(encoded, "offsets"), read_integers(encoded, "values")
    if not offsets.size:
        return []
    if offsets[0] != 0 or offsets[-1] != values.size or (offsets[1:] < offsets[:-1]).any():
        raise ModelFormatError("their offsets do not match their bytes")
    if values.min(initial=0) < 0 or values.max(initial=0) > 127:
        return []  # XGBoost truncates a label to as many bytes as it has characters
    text = values.astype("u1").tobytes().decode()
    return [
        text[begin:end]
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]
