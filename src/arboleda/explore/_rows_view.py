"""The section on rows: duplicates, conflicts and outliers."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.report._figures import draw_histogram_plot
from arboleda.report._words import format_count

__all__ = ["make_rows_view"]


def make_rows_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the section on rows."""
    duplicates = facts["duplicates"]
    conflicts = duplicates["conflicts"]
    return {
        "n_repeats": format_count(duplicates["n_repeats"], "row"),
        "n_groups": format_count(duplicates["n_groups"], "group"),
        "groups": [_make_group(group) for group in duplicates["groups"]],
        "conflicts": None
        if conflicts is None
        else {
            "n_rows": integer(conflicts["n_rows"]),
            "n_groups": format_count(conflicts["n_groups"], "group"),
            "groups": [
                _make_group(group) | {"targets": [_format_value(v) for v in group["targets"]]}
                for group in conflicts["groups"]
            ],
        },
        "outliers": None if facts["outliers"] is None else _make_outliers(facts),
    }


def _make_outliers(facts: Mapping[str, Any]) -> dict[str, Any]:
    result, target = facts["outliers"], facts["target"]
    total = facts["table"]["n_rows"] if target is None else target["n_known"]
    histogram = result["histogram"]
    return {
        "figure": None
        if histogram is None
        else draw_histogram_plot(
            histogram, "Outlier score", "outliers", "Histogram of outlier scores"
        ),
        "rows": [
            {
                "row": integer(row["row"]),
                "score": plain(row["score"], 3),
                "target": None if row["target"] is None else _format_value(row["target"]),
                "unusual": [
                    {
                        "column": item["column"],
                        "value": _format_value(item["value"]),
                        "share": percent(item["share"]),
                    }
                    for item in row["unusual"]
                ],
            }
            for row in result["rows"]
        ],
        "n_suspicious": integer(result["n_suspicious"]),
        "sample": f"{integer(result['n_rows'])} rows"
        if result["n_rows"] == total
        else f"a sample of {integer(result['n_rows'])} rows",
        "n_trees": result["n_trees"],
        "kind": "none" if target is None else "classes" if target["classes"] else "quantity",
    }


def _make_group(group: Mapping[str, Any]) -> dict[str, Any]:
    more = group["n_rows"] - len(group["rows"])
    rows = ", ".join(integer(row) for row in group["rows"])
    return {
        "n_rows": integer(group["n_rows"]),
        "rows": rows + (f" and {integer(more)} more" if more else ""),
    }


def _format_value(value: str | float | bool | None) -> str:
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else plain(value)
