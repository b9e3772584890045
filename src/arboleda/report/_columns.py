"""The table of columns: what each holds, in a row with a small picture."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.report._bars import column_bars
from arboleda.report._cells import Cell, with_share
from arboleda.report._texts import text, told

__all__ = ["column_view"]


def column_view(column: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Collect a row of the table of columns.

    Parameters
    ----------
    column : mapping
        One of the columns of the facts.
    n_rows : int
        Rows of the table.
    """
    missing = column["n_missing"]
    return {
        "name": column["name"],
        "kind": text(f"column.kind.{column['kind']}"),
        "role": text(f"column.role.{column['role']}"),
        "mark": column["role"].replace("_", "-"),
        "reason": column["reason"] and told(column["reason"]),
        "missing": Cell(with_share(missing, n_rows) if missing else "0", missing),
        "distinct": Cell(integer(column["n_distinct"]), column["n_distinct"]),
        "bars": column_bars(column),
        "values": _values(column, n_rows - missing),
    }


def _values(column: Mapping[str, Any], known: int) -> str:
    numbers = column["numeric"]
    if numbers is not None:
        ends = {key: plain(numbers[key]) for key in ("min", "max", "median")}
        return text("column.numbers", **ends)
    shown = [
        f"{value} {percent(count / known if known else None)}"
        for value, count in (column["top"] or [])[:3]
    ]
    return ", ".join(shown)
