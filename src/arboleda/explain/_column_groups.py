"""Groups of columns that are permuted together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda.explain._rows import TableRows

__all__ = ["read_column_groups"]


def read_column_groups(
    rows: TableRows, groups: Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]] | None
) -> tuple[tuple[str, ...], list[list[int]]]:
    """Read groups of columns; a column in no group forms its own.

    Parameters
    ----------
    rows : TableRows
    groups : mapping of str to sequence, sequence of sequences, or None
        Names or indices of columns.

    Returns
    -------
    names : tuple of str
        Names of the groups, in the order of their first columns.
    columns : list of list of int
        Columns of each group.

    Raises
    ------
    ValueError
        If a column does not exist, a group is empty, or a column is in two groups.
    TypeError
        If a group is a single name.
    """
    given = groups.items() if isinstance(groups, Mapping) else ((None, g) for g in groups or ())
    found: dict[int, tuple[str, list[int]]] = {}
    taken: set[int] = set()
    for name, members in given:
        if isinstance(members, str):
            raise TypeError(f"each group must be a list of columns, got {members!r}")
        columns = [rows.find_column(member) for member in members]
        if not columns:
            raise ValueError("groups has an empty group" + (f": {name!r}" if name else ""))
        twice = [column for k, column in enumerate(columns) if column in {*columns[:k], *taken}]
        if twice:
            raise ValueError(f"column {rows.names[twice[0]]!r} is in groups twice")
        taken.update(columns)
        title = str(name) if name else " + ".join(rows.names[column] for column in columns)
        found[min(columns)] = (title, columns)
    for column in range(rows.n_columns):
        if column not in taken:
            found[column] = (rows.names[column], [column])
    ordered = [found[first] for first in sorted(found)]
    return tuple(title for title, _ in ordered), [columns for _, columns in ordered]
