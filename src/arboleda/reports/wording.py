"""Counts, lists and names within sentences, and the names of metrics."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arboleda._utils.numbers import integer
from arboleda.reports.translation import N_, pgettext
from arboleda.reports.translation import gettext as _

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
_PEOPLE = ("Matthews", "Brier", "Cohen")
_SOUNDS_LIKE_Y = re.compile(r"h?i(?![aeo])", re.IGNORECASE)

# Label and meaning of each metric.
_METRICS = {
    "accuracy": (N_("Accuracy"), N_("Share of correctly predicted rows.")),
    "error": (N_("Error"), N_("Share of incorrectly predicted rows.")),
    "balanced_accuracy": (
        N_("Balanced accuracy"),
        N_("Mean of the recalls of all classes; rare and common classes have equal weight."),
    ),
    "precision": (N_("Precision"), N_("Share of the rows predicted as a class that belong to it.")),
    "recall": (N_("Recall"), N_("Share of the rows of a class that are predicted as it.")),
    "specificity": (
        N_("Specificity"),
        N_("Share of the rows of other classes that are not predicted as the class."),
    ),
    "f1": (N_("F1"), N_("Harmonic mean of precision and recall.")),
    "precision_macro": (
        N_("Precision (macro)"),
        N_("Unweighted mean of the precision of all classes."),
    ),
    "recall_macro": (N_("Recall (macro)"), N_("Unweighted mean of the recall of all classes.")),
    "specificity_macro": (
        N_("Specificity (macro)"),
        N_("Unweighted mean of the specificity of all classes."),
    ),
    "f1_macro": (N_("Macro F1"), N_("Unweighted mean of the F1 of all classes.")),
    "f1_weighted": (
        N_("Weighted F1"),
        N_("Mean of the F1 of all classes, weighted by their numbers of rows."),
    ),
    "mcc": (
        N_("MCC"),
        N_("Matthews correlation between true and predicted classes: 1 is perfect, 0 is chance."),
    ),
    "roc_auc": (
        N_("ROC AUC"),
        N_(
            "Probability that a row of a class has a higher score for it than a row of "
            "another class (averaged over the classes if there are more than two)."
        ),
    ),
    "average_precision": (
        N_("Average precision"),
        N_("Area under the precision-recall curve, as a step function."),
    ),
    "log_loss": (
        N_("Log-loss"),
        N_(
            "Mean negative logarithm of the probability of the true class; confident "
            "errors cost most."
        ),
    ),
    "cost": (
        N_("Mean cost"),
        N_(
            "Mean cost per row according to the cost matrix, predicting the class of "
            "least expected cost."
        ),
    ),
    "brier": (
        N_("Brier score"),
        N_("Mean squared difference between predicted probabilities and outcomes."),
    ),
    "ece": (
        N_("ECE"),
        N_("Expected calibration error: mean gap between predicted and observed frequencies."),
    ),
    "rmse": (N_("RMSE"), N_("Square root of the mean squared error, in the unit of the target.")),
    "mae": (N_("MAE"), N_("Mean absolute error, in the unit of the target.")),
    "r2": (
        N_("R²"),
        N_(
            "Share of the variance of the target that is explained; 0 corresponds to "
            "predicting the mean."
        ),
    ),
    "mse": (N_("MSE"), N_("Mean squared error, in the squared unit of the target.")),
    "nmse": (N_("NMSE"), N_("Mean squared error divided by the variance of the target.")),
    "mape": (N_("MAPE"), N_("Mean absolute error relative to the true value.")),
}


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
    label, meaning = _METRICS[key]
    return Metric(
        _(label),
        _(meaning),
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
