"""Permutation importance of the columns on the test rows."""

from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from arboleda.explain import importance
from arboleda.study.results.costs import row_costs
from arboleda.study.results.estimator_adapter import numbered_model
from arboleda.study.results.explained_model import ExplainedModel
from arboleda.study.results.scoring import COST

__all__ = ["describe_importance", "scored_rows"]

FEWEST_ROWS, MOST_ROWS = 200, 4_000
REPEATS = 10
# Maximum predicted rows (rows times columns times repeats) of all models of an ensemble.
MAX_SCORED_ROWS = 4_000_000
_STREAM = 3
_SCORERS = {
    "mcc": "matthews_corrcoef",
    "log_loss": "neg_log_loss",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
}


def describe_importance(
    subject: ExplainedModel, max_scored_rows: int = MAX_SCORED_ROWS
) -> dict[str, Any] | None:
    """Compute the permutation importance of every column by the study's metric, largest first.

    ``max_scored_rows`` bounds the predicted rows (rows times columns times repeats), summed over
    all fitted models of an ensemble.

    Return None if the test rows lack a class that the metric needs.
    """
    part = subject.draw(subject.test, _most_rows(subject, max_scored_rows), _STREAM)
    metric = subject.facts["study"]["metric"]
    if subject.classes and len(np.unique(part.y)) < len(subject.labels):
        return None
    scoring: Any = _SCORERS.get(metric, metric)
    if metric == COST:
        scoring = _cost_scorer(subject)
    if metric == "roc_auc" and len(subject.labels) > 2:
        scoring = "roc_auc_ovr"
    found: Any = importance(  # of one score, and so one
        numbered_model(subject),
        part.x,
        part.y,
        kind="permutation",
        scoring=scoring,
        n_repeats=REPEATS,
        random_state=subject.seed,
    )
    order = np.argsort(-found.value, kind="stable")
    return {
        "metric": metric,
        "metric_label": subject.facts["study"]["metric_label"],
        "n_rows": len(part.x),
        "n_repeats": REPEATS,
        "columns": [
            {
                "name": subject.names[j],
                "value": float(found.value[j]),
                "standard_error": _known(found.standard_error[j]),
            }
            for j in order
        ],
    }


def scored_rows(subject: ExplainedModel, max_scored_rows: int = MAX_SCORED_ROWS) -> int:
    """Return the number of rows that the model predicts for its importances."""
    n_rows = min(len(subject.test.x), _most_rows(subject, max_scored_rows))
    return n_rows * REPEATS * len(subject.names)


def _most_rows(subject: ExplainedModel, max_scored_rows: int) -> int:
    at_once = REPEATS * len(subject.names) * subject.n_models
    return int(np.clip(max_scored_rows // at_once, FEWEST_ROWS, MOST_ROWS))


def _cost_scorer(subject: ExplainedModel) -> Any:
    """Return a scorer by the mean cost of a model's cheapest decisions."""
    matrix = np.array(subject.facts["costs"]["matrix"], dtype=np.float64)

    def cost(y: Any, outputs: Any) -> float:
        if outputs.dtype.kind == "i":  # classes: the model has no probabilities
            return float(row_costs(y, outputs, None, matrix).mean())
        score = np.column_stack([1.0 - outputs, outputs]) if outputs.ndim == 1 else outputs
        return float(row_costs(y, score.argmax(axis=1), score, matrix).mean())

    return make_scorer(cost, response_method=("predict_proba", "predict"), greater_is_better=False)


def _known(value: float) -> float | None:
    """Return a finite value, or None if a block of rows lacks what the metric needs."""
    return float(value) if np.isfinite(value) else None
