"""The section on the search: candidates, times and failures of each model."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import duration, integer
from arboleda.report._cells import Cell
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate

__all__ = ["make_tried_view"]


def make_tried_view(report: ReportData) -> dict[str, Any]:
    """Collect the section."""
    models = report.facts["models"]
    fits = sum(_count_fits(model) for model in models)
    candidates = sum(len(model["candidates"]) for model in models)
    return {
        "intro": text(
            "tried.intro",
            models=integer(len(models)),
            candidates=integer(candidates),
            fits=integer(fits),
            time=duration(report.facts["timing"]["total_s"]),
        ),
        "rows": [_make_row(model) for model in models],
        "left_out": [
            text(
                f"tried.left_out_{'whole' if each['whole'] else 'part'}",
                name=translate(each["name"]),
                count=integer(each["candidates"]),
            )
            for each in report.facts["search"]["left_out"]
        ],
    }


def _make_row(model: Mapping[str, Any]) -> dict[str, Any]:
    seconds = model["timing"]["search_s"]
    return {
        "name": translate(model["name"]),
        "candidates": Cell(integer(len(model["candidates"])), len(model["candidates"])),
        "fits": Cell(integer(_count_fits(model)), _count_fits(model)),
        "time": Cell(duration(seconds), seconds),
        "outcome": text("tried.ok" if model["status"] == "ok" else "tried.failed"),
        "error": model["error"],
    }


def _count_fits(model: Mapping[str, Any]) -> int:
    return sum(len(candidate["fold_scores"]) for candidate in model["candidates"])
