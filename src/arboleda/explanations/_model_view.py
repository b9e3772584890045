"""The values of the template of a model page."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, number_format, percent, plain
from arboleda.explanations._effects_view import make_effects_view
from arboleda.explanations._figures import draw_swarm_plot
from arboleda.explanations._model_summary import make_model_summary
from arboleda.explanations._uncertainty_view import describe_model_uncertainty
from arboleda.explanations._words import format_value, is_certain
from arboleda.report._calibration import get_reliability_axes
from arboleda.report._figures import draw_histogram_plot, draw_reliability_plot
from arboleda.report._metrics import get_metric
from arboleda.report._tree import draw_tree
from arboleda.report._words import format_count, lower_label

__all__ = ["make_model_view"]

_MOST_COLUMNS = 20
_WHY = {
    "wrong": "wrong",
    "surely_wrong": "wrong",
    "unsure": "least certain",
    "right": "right",
    "surely_right": "confident and right",
    "off": "largest error",
    "middle": "median error",
}


def make_model_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the values of the template of a model page from the facts."""
    return {
        "table": facts["study"]["table"],
        "target": facts["study"]["target"],
        "model": facts["model"]["name"],
        "summary": make_model_summary(facts),
        "importance": _make_importance(facts),
        "effects": make_effects_view(facts),
        "surrogate": _make_surrogate(facts),
        "swarm": _draw_swarm(facts),
        "sure": _make_uncertainty(facts),
        "rows": _make_rows(facts),
    }


