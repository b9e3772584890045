"""The sections on what models consist of: importance, trees, members of combinations."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import fixed, integer, number_format, percent
from arboleda.reports.figures.score_plots import draw_bar_plot
from arboleda.reports.study.report_data import ReportData, get_scheme_kind
from arboleda.reports.tables import SWATCHES, Cell, choose_class_colours
from arboleda.reports.translation import text, translate
from arboleda.reports.tree_drawing import draw_tree, write_tree_rules
from arboleda.reports.wording import get_metric, join_names, lower_label

__all__ = ["make_ensemble_view", "make_importance_view", "make_surrogate_view", "make_tree_view"]

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


def make_surrogate_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the facts have neither a tree nor a reason."""
    result = report.facts.get("surrogate")
    if result is None:
        return None
    name = report.get_name(result["model"])
    if result["skipped"]:
        return {"name": name, "skipped": translate(result["skipped"])}
    values = {key: result[key] for key in ("error", "model_error")}
    write = percent if report.is_classification else number_format(values.values(), bounded=False)
    errors = {key: write(value) for key, value in values.items()}
    kind = "class" if report.is_classification else "value"
    numbers = {"n_leaves": integer(result["n_leaves"]), "fidelity": percent(result["fidelity"])}
    return {
        "name": name,
        "skipped": None,
        "fidelity": text(f"surrogate.fidelity.{kind}", name=name, **numbers),
        "errors": text(f"surrogate.errors.{kind}", **errors),
        **make_tree_part(report, result["tree"], "surrogate"),
    }


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


def make_tree_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section on the decision tree of the study; None if there is none."""
    tree = report.facts["tree"]
    if tree is None or not tree["nodes"]:
        return None
    drawn = max(node["depth"] for node in tree["nodes"])
    numbers = {"leaves": integer(tree["n_leaves"]), "depth": integer(tree["depth"])}
    cut = text("tree.cut", drawn=drawn) if drawn != tree["depth"] else ""
    return {
        "name": report.get_name(tree["model"]),
        "size": text("tree.size", **numbers, cut=cut),
        **make_tree_part(report, tree, "tree"),
    }


def make_tree_part(report: ReportData, tree: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Collect the drawing, the rules and the legend of a tree."""
    positive = report.study["positive_class"]
    labels, columns = tree["class_labels"] or [], report.facts["data"]["columns"]
    few = 2 <= len(labels) <= SWATCHES
    bar = "few" if few else "many" if labels else "value"
    return {
        "svg": draw_tree(tree, columns, positive),
        "title": text(f"figure.{kind}"),
        "rules": write_tree_rules(tree, columns),
        "legend": list(zip(choose_class_colours(labels, positive), labels, strict=True))
        if few
        else [],
        "caption": text(f"tree.bar.{bar}", label=translate(tree["value_label"])),
    }
