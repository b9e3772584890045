"""Counts, lists and names within sentences, and the names of metrics."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arboleda._numbers import integer
from arboleda.reports.translation import text

__all__ = [
    "Metric",
    "choose_leaderboard_metrics",
    "format_count",
    "get_metric",
    "join_names",
    "lower_label",
    "quote_name",
    "spell_count",
]

# Proper names keep their capital within a sentence.
_PEOPLE = ("Matthews", "Brier", "Cohen")
_SOUNDS_LIKE_Y = re.compile(r"h?i(?![aeo])", re.IGNORECASE)


def spell_count(number: int) -> str:
    """Spell out a small count."""
    words = text("list.counts").split()
    return words[number] if number < len(words) else integer(number)


def format_count(number: int, noun: str) -> str:
    """Format a count with a noun whose plural ends in s.

    Examples
    --------
    >>> format_count(1, "column"), format_count(1200, "column")
    ('1 column', '1,200 columns')
    """
    return f"{integer(number)} {noun}{'' if number == 1 else 's'}"


def quote_name(name: str) -> str:
    """Quote a name as the language does."""
    return text("list.quoted", name=name)


def join_names(names: Sequence[str], most: int = 4) -> str:
    """Join names with commas and "and"; beyond a few, the rest is counted."""
    if len(names) > most:
        rest = spell_count(len(names) - most + 1)
        return text("list.more", names=", ".join(names[: most - 1]), count=rest)
    if len(names) < 2:
        return "".join(names)
    key = "list.and_i" if _SOUNDS_LIKE_Y.match(names[-1]) else "list.and"
    return text(key, names=", ".join(names[:-1]), last=names[-1])


def lower_label(label: str) -> str:
    """Lower the first letter of a label, except of abbreviations and proper names.

    Examples
    --------
    >>> [lower_label(label) for label in ("Balanced accuracy", "ROC AUC", "Matthews correlation")]
    ['balanced accuracy', 'ROC AUC', 'Matthews correlation']
    """
    first = label.split(" ", maxsplit=1)[0]
    if not first[1:].replace("-", "").islower() or first in _PEOPLE:
        return label
    return label[0].lower() + label[1:]


class Metric(NamedTuple):
    """Name and meaning of a metric; ``bounded`` metrics are of the order of one."""

    label: str
    meaning: str
    greater_is_better: bool
    bounded: bool = True


_GREATER_IS_BETTER = frozenset(
    {"accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1", "mcc", "r2"}
    | {f"{name}_macro" for name in ("precision", "recall", "specificity", "f1")}
    | {"f1_weighted", "roc_auc", "average_precision"}
)
_SMALLER_IS_BETTER = frozenset(
    {"cost", "error", "log_loss", "brier", "ece", "rmse", "mae", "mse", "nmse", "mape"}
)
_UNBOUNDED = frozenset({"cost", "rmse", "mae", "mse"})

_FIRST = (
    "accuracy balanced_accuracy f1_macro mcc roc_auc log_loss rmse mae r2 mape nmse".split()  # noqa: SIM905
)


def get_metric(key: str) -> Metric:
    """Look up a metric; an unknown metric is named by its key.

    Examples
    --------
    >>> get_metric("r2").label, get_metric("my_score").label
    ('R²', 'my score')
    """
    if key not in _GREATER_IS_BETTER | _SMALLER_IS_BETTER:
        return Metric(key.replace("_", " "), "", True, False)
    return Metric(
        text(f"metric.{key}.label"),
        text(f"metric.{key}.meaning"),
        key in _GREATER_IS_BETTER,
        key not in _UNBOUNDED,
    )


def choose_leaderboard_metrics(present: Iterable[str], main: str, most: int = 6) -> list[str]:
    """Choose the metrics of the leaderboard: the main metric, then the usual ones.

    Examples
    --------
    >>> choose_leaderboard_metrics(["brier", "accuracy", "mcc", "log_loss"], main="log_loss")
    ['log_loss', 'accuracy', 'mcc']
    """
    result = set(present)
    return [key for key in dict.fromkeys([main, *_FIRST]) if key in result][:most]
