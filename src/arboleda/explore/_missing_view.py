"""The section on missing values: by column and by pattern."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent
from arboleda.report._cells import Cell
from arboleda.report._words import format_count

__all__ = ["make_missing_view"]

SHOWN = 24


def make_missing_view(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Collect the section; None if nothing is missing."""
    missing, n_rows = facts["missing"], facts["table"]["n_rows"]
    if not missing["n_columns"]:
        return None
    gaps = [c for c in facts["columns"] if c["n_missing"]]
    gaps.sort(key=lambda c: -c["n_missing"])
    patterns = missing["patterns"]
    return {
        "columns": [
            {
                "name": column["name"],
                "missing": Cell(integer(column["n_missing"]), column["n_missing"]),
                "share": Cell(percent(column["n_missing"] / n_rows), column["n_missing"]),
                "bar": f"{100 * column['n_missing'] / n_rows:.1f}",
                "cells": [column["name"] in pattern["columns"] for pattern in patterns],
            }
            for column in gaps[:SHOWN]
        ],
        "patterns": [
            {"rows": integer(p["n_rows"]), "share": percent(p["n_rows"] / n_rows)} for p in patterns
        ],
        "n_others": integer(len(gaps) - SHOWN) if len(gaps) > SHOWN else None,
        "complete": f"{integer(missing['n_complete_rows'])} "
        f"({percent(missing['n_complete_rows'] / n_rows)})",
        "n_patterns": format_count(missing["n_patterns"], "combination"),
        "all_shown": missing["n_patterns"] == len(patterns),
        "n_shown": integer(len(patterns)),
    }
