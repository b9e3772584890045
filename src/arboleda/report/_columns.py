"""Rows of the table of columns, each with a small histogram."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.report._bars import draw_column_bars
from arboleda.report._cells import Cell, format_with_share
from arboleda.report._texts import text, translate

__all__ = ["make_column_view"]


def make_column_view(column: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Collect one row of the table of columns.

    Parameters
    ----------
    column : mapping
        One of the columns of the facts.
    n_rows : int
        Number of rows of the table.
    """
    missing = column["n_missing"]
    return {
        "name": column["name"],
        "kind": text(f"column.kind.{column['kind']}"),
        "role": text(f"column.role.{column['role']}"),
        "mark": column["role"].replace("_", "-"),
        "reason": column["reason"] and translate(column["reason"]),
        "missing": Cell(format_with_share(missing, n_rows) if missing else "0", missing),
        "distinct": Cell(integer(column["n_distinct"]), column["n_distinct"]),
        "bars": draw_column_bars(column),
        "values": _format_values(column, n_rows - missing),
    }


def _format_values(column: Mapping[str, Any], known: int) -> str:
    numbers = column["numeric"]
    if numbers is not None:
        ends = {key: plain(numbers[key]) for key in ("min", "max", "median")}
        return text("column.numbers", **ends)
    shown = [
        f"{value} {percent(count / known if known else None)}"
        for value, count in (column["top"] or [])[:3]
    ]
    return ", ".join(shown)
