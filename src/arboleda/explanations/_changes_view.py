"""Cards of predictions with one column changed: a curve or bars, and a sentence."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import percent
from arboleda.explanations._figures import draw_curve_along
from arboleda.explanations._words import format_output, format_value, get_output_label
from arboleda.report._words import quote_name

__all__ = ["describe_changes_axis", "make_changes_view"]


def describe_changes_axis(facts: Mapping[str, Any]) -> str:
    """Return the caption with the class of the curves; empty for a quantity."""
    output = next((change["output"] for change in facts["changes"]), None)
    return "" if output is None else f"{get_output_label(facts)} of {quote_name(output)}."


def make_changes_view(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Collect a card for each changed column."""
    return [_make_card(facts, change, index) for index, change in enumerate(facts["changes"])]


def _make_card(facts: Mapping[str, Any], change: Mapping[str, Any], index: int) -> dict[str, Any]:
    numbers = change["shares"] is None
    return {
        "name": change["name"],
        "sentence": _write_sentence(facts, change),
        "figure": _draw_curve(facts, change, index) if numbers else None,
        "rows": [] if numbers else _make_bars(facts, change),
    }


def _write_sentence(facts: Mapping[str, Any], change: Mapping[str, Any]) -> str:
    name, outputs = quote_name(change["name"]), change["outputs"]
    texts = [format_value(value) for value in change["values"]]
    own, turn = texts[change["own"]], change["turn"]
    if turn is not None:
        prediction = quote_name(str(change["answers"][turn]))
        return (
            f"If {name} were {texts[turn]} instead of {own}, the model would predict {prediction}."
        )
    low, high = min(outputs), max(outputs)
    if format_output(facts, low) == format_output(facts, high):
        return f"The prediction hardly depends on {name}."
    at_low, at_high = texts[outputs.index(low)], texts[outputs.index(high)]
    range_text = (
        f"from {format_output(facts, low)} (at {at_low}) to {format_output(facts, high)} "
        f"(at {at_high})"
    )
    if not facts["model"]["probabilities"]:
        return f"Over the values of {name}, the prediction ranges {range_text}."
    return (
        f"No value of {name} changes the predicted class; the probability of "
        f"{quote_name(change['output'])} ranges {range_text}."
    )


def _draw_curve(facts: Mapping[str, Any], change: Mapping[str, Any], index: int) -> Any:
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
        title=f"Prediction along {change['name']}",
        own=known.index(change["own"]) if change["own"] in known else None,
    )


def _make_bars(facts: Mapping[str, Any], change: Mapping[str, Any]) -> list[dict[str, Any]]:
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
