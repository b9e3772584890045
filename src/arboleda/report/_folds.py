"""Box plots of the fold scores."""

from typing import Any

from arboleda.report._about import About
from arboleda.report._figures import box_plot, shown_range
from arboleda.report._texts import text, told

__all__ = ["folds_view"]


def folds_view(about: About) -> dict[str, Any] | None:
    """Draw the fold scores of all models; None where no model has any."""
    rows = [(told(model["name"]), model["cv"]["fold_scores"]) for model in about.models]
    if not rows:
        return None
    low, high = shown_range([scores for _, scores in rows])
    return {
        "wide": box_plot(rows, about.label, narrow=False),
        "narrow": box_plot(rows, about.label, narrow=True),
        "off_scale": any(min(scores) < low or max(scores) > high for _, scores in rows),
        "title": text("figure.box", metric=about.label),
    }
