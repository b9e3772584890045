"""Options by column: categories, monotonic and interaction constraints, and weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from numbers import Real
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Name, Schema
from arboleda._engine.encoding import LabelColumn


class Source(Protocol):
    """Interface to the columns of a table in any container."""

    n_rows: int
    n_columns: int

    def is_labelled(self, column: int) -> bool:
        """Return whether the type of the column is categorical or text."""

    def numbers(self, column: int, place: str) -> npt.NDArray[Any]:
        """Return the column as finite numbers of a type that the engine supports."""

    def labels(self, column: int, place: str) -> LabelColumn:
        """Return the column as labels."""


def selects_categories(categorical_features: Any) -> bool:
    """Return whether the parameter selects columns explicitly."""
    if categorical_features is None or isinstance(categorical_features, str):
        return False
    return np.size(categorical_features) > 0


def find_categorical_columns(
    categorical_features: Any, source: Source, names: tuple[Name, ...] | None
) -> list[bool]:
    """Return for each column whether it is categorical.

    Parameters
    ----------
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        As in scikit-learn's histogram-based gradient boosting.
    source : Source
    names : tuple or None
        Names of the columns.

    Raises
    ------
    ValueError
        If a name or index is unknown, or a mask has the wrong length.
    """
    if isinstance(categorical_features, str):  # "from_dtype"
        return [source.is_labelled(j) for j in range(source.n_columns)]
    return select_columns(categorical_features, source.n_columns, names, "categorical_features")


def select_columns(
    given: Any, n_columns: int, names: tuple[Name, ...] | None, parameter: str
) -> list[bool]:
    """Return for each column whether a parameter selects it.

    Parameters
    ----------
    given : None, or array-like of bool, int or str
        A mask, indices or names.
    n_columns : int
    names : tuple or None
        Names of the columns.
    parameter : str
        Name of the parameter in messages.

    Raises
    ------
    ValueError
        If a name or index is unknown, or a mask has the wrong length.
    """
    chosen = [False] * n_columns
    if not selects_categories(given):
        return chosen
    array = np.asarray(given)
    if array.dtype.kind == "U":  # NumPy would convert indices to text
        array = np.asarray(given, dtype=object)
    if array.ndim != 1 or array.dtype.kind not in "biuUO":
        raise ValueError(
            f"{parameter} must be an array-like of bool, int or str, got: {array.dtype.name}. Pass "
            f"names, indices or a mask instead of {given!r}"
        )
    if array.dtype.kind == "b":
        if array.size != n_columns:
            raise ValueError(
                f"{parameter} set as a boolean mask must have shape (n_features,), got "
                f"{array.size} entries for {n_columns} columns"
            )
        return [bool(flag) for flag in array]
    for item in array.tolist():
        chosen[_place(item, n_columns, names, parameter)] = True
    return chosen


def _place(item: Any, n_columns: int, names: tuple[Name, ...] | None, parameter: str) -> int:
    if isinstance(item, str):
        if names is None:
            raise ValueError(
                f"{parameter} should be passed as an array of integers or as a boolean mask when "
                f"the model is fitted on data without feature names. Got the name {item!r}"
            )
        if item not in names:
            raise ValueError(
                f"{parameter} has an item value {item!r} which is not a valid feature name of the "
                f"training data. Its columns are {', '.join(map(repr, names[:20]))}"
                f"{', ...' if len(names) > 20 else ''}"
            )
        return names.index(item)
    if not isinstance(item, int) or isinstance(item, bool):
        raise TypeError(
            f"{parameter} must be an array-like of bool, int or str, got: {type(item).__name__} "
            f"({item!r})"
        )
    if not 0 <= item < n_columns:
        raise ValueError(
            f"{parameter} set as integer indices must be in [0, n_features - 1] = [0, "
            f"{n_columns - 1}], got {item}"
        )
    return item


_TITLES = {
    "monotonic_cst": "Monotonic constraints",
    "interaction_cst": "Interaction constraints",
    "feature_weights": "Feature weights",
    "forced_splits": "Forced splits",
}


def read_monotonic_cst(monotonic_cst: Any, schema: Schema, owner: str) -> list[int]:
    """Return the monotonic constraint of each column: 1 increasing, -1 decreasing, 0 none.

    Parameters
    ----------
    monotonic_cst : array-like of int, dict of name to int, or None
    schema : Schema
    owner : str
        Class name of the estimator, for messages.

    Returns
    -------
    directions : list of int
        One per column; empty if there are no constraints.

    Raises
    ------
    ValueError
        If the number of entries is wrong, an entry is not -1, 0 or 1, a name is unknown, or a
        constrained column is categorical.
    """
    if monotonic_cst is None:
        return []
    if isinstance(monotonic_cst, Mapping):
        _check_names(monotonic_cst, schema, owner)
        given = [0] * schema.n_columns
        for name, direction in monotonic_cst.items():
            if direction not in {-1, 0, 1}:
                raise ValueError(
                    f"monotonic_cst[{name!r}] must be either -1, 0 or 1. Got {direction!r}. 1 "
                    "means that the prediction never decreases as the column increases, -1 that it "
                    "never increases"
                )
            given[find_column(name, schema, "monotonic_cst")] = direction
    else:
        given = np.asarray(monotonic_cst).tolist()
        if not isinstance(given, list) or len(given) != schema.n_columns:
            count = len(given) if isinstance(given, list) else 1
            raise ValueError(
                f"monotonic_cst has shape ({count},) but the input data X has {schema.n_columns} "
                "features. Pass one entry per feature, or a dict of names"
            )
    for column, direction in enumerate(given):
        if direction not in {-1, 0, 1}:
            raise ValueError(
                "monotonic_cst must be an array-like of -1, 0 or 1. Observed values: "
                f"[{direction!r}] for column {schema.describe(column)}"
            )
        if direction and schema.levels[column] is not None:
            raise ValueError(
                f"Categorical features cannot have monotonic constraints, but monotonic_cst is "
                f"{direction} for column {schema.describe(column)}: its categories have no order. "
                "Encode it as a number, or set 0"
            )
    return [int(direction) for direction in given] if any(given) else []


def _check_names(monotonic_cst: Mapping[Any, Any], schema: Schema, owner: str) -> None:
    """Raise an error that lists all unknown names."""
    given = sorted(name for name in monotonic_cst if isinstance(name, str))
    if not given:
        return
    if schema.names is None:
        raise ValueError(
            f"{owner} was not fitted on data with feature names. Pass monotonic_cst as an integer "
            f"array instead. It is a dict that names {given[0]!r}, but the columns of X have no "
            "names"
        )
    unexpected = [name for name in given if name not in schema.names]
    if unexpected:
        shown = [*unexpected[:5], "..."] if len(unexpected) > 5 else unexpected
        raise ValueError(
            f"monotonic_cst contains {len(unexpected)} unexpected feature names: {shown}. The "
            f"columns of X are {_format_names(schema.names)}"
        )


def read_interaction_cst(interaction_cst: Any, schema: Schema) -> list[list[int]]:
    """Return the sets of columns that may interact on a path of a tree.

    Parameters
    ----------
    interaction_cst : "pairwise", "no_interactions", iterable of iterables of int or str, or None
        Columns in none of the sets form another set.
    schema : Schema

    Returns
    -------
    sets : list of list of int
        Each ascending; empty if all columns may interact.

    Raises
    ------
    ValueError
        If it is not a sequence of sequences, or a name or index is unknown.
    """
    columns = range(schema.n_columns)
    if interaction_cst is None:
        return []
    if isinstance(interaction_cst, str):
        size = 1 if interaction_cst == "no_interactions" else 2
        return [list(group) for group in combinations(columns, min(size, schema.n_columns))]
    sets = []
    for group in interaction_cst:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(  # noqa: TRY004 - scikit-learn's own
                "Interaction constraints must be a sequence of tuples or lists, got: "
                f"{interaction_cst!r}"
            )
        sets.append(sorted({find_column(item, schema, "interaction_cst") for item in group}))
    rest = sorted(set(columns).difference(*sets))
    return [*sets, rest] if rest else sets


def read_feature_weights(feature_weights: Any, schema: Schema) -> list[float]:
    """Return the weight of each column, divided by the largest.

    Parameters
    ----------
    feature_weights : array-like of float, dict of name to float, or None
    schema : Schema

    Returns
    -------
    weights : list of float
        One per column, between 0 and 1; empty if all columns have the same weight.

    Raises
    ------
    ValueError
        If the number of weights is wrong, a weight is negative or not finite, all are 0, or a name
        is unknown.
    """
    if feature_weights is None:
        return []
    if isinstance(feature_weights, Mapping):
        given: Any = [1.0] * schema.n_columns
        for name, weight in feature_weights.items():
            given[find_column(name, schema, "feature_weights")] = weight
    else:
        given = np.asarray(feature_weights).tolist()
        if not isinstance(given, list) or len(given) != schema.n_columns:
            count = len(given) if isinstance(given, list) else 1
            raise ValueError(
                f"feature_weights has {count} weights, and X has {schema.n_columns} columns: give "
                "one weight per column, or a dict of names"
            )
    for column, weight in enumerate(given):
        is_number = isinstance(weight, Real) and math.isfinite(weight)
        if not is_number or float(weight) < 0.0:
            raise ValueError(
                f"feature_weights must be finite and not negative, got {weight!r} for column "
                f"{schema.describe(column)}"
            )
    largest = float(max(given, default=0.0))
    if largest == 0.0:
        raise ValueError(
            "feature_weights are all 0, so that no column can be drawn: give at least one column a "
            "positive weight"
        )
    weights = [float(weight) / largest for weight in given]
    return weights if min(weights) < 1.0 else []


def find_column(item: Any, schema: Schema, parameter: str) -> int:
    """Return the index of a column given by name or index."""
    is_index = isinstance(item, int | np.integer) and not isinstance(item, bool)
    if is_index and 0 <= item < schema.n_columns:
        return int(item)
    # Without names, a number that is not an index is not a name, either.
    if is_index or (schema.names is None and not isinstance(item, str)):
        raise ValueError(
            f"{_TITLES[parameter]} must consist of integer indices in [0, n_features - 1] = [0, "
            f"{schema.n_columns - 1}], specifying the position of features, or of names of "
            f"columns; got {item}"
        )
    if schema.names is None:
        raise ValueError(
            f"{parameter} contains the name {item!r}, but X has no feature names: "
            "pass indices instead"
        )
    if item not in schema.places:
        raise ValueError(
            f"{parameter} contains {item!r}, which is not a column of X. The columns are "
            f"{_format_names(schema.names)}"
        )
    return schema.places[item]


def _format_names(names: tuple[Name, ...]) -> str:
    return ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
