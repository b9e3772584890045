"""Values, labels and the uncertainty of a model, within the sentences of explanations."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from arboleda._numbers import integer, number_format, percent, plain
from arboleda.reports.wording import format_count, join_names, quote_name

__all__ = [
    "describe_confidence",
    "describe_model_uncertainty",
    "describe_remark",
    "describe_row_uncertainty",
    "format_columns",
    "format_output",
    "format_value",
    "get_mean_label",
    "get_output_label",
    "is_certain",
    "make_contribution_formatter",
    "write_calibration_caution",
]

_REMARKS = {
    "missing": "missing, which is rare",
    "below_all": "lower than in every training row",
    "above_all": "higher than in every training row",
    "low": "among the lowest",
    "high": "among the highest",
    "unseen": "in no training row",
    "rare": "rare",
}


def format_value(value: str | float | None) -> str:
    """Format a value of the table; numbers with few digits."""
    if value is None:
        return "missing"
    return value if isinstance(value, str) else plain(value)


def format_output(facts: Mapping[str, Any], value: float) -> str:
    """Format an output of the model: a probability as a percentage, a quantity as a number."""
    return percent(value, 0) if facts["study"]["labels"] else plain(value)


def describe_confidence(probability: float) -> str:
    """Describe a probability in words.

    Examples
    --------
    >>> describe_confidence(0.97), describe_confidence(0.55)
    ('is almost certain', 'is undecided')
    """
    steps = ((0.95, "is almost certain"), (0.8, "is fairly certain"), (0.6, "is uncertain"))
    return next((words for least, words in steps if probability >= least), "is undecided")


def is_certain(column: Mapping[str, Any]) -> bool:
    """Return whether the importance of a column is over two standard errors above zero."""
    error = column["standard_error"]
    return error is not None and bool(column["value"] > 2 * error)


def describe_remark(remark: str | None) -> str:
    """Describe what is unusual about a value; empty if nothing is."""
    return "" if remark is None else _REMARKS[remark]


def get_output_label(facts: Mapping[str, Any]) -> str:
    """Return the name of the output for one row: a probability, an indicator or a quantity."""
    if not facts["study"]["labels"]:
        return "Prediction"
    return "Probability" if facts["model"]["probabilities"] else "Predicted or not"


def get_mean_label(facts: Mapping[str, Any]) -> str:
    """Return the name of the mean output over several rows."""
    if facts["study"]["labels"] and not facts["model"]["probabilities"]:
        return "Share of predictions"
    return f"Mean {get_output_label(facts).lower()}"


def make_contribution_formatter(values: Sequence[float], unit: str) -> Callable[[float], str]:
    """Make the format of contributions in a unit, with signs and equal decimals.

    Parameters
    ----------
    values : sequence of float
        The contributions.
    unit : {"probability", "log_odds", "score", "value"}

    Examples
    --------
    >>> make_contribution_formatter([0.214, -0.05], "probability")(0.214)
    '+21.4 points'
    >>> make_contribution_formatter([0.7], "log_odds")(0.693147)
    'odds × 2.00'
    """
    if unit == "probability":
        return lambda value: f"{_format_signed(f'{100 * value:.1f}')} points"
    if unit == "log_odds":
        return lambda value: f"odds × {_format_factor(value)}"
    write = number_format([max(map(abs, values), default=0.0)], bounded=False)
    return lambda value: _format_signed(write(value))


def _format_signed(text: str) -> str:
    if float(text.replace(",", "").replace("\N{MINUS SIGN}", "-")) == 0:
        return text.lstrip("-\N{MINUS SIGN}")
    text = text.replace("-", "\N{MINUS SIGN}")
    return text if text.startswith("\N{MINUS SIGN}") else f"+{text}"


def _format_factor(value: float) -> str:
    factor = math.exp(min(value, 700.0))
    return f"{factor:.2f}" if 0.005 <= factor < 999 else plain(factor, 3)


def format_columns(columns: Sequence[Mapping[str, Any]], most: int = 3) -> str:
    """Join columns with their values, for use within a sentence."""
    texts = [f"{quote_name(c['name'])} ({format_value(c['value'])})" for c in columns[:most]]
    return join_names(texts, most)


def write_calibration_caution(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a caution if the probabilities are off by more than chance explains."""
    result = facts["model"]["calibration"]
    if result is not None and result["error"] > result["largest_by_chance"]:
        yield (
            f"The model's probabilities are off by {percent(result['error'])} on average over the "
            "test rows, more than chance explains: treat them as approximate."
        )


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
