"""Permutation importance of the columns for the best model, on the test rows."""

from typing import Any

from arboleda._numbers import integer, number_format
from arboleda.report._cells import Cell
from arboleda.report._chart_bars import draw_bar_plot
from arboleda.report._metrics import get_metric
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate
from arboleda.report._words import lower_label

__all__ = ["make_importance_view"]

_DRAWN = 20


def make_importance_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the facts have neither importances nor a reason."""
    result = report.facts.get("importance")
    if result is None:
        return None
    name = report.get_name(result["model"])
    if result["skipped"]:
        return {"name": name, "skipped": translate(result["skipped"])}
    columns = result["columns"]
    write = number_format(
        [c["value"] for c in columns[:_DRAWN]], get_metric(result["metric"]).bounded
    )
    bars = [(c["name"], c["value"], c["standard_error"]) for c in columns[:_DRAWN]]
    label = lower_label(translate(result["metric_label"]))
    axis = text("importance.axis", metric=label)
    current_locale = text("figure.importance", name=name)
    return {
        "name": name,
        "skipped": None,
        "metric": label,
        "n_rows": integer(result["n_rows"]),
        "n_repeats": integer(result["n_repeats"]),
        "wide": draw_bar_plot(
            bars, axis, name="importance-wide", title=current_locale, narrow=False
        ),
        "narrow": draw_bar_plot(
            bars, axis, name="importance-narrow", title=current_locale, narrow=True
        ),
        "title": current_locale,
        "more": max(0, len(columns) - _DRAWN),
        "rows": [
            {
                "name": column["name"],
                "value": Cell(write(column["value"]), column["value"]),
                "error": Cell(write(column["standard_error"]), column["standard_error"]),
            }
            for column in columns
        ],
    }
