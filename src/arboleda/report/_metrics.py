"""What each metric is called, which way it points, and what it means in one sentence."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["Metric", "leaderboard_metrics", "metric"]


class Metric(NamedTuple):
    """Name and meaning of a metric; ``bounded`` ones are of the order of one."""

    label: str
    meaning: str
    greater_is_better: bool
    bounded: bool = True


_METRICS: Mapping[str, Metric] = {
    "accuracy": Metric("Accuracy", "Share of rows whose class is predicted rightly.", True),
    "error": Metric("Error", "Share of rows whose class is predicted wrongly.", False),
    "balanced_accuracy": Metric(
        "Balanced accuracy",
        "Mean of the recalls of all classes, so that a rare class counts as much as a common one.",
        True,
    ),
    "precision": Metric(
        "Precision", "Of the rows predicted as a class, the share that is of that class.", True
    ),
    "recall": Metric("Recall", "Of the rows of a class, the share that is found.", True),
    "specificity": Metric(
        "Specificity", "Of the rows not of a class, the share not predicted as it.", True
    ),
    "f1": Metric("F1", "Harmonic mean of precision and recall.", True),
    "precision_macro": Metric("Precision (macro)", "Plain mean of the classes' precision.", True),
    "recall_macro": Metric("Recall (macro)", "Plain mean of the classes' recall.", True),
    "specificity_macro": Metric(
        "Specificity (macro)", "Plain mean of the classes' specificity.", True
    ),
    "f1_macro": Metric("Macro F1", "Plain mean of the classes' F1.", True),
    "f1_weighted": Metric(
        "Weighted F1", "Mean of the classes' F1, weighted by their number of rows.", True
    ),
    "mcc": Metric(
        "MCC",
        "Matthews correlation between true and predicted class: 1 is perfect, 0 is chance.",
        True,
    ),
    "roc_auc": Metric(
        "ROC AUC",
        "Chance that a row of a class gets a higher score for it than a row that is not of it"
        " (mean over the classes if there are more than two).",
        True,
    ),
    "average_precision": Metric(
        "Average precision", "Area under the precision-recall curve, by steps.", True
    ),
    "log_loss": Metric(
        "Log-loss",
        "Mean of minus the logarithm of the probability given to the true class; sure mistakes"
        " cost most.",
        False,
    ),
    "brier": Metric(
        "Brier score", "Mean squared distance between probabilities and what happened.", False
    ),
    "rmse": Metric(
        "RMSE", "Root of the mean squared error, in the unit of the target.", False, False
    ),
    "mae": Metric("MAE", "Mean absolute error, in the unit of the target.", False, False),
    "r2": Metric(
        "R²", "Share of the target's variance that is explained; 0 is as good as the mean.", True
    ),
    "mse": Metric(
        "MSE", "Mean squared error, in the squared unit of the target.", False, False
    ),
    "nmse": Metric("NMSE", "Mean squared error divided by the target's variance.", False),
    "mape": Metric(
        "MAPE", "Mean of the absolute error as a share of the true value.", False
    ),
}  # fmt: skip

_FIRST = (
    "accuracy balanced_accuracy f1_macro mcc roc_auc log_loss rmse mae r2 mape nmse".split()  # noqa: SIM905
)


def metric(key: str) -> Metric:
    """Look up name and meaning of a metric; one that is not known here keeps its key as its name.

    Examples
    --------
    >>> metric("r2").label, metric("my_score").label
    ('R²', 'my score')
    """
    return _METRICS.get(key, Metric(key.replace("_", " "), "", True, False))


def leaderboard_metrics(present: Iterable[str], main: str, most: int = 6) -> list[str]:
    """Choose the metrics the leaderboard shows: the one tuned for, then the usual ones.

    Examples
    --------
    >>> leaderboard_metrics(["brier", "accuracy", "mcc", "log_loss"], main="log_loss")
    ['log_loss', 'accuracy', 'mcc']
    """
    found = set(present)
    return [key for key in dict.fromkeys([main, *_FIRST]) if key in found][:most]
