"""Box plots of the fold scores."""

from typing import Any

from arboleda.report._figures import choose_shown_range, draw_box_plot
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate

__all__ = ["make_folds_view"]


def make_folds_view(report: ReportData) -> dict[str, Any] | None:
    """Draw the fold scores of all models; None if there are none."""
    rows = [(translate(model["name"]), model["cv"]["fold_scores"]) for model in report.models]
    if not rows:
        return None
    low, high = choose_shown_range([scores for _, scores in rows])
    return {
        "wide": draw_box_plot(rows, report.label, narrow=False),
        "narrow": draw_box_plot(rows, report.label, narrow=True),
        "off_scale": any(min(scores) < low or max(scores) > high for _, scores in rows),
        "title": text("figure.box", metric=report.label),
    }
