"""The uncertainty of the model in sentences: for one row and over all test rows."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.explanations._words import format_value
from arboleda.report._words import format_count, join_names, quote_name

__all__ = ["describe_model_uncertainty", "describe_row_uncertainty"]


def describe_row_uncertainty(facts: Mapping[str, Any]) -> Iterator[str]:
    """Describe the prediction set or interval of a row and the accuracy on similar rows."""
    if facts["study"]["labels"] is not None and not facts["model"]["probabilities"]:
        yield "The model predicts classes without probabilities."
    yield from _describe_range(facts)
    yield from _describe_similar(facts)
    errors = facts["prediction"]["errors"]
    if errors is not None:
        yield (
            f"On {format_count(errors['n_rows'], 'test row')} the error was below "
            f"{plain(errors['median'])} for half of them and below {plain(errors['most'])} for "
            "nine in ten."
        )


def _describe_range(facts: Mapping[str, Any]) -> Iterator[str]:
    result = facts["range"]
    if result is None:
        return
    level = percent(result["level"], 0)
    basis = f"measured on {format_count(result['n_rows'], 'test row')} that the model has not seen"
    if result["interval"] is not None:
        low, high = map(plain, result["interval"])
        yield f"The true value is between {low} and {high} in {level} of such cases ({basis})."
        return
    names = [quote_name(label) for label in result["set"]]
    if not names:
        yield (
            f"No class is probable enough for the {level} set: the row is unlike the training rows "
            f"({basis})."
        )
    elif len(names) == 1:
        yield f"The {level} prediction set contains {names[0]} alone ({basis})."
    else:
        yield (
            f"The {level} prediction set contains {len(names)} classes: {join_names(names, 8)} "
            f"({basis})."
        )


def _describe_similar(facts: Mapping[str, Any]) -> Iterator[str]:
    result = facts["prediction"]["similar"]
    if result is None:
        return
    predicted = quote_name(format_value(facts["prediction"]["answer"]))
    confidence = ""
    if result["low"] is not None:
        low, high = percent(result["low"], 0), percent(result["high"], 0)
        at = f"at about {low}" if low == high else f"at {low} to {high}"
        confidence = f" with similar confidence ({at})"
    yield (
        f"Of the {integer(result['n_rows'])} test rows predicted as {predicted}{confidence}, "
        f"{integer(result['n_right'])} were of that class: "
        f"{percent(result['n_right'] / result['n_rows'], 0)}."
    )


def describe_model_uncertainty(facts: Mapping[str, Any]) -> Iterator[str]:
    """Describe the calibration of probabilities and the coverage of sets or intervals."""
    if facts["study"]["labels"] is not None:
        yield _describe_calibration(facts)
    result = facts["promise"]
    if result is None:
        return
    level, held = percent(result["level"], 0), percent(result["coverage"])
    rows = format_count(result["n_rows"], "test row")
    if result["sizes"] is not None:
        yield (
            f"Prediction sets with a nominal coverage of {level} contained the truth for {held} of "
            f"{rows}; {percent(result['sizes'][1] / result['n_rows'], 0)} of them contain a single "
            f"class; their mean size is {plain(result['mean_size'], 3)}."
        )
    else:
        yield (
            f"Intervals with a nominal coverage of {level} contained the truth for {held} of "
            f"{rows}. Their mean width is {plain(result['mean_width'])}; eight in ten targets lie "
            f"within {plain(result['target_width'])}."
        )


def _describe_calibration(facts: Mapping[str, Any]) -> str:
    result = facts["model"]["calibration"]
    if result is None:
        return "The model predicts classes without probabilities."
    gap, chance = percent(result["error"]), percent(result["largest_by_chance"])
    if result["error"] > result["largest_by_chance"]:
        return (
            f"Its probabilities are off by {gap} on average, more than chance explains ({chance}): "
            "treat them as approximate."
        )
    return (
        f"Its probabilities are well calibrated: on the test rows they are off by {gap} on "
        f"average, no more than chance explains ({chance})."
    )
