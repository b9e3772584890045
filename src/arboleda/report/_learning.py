"""The learning curve: whether more rows would help."""

from typing import Any

from arboleda._numbers import integer
from arboleda.report._about import About
from arboleda.report._chart_lines import learning_plot
from arboleda.report._texts import text, told

__all__ = ["learning_view"]


def learning_view(about: About) -> dict[str, Any] | None:
    """Collect the section; None where nothing was computed, nor a reason given."""
    found = about.facts.get("learning_curve")
    if found is None:
        return None
    name = about.name(found["model"])
    if found["skipped"]:
        return {"name": name, "skipped": told(found["skipped"])}
    points = [(p["n_rows"], p["fold_scores"]) for p in found["points"]]
    title = text("figure.learning", name=name)
    labels = (text("learning.rows"), about.label)
    return {
        "name": name,
        "skipped": None,
        "svg": learning_plot(points, labels, name="learning", title=title),
        "title": title,
        "verdict": _verdict(about, found["points"]),
        "rows": [
            {
                "n": integer(p["n_rows"]),
                "score": about.spread(p),
            }
            for p in found["points"]
        ],
        "label": about.label,
    }


def _verdict(about: About, points: Any) -> str:
    """Say what the last step did: a gain beyond its own noise, or none."""
    if len(points) < 2:
        return ""
    before, last = points[-2], points[-1]
    gain = (last["mean"] - before["mean"]) * (1 if about.up else -1)
    pairs = zip(before["fold_scores"], last["fold_scores"], strict=True)
    steps = [(b - a) * (1 if about.up else -1) for a, b in pairs]
    wide = max(steps) - min(steps)
    sizes = {"before": integer(before["n_rows"]), "last": integer(last["n_rows"])}
    scores = {"score": about.write(before["mean"]), "now": about.write(last["mean"])}
    # Better in every fold, and by more than the folds differ in how much.
    if min(steps) > 0 and gain > wide / 2:
        return text("learning.rising", **sizes, **scores)
    return text("learning.flat", **sizes, **scores)
