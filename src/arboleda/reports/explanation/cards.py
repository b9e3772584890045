"""Contributions, changes and effects of columns, as rows with bars and cards with curves."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._utils.numbers import integer, percent
from arboleda.reports.explanation.wording import (
    format_output,
    format_usual,
    format_value,
    get_mean_label,
    get_output_label,
    make_contribution_formatter,
)
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.explanation_plots import draw_curve_along
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import quote_name

__all__ = [
    "describe_changes_axis",
    "make_changes_view",
    "make_contributions_view",
    "make_effects_view",
]

_MOST_CONTRIBUTIONS = 12


def make_contributions_view(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Collect the section on contributions; None if there are none."""
    result = facts["contributions"]
    if result is None:
        return None
    contributions = [column["contribution"] for column in result["columns"]]
    write = make_contribution_formatter(contributions, result["unit"])
    longest = max(map(abs, contributions), default=0.0) or 1.0
    usual = {column["name"]: column for column in facts["values"]}
    rest = result["columns"][_MOST_CONTRIBUTIONS:]
    rows = [
        _make_row(column, usual, write, longest)
        for column in result["columns"][:_MOST_CONTRIBUTIONS]
    ]
    return {
        "output": result["output"],
        "lead": _write_lead(facts, result),
        "rows": rows,
        "rest": None
        if not rest
        else {
            "n": integer(len(rest)),
            "contribution": write(sum(column["contribution"] for column in rest)),
            **_make_bar(sum(column["contribution"] for column in rest), longest),
        },
        "how": _describe_contributions_method(result),
    }


def _make_row(
    column: Mapping[str, Any], usual: Mapping[str, Any], write: Any, longest: float
) -> dict[str, Any]:
    return {
        "name": column["name"],
        "value": format_value(column["value"]),
        "condition": column["condition"] and translate(column["condition"]),
        "usual": format_usual(usual[column["name"]]),
        "contribution": write(column["contribution"]),
        **_make_bar(column["contribution"], longest),
    }


def _make_bar(contribution: float, longest: float) -> dict[str, str]:
    # Each direction takes half of the cell.
    return {
        "side": "for" if contribution >= 0 else "against",
        "width": f"{min(50.0, 50 * abs(contribution) / longest):.1f}",
    }


