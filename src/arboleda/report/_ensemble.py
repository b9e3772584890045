"""The section on combined models: members, weights and diversity."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import fixed, percent
from arboleda.report._cells import Cell
from arboleda.report._report_data import ReportData
from arboleda.report._schemes import get_scheme_kind
from arboleda.report._texts import text, translate
from arboleda.report._words import join_names

__all__ = ["make_ensemble_view"]

_TINTS = 10
# With this many models, including a baseline, there is nothing to combine.
_FEW = 2


def make_ensemble_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if no models were combined and none were expected to be."""
    result = [(rank, m) for rank, m in enumerate(report.models, 1) if m.get("ensemble")]
    if not result:
        is_expected = get_scheme_kind(report.study) == "bootstrap" and len(report.models) > _FEW
        return {"why_not": text("ensemble.bootstrap")} if is_expected else None
    spreads = (model["ensemble"]["diversity"] for _, model in result)
    spread = next(filter(None, spreads), None)
    remarks = dict.fromkeys(r for _, m in result for r in m["ensemble"].get("remarks", []))
    return {
        "why_not": None,
        "verdict": _describe_best(report, result[0][1]),
        "remarks": [translate(r) for r in remarks],
        "combined": [_describe_combination(report, rank, model) for rank, model in result],
        "pairs": spread and _make_pairs(report, spread),
    }


def _describe_best(report: ReportData, first: Mapping[str, Any]) -> str:
    """Describe whether the best combination beats the best single model."""
    alone = next((m for m in report.models if not m.get("ensemble")), None)
    if alone is None:
        return ""
    better = first["cv"]["mean"] - alone["cv"]["mean"]
    side = "better" if (better > 0) == report.greater_is_better and better != 0 else "not_better"
    names = {"name": translate(first["name"]), "alone": translate(alone["name"])}
    scores = {
        "score": report.format_score(first["cv"]["mean"]),
        "other": report.format_score(alone["cv"]["mean"]),
    }
    return text(f"ensemble.{side}", **names, **scores)


def _describe_combination(
    report: ReportData, rank: int, model: Mapping[str, Any]
) -> dict[str, Any]:
    members = sorted(model["ensemble"]["members"], key=lambda member: -abs(member["weight"]))
    largest = max((abs(member["weight"]) for member in members), default=0) or 1
    used = [member for member in members if member["weight"]]
    unused = [translate(member["name"]) for member in members if not member["weight"]]
    return {
        "name": translate(model["name"]),
        "anchor": f"model-{rank}",
        "method": text(f"ensemble.method.{model['ensemble']['method']}"),
        "rows": [
            {
                "name": translate(member["name"]),
                "weight": Cell(_format_weight(member["weight"]), member["weight"]),
                "bar": f"{100 * abs(member['weight']) / largest:.1f}",
            }
            for member in used
        ],
        "unused": unused and text("ensemble.unused", names=join_names(unused, len(unused))),
    }


def _format_weight(value: float) -> str:
    """Format a weight with three decimals, or as "<0.001"."""
    return f"<{fixed(0.001, 3)}" if 0 < value < 0.0005 else fixed(value, 3)


def _make_pairs(report: ReportData, spread: Mapping[str, Any]) -> dict[str, Any]:
    """Return the matrix of pairwise disagreement, tinted by frequency."""
    names = list(dict.fromkeys(p[end] for p in spread["pairs"] for end in ("first", "second")))
    share = {(p["first"], p["second"]): p["disagreement"] for p in spread["pairs"]}
    most = max(share.values(), default=0) or 1

    def cell(row: str, column: str) -> tuple[str, str]:
        value = share.get((row, column), share.get((column, row)))
        if value is None:
            return "", "none"
        return percent(value), f"wrong t{round(_TINTS * (value / most) ** 0.5 / 2)}"

    return {
        "names": [report.get_name(name) for name in names],
        "rows": [(report.get_name(row), [cell(row, column) for column in names]) for row in names],
    }
