"""The page of a model: summary, drivers, surrogate tree, uncertainty and cautions."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, number_format, percent, plain
from arboleda.reports.explanation.cards import make_effects_view
from arboleda.reports.explanation.wording import (
    describe_model_uncertainty,
    format_value,
    is_certain,
    write_calibration_caution,
)
from arboleda.reports.figures.curve_plots import draw_histogram_plot, draw_reliability_plot
from arboleda.reports.figures.explanation_plots import draw_swarm_plot
from arboleda.reports.rendering import KeyFigure, Summary
from arboleda.reports.study.quality import get_reliability_axes
from arboleda.reports.tree_drawing import draw_tree
from arboleda.reports.wording import (
    format_count,
    get_metric,
    join_names,
    lower_label,
    quote_name,
    spell_count,
)

__all__ = ["make_model_summary", "make_model_view"]

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


_LOOSE = 0.8  # fidelity below which a surrogate does not represent the model


def make_model_summary(facts: Mapping[str, Any]) -> Summary:
    """Write the sentences, key figures and cautions of a model."""
    return Summary([*_write_sentences(facts)], [*_make_figures(facts)], [*_write_cautions(facts)])


def _format_score(facts: Mapping[str, Any], value: float | None) -> str:
    return number_format([value], get_metric(facts["study"]["metric"]).bounded)(value)


def _make_figures(facts: Mapping[str, Any]) -> Iterator[KeyFigure]:
    model, label = facts["model"], facts["study"]["metric_label"]
    interval, note = model["interval"], ""
    if interval["low"] is not None and interval["high"] is not None:
        level = percent(interval["level"], 0)
        low, high = (_format_score(facts, interval[end]) for end in ("low", "high"))
        note = f"{level} interval {low} to {high}"
    if model["baseline"] is not None:
        detail = _format_score(facts, model["baseline"]["test"])
        yield KeyFigure("Without any column", detail, "baseline, test rows")
    yield KeyFigure(f"{label}, test rows", _format_score(facts, model["test"]), note)
    result, coverage = facts["surrogate"], facts["promise"]
    if result is not None:
        value = max(0.0, result["fidelity"])
        detail = f"of its predictions with {integer(result['n_leaves'])} leaves"
        yield KeyFigure("As one tree", percent(value, 0), detail)
    if coverage is not None and coverage["sizes"] is not None:
        one = coverage["sizes"][1] / coverage["n_rows"]
        level = percent(coverage["level"], 0)
        yield KeyFigure(
            "One class in the set", percent(one, 0), f"of the test rows, at {level} coverage"
        )
    elif coverage is not None:
        level = percent(coverage["level"], 0)
        yield KeyFigure(f"{level} interval", plain(coverage["mean_width"], 3), "mean width")


def _write_sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    study, model = facts["study"], facts["model"]
    how = (
        f", the best of {spell_count(model['n_models'])} models,"
        if model["rank"] == 1 and model["n_models"] > 1
        else ""
    )
    yield (
        f"{model['name']}{how} predicts {quote_name(study['target'])} from "
        f"{format_count(len(facts['names']), 'column')}."
    )
    yield from _describe_drivers(facts)
    yield from _describe_surrogate(facts)


def _describe_drivers(facts: Mapping[str, Any]) -> Iterator[str]:
    result = facts["importance"]
    if result is None:
        return
    certain = [c for c in result["columns"] if is_certain(c)]
    leading = [quote_name(c["name"]) for c in certain or result["columns"] if c["value"] > 0][:3]
    if not leading:
        yield "No single column matters: shuffling any of them does not lower its score."
        return
    yield f"It relies most on {join_names(leading)}."
    idle = len(result["columns"]) - len(certain)
    if not certain:
        yield "With so few test rows, the ranking of the columns may be due to chance."
    elif idle and len(certain) > 3:
        verb = "does" if idle == 1 else "do"
        yield (
            f"{spell_count(len(certain)).capitalize()} columns matter by more than chance, "
            f"{spell_count(idle)} {verb} not."
        )


def _describe_surrogate(facts: Mapping[str, Any]) -> Iterator[str]:
    result = facts["surrogate"]
    if result is None or result["fidelity"] < _LOOSE:
        return
    share = percent(result["fidelity"], 0)
    if facts["study"]["labels"]:
        yield (
            f"A tree of {integer(result['n_leaves'])} leaves, drawn below, agrees with it on "
            f"{share} of the test rows."
        )
    else:
        yield (
            f"A tree of {integer(result['n_leaves'])} leaves, drawn below, explains {share} of the "
            "variance of its predictions."
        )


def _write_cautions(facts: Mapping[str, Any]) -> Iterator[str]:
    yield from write_calibration_caution(facts)
    yield from _describe_correlated(facts)
    result = facts["beyond"]
    if result["n_rows"]:
        yield (
            f"{format_count(result['n_rows'], 'test row')} of {integer(result['n_test'])} "
            f"{'has' if result['n_rows'] == 1 else 'have'} a value outside the range of the "
            f"training rows, most often in {quote_name(result['column'])}: "
            f"{_describe_extrapolation(facts)}"
        )
    result = facts["surrogate"]
    if result is not None and result["fidelity"] < _LOOSE:
        yield (
            "The drawn tree approximates the model only roughly: it is the best tree of its size, "
            "not a representation of the model."
        )


def _describe_correlated(facts: Mapping[str, Any]) -> Iterator[str]:
    pairs = facts["correlated"]
    if pairs:
        detail = [" with ".join(map(quote_name, pair["columns"])) for pair in pairs]
        least = plain(min(abs(pair["correlation"]) for pair in pairs), 2)
        yield (
            f"Strongly correlated columns (rank correlation of at least {least}) share their "
            f"importance, so each looks less important than both together: "
            f"{join_names(detail)}."
        )


def _describe_extrapolation(facts: Mapping[str, Any]) -> str:
    if facts["model"]["by_trees"]:
        return "there it predicts as at the edge of the training range."
    return "its predictions there are extrapolations."
