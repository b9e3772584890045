"""Scores of the best model per value of selected columns, such as sex or region."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import NOTHING, integer, number_format
from arboleda.report._cells import Cell
from arboleda.report._metrics import choose_leaderboard_metrics, get_metric
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text
from arboleda.report._words import quote_name

__all__ = ["make_groups_view"]


def make_groups_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if no column was selected."""
    result = report.best["test"].get("groups") if report.models else None
    if not result:
        return None
    return {
        "name": report.get_name(report.best["key"]),
        "tables": [_make_table(report, table) for table in result],
    }


def _make_table(report: ReportData, result: Mapping[str, Any]) -> dict[str, Any]:
    rows, gap = result["rows"], result["gap"]
    present = dict.fromkeys(key for row in rows for key in row["metrics"])
    keys = choose_leaderboard_metrics(present, report.key, most=4)
    writers = {
        key: number_format([row["metrics"].get(key) for row in rows], get_metric(key).bounded)
        for key in keys
    }
    gap_text = ""
    if gap is not None:
        label = report.label if gap["metric"] == report.key else get_metric(gap["metric"]).label
        ends = {"best": quote_name(gap["best"]), "worst": quote_name(gap["worst"])}
        write = writers.get(gap["metric"], report.format_score)
        gap_text = text("groups.gap", metric=label, difference=write(gap["difference"]), **ends)
    return {
        "column": result["column"],
        "gap": gap_text,
        "heads": [report.label if key == report.key else get_metric(key).label for key in keys],
        "level": f"{100 * result['level']:g}",
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
                    "interval.range",
                    low=report.format_score(row["low"]),
                    high=report.format_score(row["high"]),
                ),
            }
            for row in rows
        ],
    }
