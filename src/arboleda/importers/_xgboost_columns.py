"""The columns of a model of XGBoost: names, and categories of data frames."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from arboleda._engine.labels import Label
from arboleda._errors import ModelFormatError
from arboleda.importers._columns import Columns, as_labels, given_categories
from arboleda.importers._fields import entry, integers, numbers, refusing, texts, whole

_MOST_COLUMNS = 2**22


def read_columns(
    learner: dict[str, Any], place: str, categories: Mapping[Any, Any] | None
) -> Columns:
    """Read the columns; labels that were given take the place of those in the file.

    Raises
    ------
    ModelFormatError
        If they cannot be read.
    ValueError
        If what was given does not go with them, or categories are known from nowhere.
    """
    n_columns, names, is_category, own = refusing(place, lambda: _read(learner))
    given = given_categories(categories, names, n_columns)
    labels: list[dict[int, Label] | None] = [None] * n_columns
    for column, listed in given.items():
        if column not in is_category:
            raise ValueError(f"categories names column {column}, which holds numbers")
        labels[column] = listed
    for column in is_category - given.keys():
        if column not in own:
            shown = repr(names[column]) if names else str(column)
            raise ValueError(
                f"the model does not tell the categories of column {shown}, or has cut "
                "short labels that are not ASCII: give "
                f"categories={{{shown}: [...]}} with their labels in the order of their codes, "
                "such as a pandas column's .cat.categories; range(12) for the numbers 0 to 11"
            )
        labels[column] = own[column]
    return Columns(None if names is None else tuple(names), tuple(labels))


def _read(
    learner: dict[str, Any],
) -> tuple[int, list[str] | None, set[int], dict[int, dict[int, Label]]]:
    """Number of columns, names, which hold categories, and the labels of those."""
    parameters = entry(learner, "learner_model_param", dict)
    n_columns = whole(entry(parameters, "num_feature", object), "num_feature")
    names = texts(learner, "feature_names") if "feature_names" in learner else []
    types = texts(learner, "feature_types") if "feature_types" in learner else []
    for name, listed in (("feature_names", names), ("feature_types", types)):
        if listed and len(listed) != n_columns:
            raise ModelFormatError(f"{name} has {len(listed)} entries for {n_columns} columns")
    # Without names and types nothing in the file grows with the number of columns.
    if n_columns > _MOST_COLUMNS:
        raise ModelFormatError(f"it has {n_columns} columns")
    is_category = {j for j, kind in enumerate(types) if kind == "c"}
    return n_columns, names or None, is_category, _own_categories(learner, n_columns)


def _own_categories(learner: dict[str, Any], n_columns: int) -> dict[int, dict[int, Label]]:
    booster = entry(learner, "gradient_booster", dict)
    model = entry(booster.get("gbtree", booster), "model", dict)
    if "cats" not in model:
        return {}
    stored = entry(entry(model, "cats", dict), "enc", list)
    if len(stored) > n_columns:
        raise ModelFormatError("it lists categories of more columns than it has")
    found = {}
    for column, encoded in enumerate(stored):
        labels = refusing(f"categories of column {column}", partial(_labels, encoded))
        if labels:
            found[column] = as_labels(labels, str(column))
    return found


def _labels(encoded: Any) -> list[Any]:
    """Texts are one run of bytes with an offset for the begin of each; numbers a list.

    None are told where a label is not ASCII.
    """
    if not isinstance(encoded, dict):
        raise ModelFormatError("they are no object")
    if "offsets" not in encoded:
        listed: list[Any] = numbers(encoded, "values").tolist()
        return listed
    offsets, values = integers(encoded, "offsets"), integers(encoded, "values")
    if not offsets.size:
        return []
    if offsets[0] != 0 or offsets[-1] != values.size or (offsets[1:] < offsets[:-1]).any():
        raise ModelFormatError("their offsets are not those of their bytes")
    if values.min(initial=0) < 0 or values.max(initial=0) > 127:
        return []  # XGBoost keeps as many bytes of a label as it has letters
    text = values.astype("u1").tobytes().decode()
    return [
        text[begin:end]
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]
