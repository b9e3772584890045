"""Which columns the best model needs: what it loses on the test rows when one is shuffled."""

from typing import Any

from arboleda._numbers import integer, number_format
from arboleda.report._about import About
from arboleda.report._cells import Cell
from arboleda.report._chart_bars import bar_plot
from arboleda.report._metrics import metric
from arboleda.report._texts import text, told
from arboleda.report._words import within

__all__ = ["importance_view"]

_DRAWN = 20


def importance_view(about: About) -> dict[str, Any] | None:
    """Collect the section; None where nothing was computed, nor a reason given."""
    found = about.facts.get("importance")
    if found is None:
        return None
    name = about.name(found["model"])
    if found["skipped"]:
        return {"name": name, "skipped": told(found["skipped"])}
    columns = found["columns"]
    write = number_format([c["value"] for c in columns[:_DRAWN]], metric(found["metric"]).bounded)
    bars = [(c["name"], c["value"], c["standard_error"]) for c in columns[:_DRAWN]]
    label = within(told(found["metric_label"]))
    axis = text("importance.axis", metric=label)
    current_locale = text("figure.importance", name=name)
    return {
        "name": name,
        "skipped": None,
        "metric": label,
        "n_rows": integer(found["n_rows"]),
        "n_repeats": integer(found["n_repeats"]),
        "wide": bar_plot(bars, axis, name="importance-wide", title=current_locale, narrow=False),
        "narrow": bar_plot(bars, axis, name="importance-narrow", title=current_locale, narrow=True),
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
