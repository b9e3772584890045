"""Names, directions and one-sentence definitions of the metrics."""

from collections.abc import Iterable
from typing import NamedTuple

from arboleda.report._texts import text

__all__ = ["Metric", "choose_leaderboard_metrics", "get_metric"]


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