def _make_importance(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    result = facts["importance"]
    if result is None:
        return None
    columns = result["columns"]
    write = number_format(
        [column["value"] for column in columns[:_MOST_COLUMNS]],
        get_metric(result["metric"]).bounded,
    )
    longest = max((abs(column["value"]) for column in columns), default=0.0) or 1.0
    up = facts["study"]["greater_is_better"]
    return {
        "label": f"{'Loss' if up else 'Rise'} of {lower_label(result['metric_label'])}",
        "rows": [
            {
                "name": column["name"],
                "value": column["value"],
                "text": write(column["value"]),
                "error": write(column["standard_error"]),
                "bar": f"{100 * max(0.0, column['value']) / longest:.1f}",
                "certain": is_certain(column),
            }
            for column in columns[:_MOST_COLUMNS]
        ],
        "n_others": max(0, len(columns) - _MOST_COLUMNS),
        "how": _describe_importance(facts, result),
    }


def _describe_importance(facts: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    part = "" if result["n_rows"] == facts["study"]["n_test"] else "a random part of "
    way = "falls" if facts["study"]["greater_is_better"] else "rises"
    label = lower_label(result["metric_label"])
    return (
        f"How much the {label} {way} on {part}{integer(result['n_rows'])} test rows "
        "when the values of the column are shuffled, which removes its information. "
        f"Mean of {integer(result['n_repeats'])} shuffles; ± is the standard error over test rows "
        "and shuffles. Grey: within two standard errors of zero."
    )


def _make_surrogate(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    result = facts["surrogate"]
    if result is None:
        return None
    write = _make_error_format(facts, result)
    drawing = draw_tree(result["tree"], positive=facts["study"]["positive_class"])
    return {
        "svg": drawing,
        "n_leaves": integer(result["n_leaves"]),
        "sentences": [*_write_surrogate_sentences(facts, result, write)],
        "rows": [
            {
                "n_leaves": integer(size["n_leaves"]),
                "fidelity": _format_fidelity(facts, size["fidelity"]),
                "error": write(size["error"]),
                "own": write(size["cart_error"]),
                "chosen": size["n_leaves"] == result["n_leaves"],
            }
            for size in result["curve"]
        ],
        "model_error": write(result["model_error"]),
        "error_name": "Error" if facts["study"]["labels"] else "RMSE",
        "fidelity_name": "Agrees with the model" if facts["study"]["labels"] else "R² to the model",
        "n_rows": integer(result["n_rows"]),
    }


def _write_surrogate_sentences(
    facts: Mapping[str, Any], result: Mapping[str, Any], write: Callable[[float | None], str]
) -> Iterator[str]:
    rows, leaves = integer(result["n_rows"]), integer(result["n_leaves"])
    own, model = (write(result[key]) for key in ("error", "model_error"))
    grown = f"This tree of {leaves} leaves was fitted to the predictions of the model: it"
    if facts["study"]["labels"]:
        yield f"{grown} agrees with the model on {percent(result['fidelity'])} of {rows} test rows."
        yield f"Compared with the truth, the tree is wrong on {own} of them, the model on {model}."
    else:
        share = percent(max(0.0, result["fidelity"]))
        yield f"{grown} explains {share} of their variance on {rows} test rows."
        yield f"Compared with the truth, its RMSE is {own}; that of the model is {model}."


def _format_fidelity(facts: Mapping[str, Any], value: float) -> str:
    return percent(value) if facts["study"]["labels"] else plain(value, 3)


def _make_error_format(
    facts: Mapping[str, Any], result: Mapping[str, Any]
) -> Callable[[float | None], str]:
    """Return the format of errors: shares, or numbers with equal decimals."""
    if facts["study"]["labels"]:
        return percent
    return number_format([size["error"] for size in result["curve"]], bounded=False)


def _draw_swarm(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    result = facts["shap"]
    if result is None or not result["columns"]:
        return None
    axis, unit = {
        "probability": ("Contribution, percentage points", 100.0),
        "log_odds": ("Contribution, log-odds", 1.0),
        "score": ("Contribution, score of the class", 1.0),
        "value": ("Contribution, in units of the target", 1.0),
    }[result["unit"]]
    return {
        "wide": draw_swarm_plot(result["columns"], axis, unit, narrow=False),
        "narrow": draw_swarm_plot(result["columns"], axis, unit, narrow=True),
        "output": result["output"],
        "n_rows": format_count(result["n_rows"], "test row"),
        "n_others": result["n_others"],
        "how": "Exact Shapley values of the trees (TreeSHAP, Lundberg et al. 2020).",
    }


def _make_uncertainty(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "sentences": [*describe_model_uncertainty(facts)],
        "figure": _draw_reliability(facts),
        "level": percent((facts["promise"] or {"level": 0.9})["level"], 0),
        "sizes": _make_sizes(facts),
        "widths": _draw_widths(facts),
    }


def _draw_reliability(facts: Mapping[str, Any]) -> Any:
    result = facts["model"]["calibration"]
    if result is None:
        return None
    positive = facts["study"]["positive_class"]
    return draw_reliability_plot(
        [(result["bins"], -1)],
        get_reliability_axes(positive),
        name="reliability",
        title="Reliability of the model's probabilities on the test rows",
    )


def _make_sizes(facts: Mapping[str, Any]) -> list[dict[str, str]]:
    result = facts["promise"]
    if result is None or result["sizes"] is None:
        return []
    total = sum(result["sizes"]) or 1
    return [
        {
            "label": "no class" if size == 0 else f"{size} class{'' if size == 1 else 'es'}",
            "n": integer(count),
            "share": percent(count / total),
            "bar": f"{100 * count / total:.1f}",
        }
        for size, count in enumerate(result["sizes"])
        if count
    ]


def _draw_widths(facts: Mapping[str, Any]) -> Any:
    result = facts["promise"]
    if result is None or result["widths"] is None or len(result["widths"]["counts"]) < 2:
        return None
    return draw_histogram_plot(
        result["widths"], "Interval width", "widths", "Interval widths of the test rows"
    )


def _make_rows(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "row": integer(row["row"]),
            "why": _WHY[row["why"]],
            "truth": format_value(row["truth"]),
            "said": format_value(row["said"]),
            "sure": None if row["probability"] is None else percent(row["probability"], 0),
        }
        for row in facts["rows"]
    ]
