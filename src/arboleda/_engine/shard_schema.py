"""Names and kinds of columns on which the partitions of all shards agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboleda._engine.column_options import Source, select_columns
from arboleda._engine.columns import Name
from arboleda._engine.encoding import learn_levels
from arboleda._utils.text import format_names

__all__ = [
    "AgreedColumns",
    "PartitionFacts",
    "agree_on_columns",
    "find_doubtful_columns",
    "has_only_missing",
]


@dataclass(frozen=True)
class PartitionFacts:
    """What a partition reports about its columns.

    Parameters
    ----------
    place : str
        Name of the partition in messages.
    n_columns : int
    names : tuple or None
    types : tuple of str
        Type of each column in its container.
    labelled : tuple of bool
        Whether a type stands for categories.
    """

    place: str
    n_columns: int
    names: tuple[Name, ...] | None
    types: tuple[str, ...]
    labelled: tuple[bool, ...]

    def find_order(self, names: tuple[Name, ...] | None) -> list[int]:
        """Return the place of each of the agreed columns in this partition."""
        if names is None or self.names is None:
            return list(range(self.n_columns))
        places = {name: j for j, name in enumerate(self.names)}
        return [places[name] for name in names]


@dataclass(frozen=True)
class AgreedColumns:
    """The columns of the table, in the order of its first partition.

    Parameters
    ----------
    names : tuple or None
    categorical : tuple of bool
    """

    names: tuple[Name, ...] | None
    categorical: tuple[bool, ...]

    def describe(self, column: int) -> str:
        """Return the name of a column for messages."""
        return str(column) if self.names is None else repr(self.names[column])


def find_doubtful_columns(facts: Sequence[PartitionFacts]) -> list[int]:
    """Return the columns that stand for categories in some partitions and for numbers in others.

    Raises
    ------
    ValueError
        If a partition has other columns than the first. The message names both.
    """
    first = facts[0]
    for part in facts[1:]:
        _check_names(first, part)
    labelled = np.array([_in_order(part, first.names, part.labelled) for part in facts])
    return np.flatnonzero(labelled.any(axis=0) & ~labelled.all(axis=0)).tolist()


def agree_on_columns(
    facts: Sequence[PartitionFacts],
    doubtful: Sequence[int],
    only_missing: Sequence[Sequence[bool]],
    categorical_features: Any,
) -> AgreedColumns:
    """Return the columns on which all partitions agree.

    Parameters
    ----------
    facts : sequence of PartitionFacts
        Of the partitions that have rows.
    doubtful : sequence of int
        The result of `find_doubtful_columns`.
    only_missing : sequence of sequences of bool
        For each partition and doubtful column whether all of its values are missing: it then
        agrees with the others.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        As in the estimators.

    Raises
    ------
    ValueError
        If a column has categories in one partition and numbers in another. The message names the
        column, and both partitions and types.
    """
    names = facts[0].names
    if not isinstance(categorical_features, str):
        chosen = select_columns(
            categorical_features, facts[0].n_columns, names, "categorical_features"
        )
        return AgreedColumns(names, tuple(chosen))
    categorical = list(facts[0].labelled)
    for k, j in enumerate(doubtful):
        kinds: dict[bool, PartitionFacts] = {}
        for part, missing in zip(facts, only_missing, strict=True):
            if not missing[k]:
                kinds.setdefault(_in_order(part, names, part.labelled)[j], part)
        if len(kinds) > 1:
            shown = [
                f"of type {_in_order(part, names, part.types)[j]} in {part.place}"
                for _, part in sorted(kinds.items(), reverse=True)
            ]
            place = AgreedColumns(names, ()).describe(j)
            raise ValueError(
                f"column {place} holds categories, {shown[0]}, and numbers, {shown[1]}: convert "
                "one of them"
            )
        categorical[j] = True in kinds
    return AgreedColumns(names, tuple(categorical))


def has_only_missing(source: Source, column: int, place: str) -> bool:
    """Return whether a column has no value."""
    if source.is_labelled(column):
        return not learn_levels(source.labels(column, place), place, many=True)
    try:
        values = source.numbers(column, place)
    except ValueError:
        return False
    return values.dtype.kind == "f" and bool(np.isnan(values).all())


def _in_order(part: PartitionFacts, names: tuple[Name, ...] | None, values: Sequence[Any]) -> Any:
    return [values[j] for j in part.find_order(names)]


def _check_names(first: PartitionFacts, part: PartitionFacts) -> None:
    if (first.names is None) is not (part.names is None):
        named, other = (part, first) if first.names is None else (first, part)
        raise ValueError(
            f"the columns of {named.place} have names, and those of {other.place} have not: give "
            "all partitions the same names"
        )
    if first.names is None or part.names is None:
        if part.n_columns != first.n_columns:
            raise ValueError(
                f"{part.place} has {part.n_columns} columns, and {first.place} has "
                f"{first.n_columns}: all partitions must have the same columns"
            )
        return
    lost = [name for name in first.names if name not in part.names]
    more = [name for name in part.names if name not in first.names]
    if lost or more:
        faults = [f"lacks {format_names(lost)}"] * bool(lost)
        faults += [f"has {format_names(more)}, which is not in the first partition"] * bool(more)
        raise ValueError(
            f"{part.place} {' and '.join(faults)}: all partitions must have the same columns"
        )
