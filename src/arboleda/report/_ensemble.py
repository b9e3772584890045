"""What the combined models are made of: members, weights, and how much the members differ."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import fixed, percent
from arboleda.report._about import About
from arboleda.report._cells import Cell
from arboleda.report._schemes import scheme_kind
from arboleda.report._texts import text, told
from arboleda.report._words import listed

__all__ = ["ensemble_view"]

_TINTS = 10
# So many models, a baseline among them, leave nothing to combine.
_FEW = 2


def ensemble_view(about: About) -> dict[str, Any] | None:
    """Collect the section; None where no models were combined, and nobody would miss them."""
    found = [(rank, m) for rank, m in enumerate(about.models, 1) if m.get("ensemble")]
    if not found:
        is_missed = scheme_kind(about.study) == "bootstrap" and len(about.models) > _FEW
        return {"why_not": text("ensemble.bootstrap")} if is_missed else None
    spreads = (model["ensemble"]["diversity"] for _, model in found)
    spread = next(filter(None, spreads), None)
    remarks = dict.fromkeys(r for _, m in found for r in m["ensemble"].get("remarks", []))
    return {
        "why_not": None,
        "verdict": _verdict(about, found[0][1]),
        "remarks": [told(r) for r in remarks],
        "combined": [_combined(about, rank, model) for rank, model in found],
        "pairs": spread and _pairs(about, spread),
    }


def _verdict(about: About, first: Mapping[str, Any]) -> str:
    """Say whether combining beat the best model that stands alone."""
    alone = next((m for m in about.models if not m.get("ensemble")), None)
    if alone is None:
        return ""
    better = first["cv"]["mean"] - alone["cv"]["mean"]
    side = "better" if (better > 0) == about.up and better != 0 else "not_better"
    names = {"name": told(first["name"]), "alone": told(alone["name"])}
    scores = {"score": about.write(first["cv"]["mean"]), "other": about.write(alone["cv"]["mean"])}
    return text(f"ensemble.{side}", **names, **scores)


def _combined(about: About, rank: int, model: Mapping[str, Any]) -> dict[str, Any]:
    members = sorted(model["ensemble"]["members"], key=lambda member: -abs(member["weight"]))
    largest = max((abs(member["weight"]) for member in members), default=0) or 1
    used = [member for member in members if member["weight"]]
    unused = [told(member["name"]) for member in members if not member["weight"]]
    return {
        "name": told(model["name"]),
        "anchor": f"model-{rank}",
        "method": text(f"ensemble.method.{model['ensemble']['method']}"),
        "rows": [
            {
                "name": told(member["name"]),
                "weight": Cell(_weight(member["weight"]), member["weight"]),
                "bar": f"{100 * abs(member['weight']) / largest:.1f}",
            }
            for member in used
        ],
        "unused": unused and text("ensemble.unused", names=listed(unused, len(unused))),
    }


def _weight(value: float) -> str:
    """Three decimals; a smaller weight is told as such."""
    return f"<{fixed(0.001, 3)}" if 0 < value < 0.0005 else fixed(value, 3)


def _pairs(about: About, spread: Mapping[str, Any]) -> dict[str, Any]:
    """Set how often two members disagree as a square, tinted by how often."""
    names = list(dict.fromkeys(p[end] for p in spread["pairs"] for end in ("first", "second")))
    share = {(p["first"], p["second"]): p["disagreement"] for p in spread["pairs"]}
    most = max(share.values(), default=0) or 1

    def cell(row: str, column: str) -> tuple[str, str]:
        value = share.get((row, column), share.get((column, row)))
        if value is None:
            return "", "none"
        return percent(value), f"wrong t{round(_TINTS * (value / most) ** 0.5 / 2)}"

    return {
        "names": [about.name(name) for name in names],
        "rows": [(about.name(row), [cell(row, column) for column in names]) for row in names],
    }
