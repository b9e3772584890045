"""The metrics by which a study selects models, and the scores of predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.metrics import classification_table, regression_table
from arboleda.study.errors import StudyError
from arboleda.study.results.costs import row_costs

__all__ = [
    "COST",
    "METRICS",
    "Metric",
    "all_scores",
    "choose_metric",
    "class_scores",
    "cost_score",
]

# The metric that needs a matrix of costs.
COST = "cost"


@dataclass(frozen=True)
class Metric:
    """A metric: its key in the facts, its name, its direction and its range."""

    key: str
    label: str
    greater_is_better: bool
    task: str
    range: tuple[float, float] = (0.0, 1.0)


# The first of each task is its default.
METRICS = (
    Metric("accuracy", "Accuracy", True, "classification"),
    Metric("balanced_accuracy", "Balanced accuracy", True, "classification"),
    Metric("f1_macro", "Macro F1", True, "classification"),
    Metric("mcc", "Matthews correlation", True, "classification", (-1.0, 1.0)),
    Metric("roc_auc", "ROC AUC", True, "classification"),
    Metric("log_loss", "Log-loss", False, "classification", (0.0, np.inf)),
    Metric(COST, "Mean cost", False, "classification", (-np.inf, np.inf)),
    Metric("rmse", "RMSE", False, "regression", (0.0, np.inf)),
    Metric("mae", "MAE", False, "regression", (0.0, np.inf)),
    Metric("r2", "R²", True, "regression", (-np.inf, 1.0)),
)


def choose_metric(key: str | None, task: str) -> Metric:
    """Return the metric of a key, or the task's default.

    Raises
    ------
    StudyError
        If the task has no such metric.
    """
    kind = "regression" if task == "regression" else "classification"
    fitting = [m for m in METRICS if m.task == kind]
    if key is None:
        return fitting[0]
    for metric in fitting:
        if metric.key == key:
            return metric
    raise StudyError(
        f"There is no metric {key!r} for {kind}; choose one of {', '.join(m.key for m in fitting)}."
    )


def class_scores(
    model: Any, x: npt.NDArray[np.float64], n_classes: int
) -> npt.NDArray[np.float64] | None:
    """Return probabilities, or decision values of models without, one column per class.

    A class that is absent from the model's training rows gets the probability 0.
    """
    if hasattr(model, "predict_proba"):
        score = np.asarray(model.predict_proba(x), dtype=np.float64)
        absent = 0.0
    elif hasattr(model, "decision_function"):
        score = np.asarray(model.decision_function(x), dtype=np.float64)
        absent = -np.inf
        if score.ndim == 1:
            # Moved out of [0, 1], so that margins are not mistaken for probabilities.
            score = np.column_stack([-1.0 - score, score])
    else:
        return None
    full = np.full((len(score), n_classes), absent)
    full[:, np.asarray(model.classes_, dtype=np.int64)] = score
    return full


def all_scores(
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: npt.NDArray[np.float64] | None,
    n_classes: int,
    costs: npt.NDArray[np.float64] | None = None,
) -> dict[str, float | None]:
    """Compute every metric of predictions; ``n_classes`` is 0 in a regression.

    With ``costs`` by true and predicted class, the mean cost is included.
    """
    if n_classes == 0:
        return regression_table(y, predicted).metrics
    table = classification_table(y, predicted, score, labels=range(n_classes))
    return table.metrics | cost_score(y, predicted, score, costs)


def cost_score(
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: npt.NDArray[np.float64] | None,
    costs: npt.NDArray[np.float64] | None,
) -> dict[str, float | None]:
    """Compute the metric "cost", if there are costs: the mean cost of the cheapest decisions."""
    if costs is None:
        return {}
    return {COST: float(row_costs(y, predicted, score, costs).mean())}
