"""What answers cost, where costs were told: per wrong answer, and per row left undecided."""

from collections.abc import Callable
from typing import Any

from arboleda._numbers import integer, number_format, percent, plain
from arboleda.report._about import About
from arboleda.report._cells import Cell
from arboleda.report._texts import text, told

__all__ = ["cost_sentences", "costs_view"]


def costs_view(about: About) -> dict[str, Any] | None:
    """Collect the section; None where no costs were told."""
    costs = about.facts.get("costs")
    models = [m for m in about.models if m["test"].get("costs")]
    if costs is None or not models:
        return None
    found = [(model, model["test"]["costs"]) for model in models]
    write = number_format([costs["mean"] for _, costs in found], False)
    least = min(costs["mean"] for _, costs in found)
    decided = [costs["decided"]["mean"] for _, costs in found if costs["decided"]]
    return {
        "labels": costs["labels"],
        "matrix": [
            (label, [plain(cost) for cost in row])
            for label, row in zip(costs["labels"], costs["matrix"], strict=True)
        ],
        "many": len(costs["labels"]) > 8,
        "sentences": cost_sentences(about),
        "rows": [
            {
                "name": told(model["name"]),
                "mean": _mean(write, mine["mean"], least),
                "total": Cell(plain(mine["total"]), mine["total"]),
                "decided": _mean(write, mine["decided"]["mean"], min(decided))
                if mine["decided"]
                else Cell("–", None),
            }
            for model, mine in found
        ],
        "reject": _reject(about),
    }


def _mean(write: Callable[[float], str], value: float, least: float) -> Cell:
    """A mean cost, the least one of its column in bold."""
    return Cell(write(value), value, "top" if value == least else "")


def cost_sentences(about: About) -> list[str]:
    """Say what the best model's answers to the test rows cost, where costs were told."""
    found = about.best["test"].get("costs")
    said = []
    if found:
        said.append(
            text("costs.as_it_is", mean=plain(found["mean"], 3), total=plain(found["total"]))
        )
        if found["decided"] and found["decided"]["mean"] < found["mean"]:
            said.append(text("costs.decided", mean=plain(found["decided"]["mean"], 3)))
    reject = about.best["test"].get("reject")
    if reject:
        said.append(
            text(
                "costs.reject",
                cost=plain(reject["cost"]),
                coverage=percent(reject["coverage"]),
                accuracy=percent(reject["accuracy"]),
                mean=plain(reject["mean_cost"], 3),
            )
        )
    return said


def _reject(about: About) -> list[dict[str, Any]]:
    found = about.best["test"].get("reject")
    return [
        {
            "label": row["label"],
            "n": Cell(integer(row["n"]), row["n"]),
            "rejected": Cell(integer(row["rejected"]), row["rejected"]),
            "share": Cell(
                percent(row["rejected"] / row["n"] if row["n"] else None),
                row["rejected"] / row["n"] if row["n"] else None,
            ),
        }
        for row in (found["classes"] if found else [])
    ]
