"""Counts, lists and names within sentences, and the names of metrics."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arboleda._locale import localize_number
from arboleda._utils.numbers import integer
from arboleda.reports.metric_names import METRIC_NAMES, PARAMETER_LABELS, split_metric_key
from arboleda.reports.translation import gettext as _
from arboleda.reports.translation import pgettext

__all__ = [
    "Metric",
    "choose_leaderboard_metrics",
    "get_metric",
    "join_names",
    "lower_label",
    "quote_name",
    "spell_count",
]

# Proper names keep their capital within a sentence.
_PEOPLE = ("Matthews", "Brier", "Cohen's", "Poisson")
_SOUNDS_LIKE_Y = re.compile(r"h?i(?![aeo])", re.IGNORECASE)


def spell_count(number: int) -> str:
    """Spell out a small count."""
    words = _("no one two three four five six seven eight nine ten eleven twelve").split()
    return words[number] if number < len(words) else integer(number)


def quote_name(name: str) -> str:
    """Quote a name as the language does."""
    return _("“{name}”", name=name)


def join_names(names: Sequence[str], most: int = 4) -> str:
    """Join names with commas and "and"; beyond a few, the rest is counted."""
    if len(names) > most:
        rest = spell_count(len(names) - most + 1)
        return _("{names} and {count} more", names=", ".join(names[: most - 1]), count=rest)
    if len(names) < 2:
        return "".join(names)
    values = {"names": ", ".join(names[:-1]), "last": names[-1]}
    if _SOUNDS_LIKE_Y.match(names[-1]):
        return pgettext("before the sound i", "{names} and {last}", **values)
    return pgettext("list", "{names} and {last}", **values)


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


_FIRST = (
    "accuracy balanced_accuracy f1_macro mcc roc_auc log_loss rmse mae r2 mape nmse "  # noqa: SIM905
    "integrated_brier concordance dynamic_auc ndcg:10 ndcg:1 ndcg:3 ndcg:5 map mrr".split()
)


def get_metric(key: str) -> Metric:
    """Look up a metric; an unknown metric is named by its key.

    Examples
    --------
    >>> get_metric("r2").label, get_metric("top_k:3").label, get_metric("shop:net_profit").label
    ('R²', 'Top-3 accuracy', 'net profit')
    """
    name, parameter = split_metric_key(key)
    known = METRIC_NAMES.get(name)
    if known is None:
        return Metric(key.rpartition(":")[2].replace("_", " "), "", True, False)
    label = _(known.label)
    if parameter is not None:
        label = _(PARAMETER_LABELS[name], value=localize_number(f"{parameter:g}"))
    return Metric(label, _(known.meaning), known.greater_is_better, not known.has_unit)


def choose_leaderboard_metrics(present: Iterable[str], main: str, most: int = 6) -> list[str]:
    """Choose the metrics of the leaderboard: the main metric, then the usual ones.

    Examples
    --------
    >>> choose_leaderboard_metrics(["brier", "accuracy", "mcc", "log_loss"], main="log_loss")
    ['log_loss', 'accuracy', 'mcc']
    """
    result = set(present)
    return [key for key in dict.fromkeys([main, *_FIRST]) if key in result][:most]
