"""The page of a model as a whole: from its facts to what the template sets."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, number_format, percent, plain
from arboleda.explanations._effects_view import effects_view
from arboleda.explanations._figures import swarm_plot
from arboleda.explanations._model_summary import model_summary
from arboleda.explanations._sure_words import model_is_sure
from arboleda.explanations._words import is_certain, value_text
from arboleda.report._calibration import reliability_axes
from arboleda.report._figures import histogram_plot, reliability_plot
from arboleda.report._metrics import metric
from arboleda.report._tree import draw_tree
from arboleda.report._words import counted, within

__all__ = ["model_view"]

_MOST_COLUMNS = 20
_WHY = {
    "wrong": "wrong",
    "surely_wrong": "wrong",
    "unsure": "least sure",
    "right": "right",
    "surely_right": "sure and right",
    "off": "furthest off",
    "middle": "in the middle",
}


def model_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect everything the template of a model needs, drawn from the facts alone."""
    return {
        "table": facts["study"]["table"],
        "target": facts["study"]["target"],
        "model": facts["model"]["name"],
        "summary": model_summary(facts),
        "importance": _importance(facts),
        "effects": effects_view(facts),
        "surrogate": _surrogate(facts),
        "swarm": _swarm(facts),
        "sure": _sure(facts),
        "rows": _rows(facts),
    }


def _importance(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    found = facts["importance"]
    if found is None:
        return None
    columns = found["columns"]
    write = number_format(
        [column["value"] for column in columns[:_MOST_COLUMNS]], metric(found["metric"]).bounded
    )
    longest = max((abs(column["value"]) for column in columns), default=0.0) or 1.0
    up = facts["study"]["greater_is_better"]
    return {
        "label": f"{'Loss' if up else 'Rise'} of {within(found['metric_label'])}",
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
        "how": _how_important(facts, found),
    }


def _how_important(facts: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    part = "" if found["n_rows"] == facts["study"]["n_test"] else "a random part of "
    way = "falls" if facts["study"]["greater_is_better"] else "rises"
    label = within(found["metric_label"])
    return (
        f"How much the {label} {way} on {part}{integer(found['n_rows'])} test rows "
        "when the column's values are shuffled among them, so that the model can no longer use it. "
        f"Mean of {integer(found['n_repeats'])} shufflings; ± is the standard error, of other test "
        "rows and other shufflings. Grey: within two of them from zero."
    )


def _surrogate(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    found = facts["surrogate"]
    if found is None:
        return None
    write = _error_writer(facts, found)
    drawing = draw_tree(found["tree"], positive=facts["study"]["positive_class"])
    return {
        "svg": drawing,
        "n_leaves": integer(found["n_leaves"]),
        "sentences": [*_surrogate_sentences(facts, found, write)],
        "rows": [
            {
                "n_leaves": integer(size["n_leaves"]),
                "fidelity": _fidelity(facts, size["fidelity"]),
                "error": write(size["error"]),
                "own": write(size["cart_error"]),
                "chosen": size["n_leaves"] == found["n_leaves"],
            }
            for size in found["curve"]
        ],
        "model_error": write(found["model_error"]),
        "error_name": "Error" if facts["study"]["labels"] else "RMSE",
        "fidelity_name": "Agrees with the model" if facts["study"]["labels"] else "R² to the model",
        "n_rows": integer(found["n_rows"]),
    }


def _surrogate_sentences(
    facts: Mapping[str, Any], found: Mapping[str, Any], write: Callable[[float | None], str]
) -> Iterator[str]:
    rows, leaves = integer(found["n_rows"]), integer(found["n_leaves"])
    own, model = (write(found[key]) for key in ("error", "model_error"))
    grown = f"This tree of {leaves} leaves was grown to give the model's answers: it"
    if facts["study"]["labels"]:
        yield f"{grown} agrees with the model on {percent(found['fidelity'])} of {rows} test rows."
        yield f"Against the truth the tree is wrong on {own} of them, the model on {model}."
    else:
        told = percent(max(0.0, found["fidelity"]))
        yield f"{grown} tells {told} of how they vary over {rows} test rows."
        yield f"Against the truth the tree's RMSE is {own}, the model's {model}."


def _fidelity(facts: Mapping[str, Any], value: float) -> str:
    return percent(value) if facts["study"]["labels"] else plain(value, 3)


def _error_writer(
    facts: Mapping[str, Any], found: Mapping[str, Any]
) -> Callable[[float | None], str]:
    """Errors of classes are shares, those of a quantity have the same decimals."""
    if facts["study"]["labels"]:
        return percent
    return number_format([size["error"] for size in found["curve"]], bounded=False)


def _swarm(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    found = facts["shap"]
    if found is None or not found["columns"]:
        return None
    axis, unit = {
        "probability": ("Push, points of probability", 100.0),
        "log_odds": ("Push, log-odds", 1.0),
        "score": ("Push, score of the class", 1.0),
        "value": ("Push, in units of the target", 1.0),
    }[found["unit"]]
    return {
        "wide": swarm_plot(found["columns"], axis, unit, narrow=False),
        "narrow": swarm_plot(found["columns"], axis, unit, narrow=True),
        "output": found["output"],
        "n_rows": counted(found["n_rows"], "test row"),
        "n_others": found["n_others"],
        "how": "Exact Shapley values of its trees (TreeSHAP, Lundberg et al. 2020).",
    }


def _sure(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "sentences": [*model_is_sure(facts)],
        "figure": _reliability(facts),
        "level": percent((facts["promise"] or {"level": 0.9})["level"], 0),
        "sizes": _sizes(facts),
        "widths": _widths(facts),
    }


def _reliability(facts: Mapping[str, Any]) -> Any:
    found = facts["model"]["calibration"]
    if found is None:
        return None
    positive = facts["study"]["positive_class"]
    return reliability_plot(
        [(found["bins"], -1)],
        reliability_axes(positive),
        name="reliability",
        title="Reliability of the model's probabilities on the test rows",
    )


def _sizes(facts: Mapping[str, Any]) -> list[dict[str, str]]:
    found = facts["promise"]
    if found is None or found["sizes"] is None:
        return []
    total = sum(found["sizes"]) or 1
    return [
        {
            "label": "no class" if size == 0 else f"{size} class{'' if size == 1 else 'es'}",
            "n": integer(count),
            "share": percent(count / total),
            "bar": f"{100 * count / total:.1f}",
        }
        for size, count in enumerate(found["sizes"])
        if count
    ]


def _widths(facts: Mapping[str, Any]) -> Any:
    found = facts["promise"]
    if found is None or found["widths"] is None or len(found["widths"]["counts"]) < 2:
        return None
    return histogram_plot(
        found["widths"], "Width of the interval", "widths", "Widths of the test rows' intervals"
    )


def _rows(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "row": integer(row["row"]),
            "why": _WHY[row["why"]],
            "truth": value_text(row["truth"]),
            "said": value_text(row["said"]),
            "sure": None if row["probability"] is None else percent(row["probability"], 0),
        }
        for row in facts["rows"]
    ]
