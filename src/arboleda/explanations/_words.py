"""How pages of explanations put numbers into words."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from arboleda._numbers import number_format, percent, plain
from arboleda.report._words import listed, quoted

__all__ = [
    "calibration_caution",
    "how_sure",
    "is_certain",
    "mean_of",
    "named",
    "output_text",
    "push_writer",
    "said_of",
    "unusual_words",
    "value_text",
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


def value_text(value: str | float | None) -> str:
    """Write a value of the table; numbers with few digits."""
    if value is None:
        return "missing"
    return value if isinstance(value, str) else plain(value)


def output_text(facts: Mapping[str, Any], value: float) -> str:
    """Write what the model says: a probability as per cent, a quantity as a number."""
    return percent(value, 0) if facts["study"]["labels"] else plain(value)


def how_sure(probability: float) -> str:
    """Say a probability as a person would.

    Examples
    --------
    >>> how_sure(0.97), how_sure(0.55)
    ('is almost sure', 'is undecided')
    """
    steps = ((0.95, "is almost sure"), (0.8, "is fairly sure"), (0.6, "leans to it"))
    return next((words for least, words in steps if probability >= least), "is undecided")


def is_certain(column: Mapping[str, Any]) -> bool:
    """Whether a column's importance is more than two standard errors above zero."""
    error = column["standard_error"]
    return error is not None and bool(column["value"] > 2 * error)


def unusual_words(remark: str | None) -> str:
    """Say what is unusual about a value; nothing if it is not."""
    return "" if remark is None else _REMARKS[remark]


def said_of(facts: Mapping[str, Any]) -> str:
    """What is told of one row: a probability, whether a class is named, or a quantity."""
    if not facts["study"]["labels"]:
        return "Prediction"
    return "Probability" if facts["model"]["probabilities"] else "Named or not"


def mean_of(facts: Mapping[str, Any]) -> str:
    """What is told of many rows: the mean of that."""
    if facts["study"]["labels"] and not facts["model"]["probabilities"]:
        return "Share of answers"
    return f"Mean {said_of(facts).lower()}"


def push_writer(values: Sequence[float], unit: str) -> Callable[[float], str]:
    """Make the writer of pushes of a unit, all with the same decimals and with their signs.

    Parameters
    ----------
    values : sequence of float
        The pushes.
    unit : {"probability", "log_odds", "score", "value"}

    Examples
    --------
    >>> push_writer([0.214, -0.05], "probability")(0.214)
    '+21.4 points'
    >>> push_writer([0.7], "log_odds")(0.693147)
    'odds × 2.00'
    """
    if unit == "probability":
        return lambda value: f"{_signed(f'{100 * value:.1f}')} points"
    if unit == "log_odds":
        return lambda value: f"odds × {_factor(value)}"
    write = number_format([max(map(abs, values), default=0.0)], bounded=False)
    return lambda value: _signed(write(value))


def _signed(text: str) -> str:
    if float(text.replace(",", "").replace("\N{MINUS SIGN}", "-")) == 0:
        return text.lstrip("-\N{MINUS SIGN}")
    text = text.replace("-", "\N{MINUS SIGN}")
    return text if text.startswith("\N{MINUS SIGN}") else f"+{text}"


def _factor(value: float) -> str:
    factor = math.exp(min(value, 700.0))
    return f"{factor:.2f}" if 0.005 <= factor < 999 else plain(factor, 3)


def named(columns: Sequence[Mapping[str, Any]], most: int = 3) -> str:
    """List columns with their values, as a sentence does."""
    told = [f"{quoted(c['name'])} ({value_text(c['value'])})" for c in columns[:most]]
    return listed(told, most)


def calibration_caution(facts: Mapping[str, Any]) -> Iterator[str]:
    """Warn where the model's probabilities are off by more than chance explains."""
    found = facts["model"]["calibration"]
    if found is not None and found["error"] > found["largest_by_chance"]:
        yield (
            f"The model's probabilities are off by {percent(found['error'])} on average over the "
            "test rows, more than chance explains: read them as a rough scale."
        )
