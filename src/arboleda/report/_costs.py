"""Costs of wrong predictions and of undecided rows, if the study has costs."""

from collections.abc import Callable
from typing import Any

from arboleda._numbers import integer, number_format, percent, plain
from arboleda.report._cells import Cell
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate

__all__ = ["make_costs_view", "write_cost_sentences"]


def make_costs_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the study has no costs."""
    costs = report.facts.get("costs")
    models = [m for m in report.models if m["test"].get("costs")]
    if costs is None or not models:
        return None
    result = [(model, model["test"]["costs"]) for model in models]
    write = number_format([costs["mean"] for _, costs in result], False)
    least = min(costs["mean"] for _, costs in result)
    decided = [costs["decided"]["mean"] for _, costs in result if costs["decided"]]
    return {
        "labels": costs["labels"],
        "matrix": [
            (label, [plain(cost) for cost in row])
            for label, row in zip(costs["labels"], costs["matrix"], strict=True)
        ],
        "many": len(costs["labels"]) > 8,
        "sentences": write_cost_sentences(report),
        "rows": [
            {
                "name": translate(model["name"]),
                "mean": _make_mean_cell(write, mine["mean"], least),
                "total": Cell(plain(mine["total"]), mine["total"]),
                "decided": _make_mean_cell(write, mine["decided"]["mean"], min(decided))
                if mine["decided"]
                else Cell("–", None),
            }
            for model, mine in result
        ],
        "reject": _make_reject_rows(report),
    }


def _make_mean_cell(write: Callable[[float], str], value: float, least: float) -> Cell:
    """Return the cell of a mean cost, in bold if it is the lowest of its column."""
    return Cell(write(value), value, "top" if value == least else "")


def write_cost_sentences(report: ReportData) -> list[str]:
    """Describe the costs of the best model on the test rows, if the study has costs."""
    result = report.best["test"].get("costs")
    sentences = []
    if result:
        sentences.append(
            text("costs.as_it_is", mean=plain(result["mean"], 3), total=plain(result["total"]))
        )
        if result["decided"] and result["decided"]["mean"] < result["mean"]:
            sentences.append(text("costs.decided", mean=plain(result["decided"]["mean"], 3)))
    reject = report.best["test"].get("reject")
    if reject:
        sentences.append(
            text(
                "costs.reject",
                cost=plain(reject["cost"]),
                coverage=percent(reject["coverage"]),
                accuracy=percent(reject["accuracy"]),
                mean=plain(reject["mean_cost"], 3),
            )
        )
    return sentences


def _make_reject_rows(report: ReportData) -> list[dict[str, Any]]:
    result = report.best["test"].get("reject")
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
        for row in (result["classes"] if result else [])
    ]
