"""Odd rows on the page: equal ones, contradicting ones and outliers."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.report._figures import histogram_plot
from arboleda.report._words import counted

__all__ = ["rows_view"]


def rows_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the section on rows."""
    duplicates = facts["duplicates"]
    conflicts = duplicates["conflicts"]
    return {
        "n_repeats": counted(duplicates["n_repeats"], "row"),
        "n_groups": counted(duplicates["n_groups"], "group"),
        "groups": [_group(group) for group in duplicates["groups"]],
        "conflicts": None
        if conflicts is None
        else {
            "n_rows": integer(conflicts["n_rows"]),
            "n_groups": counted(conflicts["n_groups"], "group"),
            "groups": [
                _group(group) | {"targets": [_value(v) for v in group["targets"]]}
                for group in conflicts["groups"]
            ],
        },
        "outliers": None if facts["outliers"] is None else _outliers(facts),
    }


def _outliers(facts: Mapping[str, Any]) -> dict[str, Any]:
    found, target = facts["outliers"], facts["target"]
    total = facts["table"]["n_rows"] if target is None else target["n_known"]
    histogram = found["histogram"]
    return {
        "figure": None
        if histogram is None
        else histogram_plot(histogram, "Outlier score", "outliers", "Histogram of outlier scores"),
        "rows": [
            {
                "row": integer(row["row"]),
                "score": plain(row["score"], 3),
                "target": None if row["target"] is None else _value(row["target"]),
                "unusual": [
                    {
                        "column": item["column"],
                        "value": _value(item["value"]),
                        "share": percent(item["share"]),
                    }
                    for item in row["unusual"]
                ],
            }
            for row in found["rows"]
        ],
        "n_suspicious": integer(found["n_suspicious"]),
        "sample": f"{integer(found['n_rows'])} rows"
        if found["n_rows"] == total
        else f"a sample of {integer(found['n_rows'])} rows",
        "n_trees": found["n_trees"],
        "kind": "none" if target is None else "classes" if target["classes"] else "quantity",
    }


def _group(group: Mapping[str, Any]) -> dict[str, Any]:
    more = group["n_rows"] - len(group["rows"])
    rows = ", ".join(integer(row) for row in group["rows"])
    return {
        "n_rows": integer(group["n_rows"]),
        "rows": rows + (f" and {integer(more)} more" if more else ""),
    }


def _value(value: str | float | bool | None) -> str:
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else plain(value)
