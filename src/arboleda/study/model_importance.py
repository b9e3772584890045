"""Which columns the model needs: what it loses on test rows when one is shuffled."""

from typing import Any

import numpy as np

from arboleda.explain import importance
from arboleda.study.named_model import named_model, named_target
from arboleda.study.subject import Subject

__all__ = ["describe_importance"]

MOST_ROWS = 4_000
REPEATS = 10
# Rows times columns times repeats that are asked for in all.
MOST_ASKED = 4_000_000
_STREAM = 3
_SCORERS = {
    "mcc": "matthews_corrcoef",
    "log_loss": "neg_log_loss",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
}


def describe_importance(subject: Subject, most_asked: int = MOST_ASKED) -> dict[str, Any] | None:
    """Permutation importance of every column by the study's metric, largest first.

    ``most_asked`` bounds the rows times columns times repeats that the model is asked for.

    None where the test rows lack a class that the metric needs.
    """
    n_columns = len(subject.names)
    most = int(np.clip(most_asked // (REPEATS * n_columns), 200, MOST_ROWS))
    part = subject.draw(subject.test, most, _STREAM)
    metric = subject.facts["study"]["metric"]
    if subject.classes and len(np.unique(part.y)) < len(subject.labels):
        return None
    scoring = _SCORERS.get(metric, metric)
    if metric == "roc_auc" and len(subject.labels) > 2:
        scoring = "roc_auc_ovr"
    found: Any = importance(  # of one score, and so one
        named_model(subject),
        part.x,
        named_target(subject, part.y),
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


def _known(value: float) -> float | None:
    """None where a block of rows lacks what the metric needs."""
    return float(value) if np.isfinite(value) else None
