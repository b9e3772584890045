"""What the model would say if a column were different: a curve or bars, and a sentence each."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import percent
from arboleda.explanations._figures import curve_along
from arboleda.explanations._words import output_text, said_of, value_text
from arboleda.report._words import quoted

__all__ = ["changes_axis", "changes_view"]


def changes_axis(facts: Mapping[str, Any]) -> str:
    """Say of which class the curves tell; nothing where a quantity is predicted."""
    output = next((change["output"] for change in facts["changes"]), None)
    return "" if output is None else f"{said_of(facts)}: of {quoted(output)}."


def changes_view(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Collect a card for each of the columns that were changed."""
    return [_card(facts, change, index) for index, change in enumerate(facts["changes"])]


def _card(facts: Mapping[str, Any], change: Mapping[str, Any], index: int) -> dict[str, Any]:
    numbers = change["shares"] is None
    return {
        "name": change["name"],
        "sentence": _sentence(facts, change),
        "figure": _curve(facts, change, index) if numbers else None,
        "rows": [] if numbers else _bars(facts, change),
    }


def _sentence(facts: Mapping[str, Any], change: Mapping[str, Any]) -> str:
    name, outputs = quoted(change["name"]), change["outputs"]
    texts = [value_text(value) for value in change["values"]]
    own, turn = texts[change["own"]], change["turn"]
    if turn is not None:
        answer = quoted(str(change["answers"][turn]))
        return f"Were {name} {texts[turn]} instead of {own}, the model would say {answer}."
    low, high = min(outputs), max(outputs)
    if output_text(facts, low) == output_text(facts, high):
        return f"Whatever {name} were, the model would say about the same."
    at_low, at_high = texts[outputs.index(low)], texts[outputs.index(high)]
    told = (
        f"from {output_text(facts, low)} (at {at_low}) to {output_text(facts, high)} (at {at_high})"
    )
    if not facts["model"]["probabilities"]:
        return f"Over the values of {name} the prediction goes {told}."
    return (
        f"No value of {name} changes the answer; the probability of {quoted(change['output'])} "
        f"goes {told}."
    )


def _curve(facts: Mapping[str, Any], change: Mapping[str, Any], index: int) -> Any:
    # A missing value has no place on the axis; the sentence tells of it.
    known = [i for i, value in enumerate(change["values"]) if value is not None]
    if len(known) < 2:
        return None
    return curve_along(
        [change["values"][i] for i in known],
        [([change["outputs"][i] for i in known], -1)],
        change["histogram"],
        (change["name"], said_of(facts)),
        share=facts["study"]["labels"] is not None,
        name=f"change{index}",
        title=f"What the model says along {change['name']}",
        own=known.index(change["own"]) if change["own"] in known else None,
    )


def _bars(facts: Mapping[str, Any], change: Mapping[str, Any]) -> list[dict[str, Any]]:
    outputs = change["outputs"]
    classes = facts["study"]["labels"] is not None
    low, high = (0.0, 1.0) if classes else (min(outputs), max(outputs))
    span = high / 2 - low / 2 or 1.0
    return [
        {
            "label": value_text(value),
            "missing": value is None,
            "own": i == change["own"],
            "at": f"{100 * (said / 2 - low / 2) / span:.1f}",
            "text": output_text(facts, said),
            "share": percent(share, 0),
        }
        for i, (value, said, share) in enumerate(
            zip(change["values"], outputs, change["shares"], strict=True)
        )
    ]
