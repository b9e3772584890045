"""The columns on the page: some with pictures, and a plain list of all where there are many."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import integer, plain
from arboleda.explore._summary_view import caution_lines
from arboleda.report._cells import Cell, with_share
from arboleda.report._columns import column_view

__all__ = ["columns_view"]

# With more columns than this, so many are drawn and all are listed.
DRAWN = 60
# A longer list would make the page heavy; the facts hold all.
LISTED = 4000


def columns_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the section: pictured columns, the list of all if needed, and remarks."""
    columns, n_rows = facts["columns"], facts["table"]["n_rows"]
    many = len(columns) > DRAWN
    drawn = _most_interesting(facts)[:DRAWN] if many else columns
    return {
        "drawn": [column_view(column, n_rows) for column in drawn],
        "many": many,
        "n_columns": integer(len(columns)),
        "listed": [_line(column, n_rows) for column in columns[:LISTED]] if many else [],
        "n_unlisted": integer(max(0, len(columns) - LISTED)) if len(columns) > LISTED else None,
        "notes": [line for line, _ in caution_lines(facts["cautions"], "info")],
    }


def _most_interesting(facts: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The target, then the features, then what a study leaves out."""
    order = {"target": 0, "feature": 1, "left_out": 2}
    return sorted(facts["columns"], key=lambda column: order[column["role"]])


def _line(column: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    missing, numbers = column["n_missing"], column["numeric"]
    return {
        "name": column["name"],
        "kind": column["kind"],
        "role": column["role"].replace("_", " "),
        "missing": Cell(with_share(missing, n_rows), missing),
        "distinct": Cell(integer(column["n_distinct"]), column["n_distinct"]),
        "median": _number(numbers, "median"),
    }


def _number(numbers: Mapping[str, Any] | None, key: str) -> Cell:
    value = None if numbers is None else numbers[key]
    return Cell(plain(value), value)
