"""The section on the data: sizes, notes, classes and columns."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent
from arboleda.report._cells import Cell, format_with_share
from arboleda.report._columns import make_column_view
from arboleda.report._recipe import describe_recipe
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate

__all__ = ["make_data_view"]


def make_data_view(report: ReportData) -> dict[str, Any]:
    """Collect the section."""
    data, split = report.facts["data"], report.facts["split"]
    n_rows = data["n_rows"]
    numbers = [
        ("rows", integer(n_rows)),
        ("columns", integer(data["n_columns"])),
        ("copies", integer(data["n_duplicate_rows"])),
        ("missing", format_with_share(data["n_missing_cells"], n_rows * data["n_columns"])),
        ("dropped", integer(data["rows_dropped"])),
        ("train", integer(split["n_train"])),
        ("test", integer(split["n_test"])),
    ]
    notes = [{**note, "text": translate(note["text"])} for note in data["notes"]]
    return {
        "numbers": [(text(f"data.number.{key}"), value) for key, value in numbers],
        "recipe": describe_recipe(data.get("recipe")),
        "notes": sorted(notes, key=lambda note: note["level"] != "warning"),
        "classes": _make_class_rows(split, report.study["positive_class"]),
        "columns": [make_column_view(column, n_rows) for column in data["columns"]],
    }


def _make_class_rows(split: Mapping[str, Any], positive: str | None) -> list[dict[str, Any]]:
    classes = split["classes"] or []
    total = sum(row["train"] + row["test"] for row in classes) or 1
    most = max((row["train"] + row["test"] for row in classes), default=1) or 1
    return [
        {
            "label": row["label"],
            "positive": row["label"] == positive,
            "train": Cell(integer(row["train"]), row["train"]),
            "test": Cell(integer(row["test"]), row["test"]),
            "share": Cell(
                percent((row["train"] + row["test"]) / total), row["train"] + row["test"]
            ),
            "bar": f"{100 * (row['train'] + row['test']) / most:.1f}",
        }
        for row in classes
    ]
