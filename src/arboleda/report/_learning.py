"""The learning curve, which shows whether more rows would help."""

from typing import Any

from arboleda._numbers import integer
from arboleda.report._chart_lines import draw_learning_plot
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate

__all__ = ["make_learning_view"]


def make_learning_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the facts have neither a curve nor a reason."""
    result = report.facts.get("learning_curve")
    if result is None:
        return None
    name = report.get_name(result["model"])
    if result["skipped"]:
        return {"name": name, "skipped": translate(result["skipped"])}
    points = [(p["n_rows"], p["fold_scores"]) for p in result["points"]]
    title = text("figure.learning", name=name)
    labels = (text("learning.rows"), report.label)
    return {
        "name": name,
        "skipped": None,
        "svg": draw_learning_plot(points, labels, name="learning", title=title),
        "title": title,
        "verdict": _describe_trend(report, result["points"]),
        "rows": [
            {
                "n": integer(p["n_rows"]),
                "score": report.format_spread(p),
            }
            for p in result["points"]
        ],
        "label": report.label,
    }


def _describe_trend(report: ReportData, points: Any) -> str:
    """Describe whether the last step improved the score beyond its noise."""
    if len(points) < 2:
        return ""
    before, last = points[-2], points[-1]
    gain = (last["mean"] - before["mean"]) * (1 if report.greater_is_better else -1)
    pairs = zip(before["fold_scores"], last["fold_scores"], strict=True)
    steps = [(b - a) * (1 if report.greater_is_better else -1) for a, b in pairs]
    wide = max(steps) - min(steps)
    sizes = {"before": integer(before["n_rows"]), "last": integer(last["n_rows"])}
    scores = {
        "score": report.format_score(before["mean"]),
        "now": report.format_score(last["mean"]),
    }
    # Better in every fold, and by more than half the range of the gains.
    if min(steps) > 0 and gain > wide / 2:
        return text("learning.rising", **sizes, **scores)
    return text("learning.flat", **sizes, **scores)