def _write_lead(facts: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    towards = _("a higher value") if result["output"] is None else quote_name(result["output"])
    if result["method"] == "lime":
        if result["output"] is None:
            return _("Around this row, each condition raises or lowers the prediction.")
        return _(
            "Around this row, each condition makes {towards} more or less likely.", towards=towards
        )
    if result["unit"] == "log_odds":
        return _(
            "Each column multiplies the odds of {towards}; a factor above 1 raises them, "
            "a factor below 1 lowers them.",
            towards=towards,
        )
    if result["unit"] == "score":
        return _(
            "Each column adds to or subtracts from the score of {towards}; the class with "
            "the highest score is predicted.",
            towards=towards,
        )
    base, total = (format_output(facts, result[key]) for key in ("base", "total"))
    start = _("the mean") if result["output"] is None else _("its share of the rows")
    what = "" if result["output"] is None else _(" for {towards}", towards=towards)
    return _(
        "Without information about the row, the prediction is {base}{what}, {start}. The "
        "columns move it to {total}: each adds or subtracts its contribution.",
        base=base,
        what=what,
        start=start,
        total=total,
    )


def _describe_contributions_method(result: Mapping[str, Any]) -> str:
    if result["method"] == "shap":
        return _(
            "Exact Shapley values of the model's trees (TreeSHAP, Lundberg et al. 2020): "
            "the contributions add up to the prediction. They describe the model, not "
            "causes in the real world."
        )
    text = _(
        "LIME (Ribeiro, Singh and Guestrin 2016): a simple model of the prediction around "
        "the row, fitted to {n_samples} rows like it",
        n_samples=integer(result["n_samples"]),
    )
    text += _(
        "; it explains {fidelity} of the variance",
        fidelity=percent(max(0.0, result["fidelity"]), 0),
    )
    if result["stability"] is not None:
        overlap = percent(result["stability"], 0)
        text += _(
            "; repeated samples select the same columns with an overlap of {overlap}",
            overlap=overlap,
        )
    return text + ". " + _("It describes the model, not causes in the real world.")


def describe_changes_axis(facts: Mapping[str, Any]) -> str:
    """Return the caption with the class of the curves; empty for a quantity."""
    output = next((change["output"] for change in facts["changes"]), None)
    return (
        ""
        if output is None
        else _("{what} of {output}.", what=get_output_label(facts), output=quote_name(output))
    )


def make_changes_view(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Collect a card for each changed column."""
    return [
        _make_change_card(facts, change, index) for index, change in enumerate(facts["changes"])
    ]


def _make_change_card(
    facts: Mapping[str, Any], change: Mapping[str, Any], index: int
) -> dict[str, Any]:
    numbers = change["shares"] is None
    return {
        "name": change["name"],
        "sentence": _write_change_sentence(facts, change),
        "figure": _draw_change_curve(facts, change, index) if numbers else None,
        "rows": [] if numbers else _make_change_bars(facts, change),
    }


def _write_change_sentence(facts: Mapping[str, Any], change: Mapping[str, Any]) -> str:
    name, outputs = quote_name(change["name"]), change["outputs"]
    texts = [format_value(value) for value in change["values"]]
    own, turn = texts[change["own"]], change["turn"]
    if turn is not None:
        prediction = quote_name(str(change["predictions"][turn]))
        return _(
            "If {name} were {value} instead of {own}, the model would predict {prediction}.",
            name=name,
            value=texts[turn],
            own=own,
            prediction=prediction,
        )
    low, high = min(outputs), max(outputs)
    if format_output(facts, low) == format_output(facts, high):
        return _("The prediction hardly depends on {name}.", name=name)
    at_low, at_high = texts[outputs.index(low)], texts[outputs.index(high)]
    range_text = _(
        "from {low} (at {at_low}) to {high} (at {at_high})",
        low=format_output(facts, low),
        at_low=at_low,
        high=format_output(facts, high),
        at_high=at_high,
    )
    if not facts["model"]["probabilities"]:
        return _(
            "Over the values of {name}, the prediction ranges {range_text}.",
            name=name,
            range_text=range_text,
        )
    return _(
        "No value of {name} changes the predicted class; the probability of {output} "
        "ranges {range_text}.",
        name=name,
        output=quote_name(change["output"]),
        range_text=range_text,
    )


def _draw_change_curve(facts: Mapping[str, Any], change: Mapping[str, Any], index: int) -> Any:
    # A missing value has no position on the axis; the sentence mentions it.
    known = [i for i, value in enumerate(change["values"]) if value is not None]
    if len(known) < 2:
        return None
    return draw_curve_along(
        [change["values"][i] for i in known],
        [([change["outputs"][i] for i in known], -1)],
        change["histogram"],
        (change["name"], get_output_label(facts)),
        share=facts["study"]["labels"] is not None,
        name=f"change{index}",
        title=_("Prediction along {name}", name=change["name"]),
        own=known.index(change["own"]) if change["own"] in known else None,
    )


def _make_change_bars(facts: Mapping[str, Any], change: Mapping[str, Any]) -> list[dict[str, Any]]:
    outputs = change["outputs"]
    classes = facts["study"]["labels"] is not None
    low, high = (0.0, 1.0) if classes else (min(outputs), max(outputs))
    span = high / 2 - low / 2 or 1.0
    return [
        {
            "label": format_value(value),
            "missing": value is None,
            "own": i == change["own"],
            "at": f"{100 * (output / 2 - low / 2) / span:.1f}",
            "text": format_output(facts, output),
            "share": percent(share, 0),
        }
        for i, (value, output, share) in enumerate(
            zip(change["values"], outputs, change["shares"], strict=True)
        )
    ]


_FLAT = 0.01  # of the range of all effects, below which a column is described as having no effect


def make_effects_view(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Collect a card for each column; None if there are none."""
    result = facts["effects"]
    if not result:
        return None
    widest = max(_compute_range(effect) for effect in result)
    return {
        "cards": [
            _make_effect_card(facts, effect, index, widest) for index, effect in enumerate(result)
        ],
        "several": any(len(effect["curves"]) > 1 for effect in result),
        "how": _describe_effects_method(result[0]),
    }


def _describe_effects_method(effect: Mapping[str, Any]) -> str:
    return _(
        "Mean prediction over {n_rows} training rows with the column set to each value in "
        "turn and all others unchanged (partial dependence, Friedman 2001).",
        n_rows=integer(effect["n_rows"]),
    )


def _compute_range(effect: Mapping[str, Any]) -> float:
    return float(max(max(curve["values"]) - min(curve["values"]) for curve in effect["curves"]))


def _make_effect_card(
    facts: Mapping[str, Any], effect: Mapping[str, Any], index: int, widest: float
) -> dict[str, Any]:
    numbers = effect["shares"] is None
    several = len(effect["curves"]) > 1
    return {
        "name": effect["name"],
        "sentence": "" if several else _write_effect_sentence(facts, effect, widest),
        "figure": _draw_effect_curve(facts, effect, index) if numbers else None,
        "legend": _make_legend(effect) if several and numbers else [],
        "rows": [] if numbers else _make_effect_bars(facts, effect),
        "heads": [curve["label"] for curve in effect["curves"]] if several else [],
        "axis": _make_axis(facts, effect),
    }


def _make_axis(facts: Mapping[str, Any], effect: Mapping[str, Any]) -> str:
    label = effect["curves"][0]["label"]
    what = get_mean_label(facts)
    if len(effect["curves"]) > 1:
        return _("{what} of each class", what=what)
    return _("{what} of {label}", what=what, label=quote_name(label)) if label else what


def _write_effect_sentence(
    facts: Mapping[str, Any], effect: Mapping[str, Any], widest: float
) -> str:
    values, texts = effect["curves"][0]["values"], [format_value(v) for v in effect["values"]]
    low, high = min(values), max(values)
    if high - low <= _FLAT * widest or format_output(facts, low) == format_output(facts, high):
        return _("On average, it has almost no effect on its own.")
    first, last = values[0], values[-1]
    end_texts = [format_output(facts, value) for value in (first, last)]
    if effect["kind"] == "numeric" and first in (low, high) and last in (low, high):
        ends = {"low": end_texts[0], "at": texts[0], "high": end_texts[1], "at_end": texts[-1]}
        if last > first:
            return _("It rises from {low} at {at} to {high} at {at_end}.", **ends)
        return _("It falls from {low} at {at} to {high} at {at_end}.", **ends)
    at_low, at_high = texts[values.index(low)], texts[values.index(high)]
    return _(
        "Lowest at {at_low} ({low}), highest at {at_high} ({high}).",
        at_low=at_low,
        low=format_output(facts, low),
        at_high=at_high,
        high=format_output(facts, high),
    )


def _draw_effect_curve(facts: Mapping[str, Any], effect: Mapping[str, Any], index: int) -> Any:
    several = len(effect["curves"]) > 1
    known = [i for i, value in enumerate(effect["values"]) if value is not None]
    return draw_curve_along(
        [effect["values"][i] for i in known],
        [
            ([curve["values"][i] for i in known], colour if several else -1)
            for colour, curve in enumerate(effect["curves"])
        ],
        effect["histogram"],
        (effect["name"], get_mean_label(facts)),
        share=facts["study"]["labels"] is not None,
        name=f"effect{index}",
        title=_("Mean prediction along {name}", name=effect["name"]),
    )


def _make_legend(effect: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(f"var(--c{i})", curve["label"]) for i, curve in enumerate(effect["curves"])]


def _make_effect_bars(facts: Mapping[str, Any], effect: Mapping[str, Any]) -> list[dict[str, Any]]:
    curves: Sequence[Mapping[str, Any]] = effect["curves"]
    low, high = (0.0, 1.0)
    if facts["study"]["labels"] is None:
        low, high = min(curves[0]["values"]), max(curves[0]["values"])
    span = high / 2 - low / 2 or 1.0
    return [
        {
            "label": format_value(value),
            "missing": value is None,
            "share": percent(share, 0),
            "at": f"{100 * (curves[0]['values'][i] / 2 - low / 2) / span:.1f}",
            "texts": [format_output(facts, curve["values"][i]) for curve in curves],
        }
        for i, (value, share) in enumerate(zip(effect["values"], effect["shares"], strict=True))
    ]
