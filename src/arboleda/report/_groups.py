"""How the best model does for the values of columns asked for, such as sexes or regions."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import NOTHING, integer, number_format
from arboleda.report._about import About
from arboleda.report._cells import Cell
from arboleda.report._metrics import leaderboard_metrics, metric
from arboleda.report._texts import text
from arboleda.report._words import quoted

__all__ = ["groups_view"]


def groups_view(about: About) -> dict[str, Any] | None:
    """Collect the section; None where no column was asked for."""
    found = about.best["test"].get("groups") if about.models else None
    if not found:
        return None
    return {
        "name": about.name(about.best["key"]),
        "tables": [_table(about, table) for table in found],
    }


def _table(about: About, found: Mapping[str, Any]) -> dict[str, Any]:
    rows, gap = found["rows"], found["gap"]
    present = dict.fromkeys(key for row in rows for key in row["metrics"])
    keys = leaderboard_metrics(present, about.key, most=4)
    writers = {
        key: number_format([row["metrics"].get(key) for row in rows], metric(key).bounded)
        for key in keys
    }
    said = ""
    if gap is not None:
        label = about.label if gap["metric"] == about.key else metric(gap["metric"]).label
        ends = {"best": quoted(gap["best"]), "worst": quoted(gap["worst"])}
        write = writers.get(gap["metric"], about.write)
        said = text("groups.gap", metric=label, difference=write(gap["difference"]), **ends)
    return {
        "column": found["column"],
        "gap": said,
        "heads": [about.label if key == about.key else metric(key).label for key in keys],
        "level": f"{100 * found['level']:g}",
        "rows": [
            {
                "value": row["value"],
                "n": Cell(integer(row["n"]), row["n"]),
                "small": row["small"],
                "cells": [
                    Cell(writers[key](row["metrics"].get(key)), row["metrics"].get(key))
                    for key in keys
                ],
                "interval": NOTHING
                if row["low"] is None or row["high"] is None
                else text(
                    "interval.range", low=about.write(row["low"]), high=about.write(row["high"])
                ),
            }
            for row in rows
        ],
    }
