"""Encoding of the columns that a model was fitted on, with one header entry per column."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._engine.schema import Schema
from arboleda._errors import ModelFormatError


def encode_columns(schema: Schema) -> list[dict[str, Any]]:
    """Encode the columns: kind, levels if categorical, and name if the table had names."""
    stored = schema.to_dict()
    columns: list[dict[str, Any]] = stored["columns"]
    if stored["names"] is None:
        return columns
    return [{"name": name, **column} for name, column in zip(stored["names"], columns, strict=True)]


def decode_columns(stored: list[Any], estimator: Any) -> None:
    """Set the columns of an estimator from the header.

    Raises
    ------
    ModelFormatError
        If an entry is not a column, or only some columns have names.
    """
    if not all(isinstance(column, dict) for column in stored):
        raise ModelFormatError("columns has an entry that is not a column")
    names = [column["name"] for column in stored if "name" in column]
    if len(names) not in {0, len(stored)}:
        raise ModelFormatError("some columns have names and others do not")
    columns = [{key: column[key] for key in column if key != "name"} for column in stored]
    try:
        schema = Schema.from_dict({"names": names or None, "columns": columns})
    except ValueError as error:
        raise ModelFormatError(f"columns: {error}") from error
    estimator.schema_ = schema
    estimator.n_features_in_ = schema.n_columns
    if schema.names_are_text:
        estimator.feature_names_in_ = np.array(schema.names, dtype=object)
