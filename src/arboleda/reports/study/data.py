"""The section on the data: sizes, preparation, notes, classes and columns."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from arboleda._utils.numbers import integer, percent
from arboleda.reports.fact_messages import translate
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.tables import Cell, format_with_share, make_column_view
from arboleda.reports.translation import N_
from arboleda.reports.translation import gettext as _

__all__ = ["describe_recipe", "make_data_view"]

_NUMBERS = {
    "rows": N_("Rows"),
    "columns": N_("Columns"),
    "copies": N_("Duplicate rows"),
    "missing": N_("Missing cells"),
    "dropped": N_("Rows dropped"),
    "train": N_("Training rows"),
    "test": N_("Test rows"),
}

_STEPS = {
    "drop_missing_target": N_(
        "Rows without a target were dropped: {after} of {before} rows remain."
    ),
    "drop_missing": N_("Rows with a missing value were dropped: {after} of {before} rows remain."),
    "drop_duplicates": N_(
        "Rows that repeat an earlier row were dropped: {after} of {before} rows remain."
    ),
}


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
        "numbers": [(_(_NUMBERS[key]), value) for key, value in numbers],
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


# Number of old values listed per new value.
_SHOWN = 12


def describe_recipe(recipe: Mapping[str, Any] | None) -> list[str]:
    """Write a sentence for each step, with the number of remaining rows if it drops rows."""
    return [] if recipe is None else [_write_sentence(step) for step in recipe["steps"]]


def _write_sentence(step: Mapping[str, Any]) -> str:
    rows = {"after": integer(step["rows_after"]), "before": integer(step["rows_before"])}
    names = Markup(", ").join(_mark_up_name(column) for column in step["columns"])
    kind = step["kind"]
    if kind == "where":
        return _(
            "Rows that satisfy {condition} were kept: {after} of {before} rows remain.",
            condition=_mark_up_name(step["condition"]),
            **rows,
        )
    if kind == "merge":
        merged = [
            _("{old} became {new}", old=_list_values(old), new=_mark_up_name(new))
            for new, old in step["into"].items()
        ]
        return _("In {column}: {merged}.", column=names, merged=Markup("; ").join(merged))
    if kind == "drop":
        return _("Columns were dropped: {columns}.", columns=names)
    return _(_STEPS[kind], **rows)


def _list_values(values: list[str]) -> Markup:
    shown = Markup(", ").join(_mark_up_name(value) for value in values[:_SHOWN])
    more = len(values) - _SHOWN
    return shown + _(" and {count} more", count=integer(more)) if more > 0 else shown


def _mark_up_name(value: str) -> Markup:
    """Mark up a text of the user, isolated from the surrounding text direction."""
    return Markup('<bdi class="name">{}</bdi>').format(value)
