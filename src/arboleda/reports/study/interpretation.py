"""The sections on what models consist of: importance, trees, members of combinations."""

from collections.abc import Mapping
from typing import Any

from arboleda._utils.numbers import fixed, integer, number_format, percent
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.score_plots import draw_bar_plot
from arboleda.reports.study.report_data import ReportData, get_scheme_kind
from arboleda.reports.tables import SWATCHES, Cell, choose_class_colours
from arboleda.reports.translation import N_
from arboleda.reports.translation import gettext as _
from arboleda.reports.tree_drawing import draw_tree, write_tree_rules
from arboleda.reports.wording import get_metric, join_names, lower_label

__all__ = ["make_ensemble_view", "make_importance_view", "make_surrogate_view", "make_tree_view"]

_DRAWN = 12

_FIDELITY = {
    "class": N_("With {n_leaves} leaves, it agrees with the model on {fidelity} of the test rows."),
    "value": N_(
        "With {n_leaves} leaves, it explains {fidelity} of the variance of the model's "
        "predictions on the test rows."
    ),
}

_ERRORS = {
    "class": N_(
        "Its own error rate is {error}; that of the model is {model_error}. If the two "
        "differ much, the tree shows only part of what the model does."
    ),
    "value": N_(
        "Its own root mean squared error is {error}; that of the model is {model_error}. "
        "If the two differ much, the tree shows only part of what the model does."
    ),
}

_METHODS = {
    "mean": N_("A weighted mean of the members' predictions."),
    "linear": N_("A linear model of the members' predictions."),
    "boosted": N_(
        "A weighted mean of the members' predictions, plus trees boosted on all "
        "predictions. The weight of a member is its share in both."
    ),
    "textbook": N_("A textbook rule, applied to the best few of them."),
}

_BARS = {
    "few": N_("The bar shows the {label}."),
    "many": N_("The bar shows the share of the most frequent class."),
    "value": N_(
        "Leaves show the {label}; the bar shows its position between the smallest and the "
        "largest one drawn."
    ),
}

_DRAWINGS = {
    "tree": N_("Drawing of the decision tree"),
    "surrogate": N_("Drawing of the surrogate tree of the best model"),
}

_AGAINST_BEST = {
    "better": N_(
        "{name} scores {score} in cross-validation; the best single model, {alone}, scores {other}."
    ),
    "not_better": N_(
        "No combination is better than the best single model: {name} scores {score} in "
        "cross-validation, {alone} {other}."
    ),
}


def make_importance_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the facts have neither importances nor a reason."""
    result = report.facts.get("importance")
    if result is None:
        return None
    name = report.get_name(result["model"])
    if result["skipped"]:
        return {"skipped": report.describe_skipped(result)}
    columns = result["columns"]
    write = number_format(
        [c["value"] for c in columns[:_DRAWN]], get_metric(result["metric"]).bounded
    )
    bars = [(c["name"], c["value"], c["standard_error"]) for c in columns[:_DRAWN]]
    label = lower_label(translate(result["metric_label"]))
    axis = _("Worsening of {metric} when shuffled", metric=label)
    current_locale = _("Importance of the columns: {name}", name=name)
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
        return {"skipped": report.describe_skipped(result)}
    values = {key: result[key] for key in ("error", "model_error")}
    write = percent if report.is_classification else number_format(values.values(), bounded=False)
    errors = {key: write(value) for key, value in values.items()}
    kind = "class" if report.is_classification else "value"
    numbers = {"n_leaves": integer(result["n_leaves"]), "fidelity": percent(result["fidelity"])}
    return {
        "name": name,
        "skipped": None,
        "fidelity": _(_FIDELITY[kind], name=name, **numbers),
        "errors": _(_ERRORS[kind], **errors),
        **make_tree_part(report, result["tree"], "surrogate"),
    }


_TINTS = 10
_NOT_COMBINED = {
    "survival": N_("Survival curves of several models are not combined."),
    "ranking": N_("Scores of several models have no common scale, so they are not combined."),
}
# With this many models, including a baseline, there is nothing to combine.
_FEW = 2


def make_ensemble_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if no models were combined and none were expected to be."""
    result = [(rank, m) for rank, m in enumerate(report.models, 1) if m.get("ensemble")]
    if not result and report.task in _NOT_COMBINED:
        return {"skipped": _(_NOT_COMBINED[report.task])}
    if not result:
        is_expected = get_scheme_kind(report.study) == "bootstrap" and len(report.models) > _FEW
        return (
            {
                "skipped": _(
                    "With the bootstrap, models are not combined: the .632+ estimate "
                    "needs the score of a combination on the rows it was fitted on, which "
                    "held-out predictions do not provide. Use --cv 5 to combine models."
                )
            }
            if is_expected
            else None
        )
    spreads = (model["ensemble"]["diversity"] for _, model in result)
    spread = next(filter(None, spreads), None)
    remarks = dict.fromkeys(r for _, m in result for r in m["ensemble"].get("remarks", []))
    return {
        "skipped": None,
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
    return _(_AGAINST_BEST[side], **names, **scores)


def _describe_combination(
    report: ReportData, rank: int, model: Mapping[str, Any]
) -> dict[str, Any]:
    members = sorted(model["ensemble"]["members"], key=lambda member: -abs(member["weight"]))
    largest = max((abs(member["weight"]) for member in members), default=0) or 1
    used = [member for member in members if member["weight"]]
    method = model["ensemble"]["method"]
    unused = [translate(member["name"]) for member in members if not member["weight"]]
    return {
        "name": translate(model["name"]),
        "anchor": f"model-{rank}",
        "method": _(_METHODS[method]),
        "rows": [
            {
                "name": translate(member["name"]),
                "weight": Cell(_format_weight(member["weight"]), member["weight"]),
                "bar": f"{100 * abs(member['weight']) / largest:.1f}",
            }
            for member in used
        ],
        "unused": unused and _("No weight: {names}.", names=join_names(unused, len(unused))),
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
            return "", ""
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
    cut = (
        _(", drawn to depth {drawn}; “…” marks where it continues", drawn=drawn)
        if drawn != tree["depth"]
        else ""
    )
    return {
        "name": report.get_name(tree["model"]),
        "size": _(
            "{leaves} leaves, depth {depth}{cut}. The upper branch is yes.", **numbers, cut=cut
        ),
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
        "title": _(_DRAWINGS[kind]),
        "rules": write_tree_rules(tree, columns),
        "legend": list(zip(choose_class_colours(labels, positive), labels, strict=True))
        if few
        else [],
        "caption": _(_BARS[bar], label=_name_leaf_value(report, kind, bool(labels))),
    }


def _name_leaf_value(report: ReportData, kind: str, classes: bool) -> str:
    """Name what a leaf shows; a surrogate tree shows predictions of the model."""
    target = report.study["target"]
    if kind == "surrogate" and classes:
        return _("share of each class of {target} as the model says", target=target)
    if kind == "surrogate":
        return _("mean of {target} as the model says", target=target)
    if classes:
        return _("share of each class of {target}", target=target)
    return _("mean of {target}", target=target)
