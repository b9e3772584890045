"""The test rows on which the best model errs most, with the values of the leading columns."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.facts.rows import ErrorRow, ErrorsFacts, ErrorValue
from arboleda.scoring.row_losses import compute_log_losses
from arboleda.scoring.scores import Predictions, are_probabilities
from arboleda.study.plan import Plan
from arboleda.study.results.holdout_facts import ReadPredictions
from arboleda.study.runner import Outcome
from arboleda.tables.table import Column

__all__ = ["describe_errors", "read_value"]

SHOWN_ROWS = 10
SHOWN_COLUMNS = 5
LONGEST = 60  # characters of a value


def describe_errors(
    plan: Plan,
    ranked: Sequence[Outcome],
    read_predictions: ReadPredictions,
    importance: Mapping[str, Any] | None,
) -> ErrorsFacts | None:
    """Return the ``errors`` part of the facts; None if the best model was not tested.

    ``importance`` is the part of the facts of that name; it puts the columns in order.
    """
    best = next(iter(ranked), None)
    predictions = None if best is None else read_predictions(best, None)
    # Of times and ranks, no row by itself is predicted wrong.
    has_errors = plan.target.second is None
    if best is None or predictions is None or not best.model.learns or not has_errors:
        return None
    y = plan.target.y[plan.split.test]
    loss, kind = _compute_losses(plan, y, predictions)
    if plan.target.labels:
        is_wrong = predictions.predicted != y
        order = np.flatnonzero(is_wrong)[np.argsort(-loss[is_wrong], kind="stable")]
        n_wrong = int(is_wrong.sum())
    else:
        order, n_wrong = np.argsort(-loss, kind="stable"), None
        order = order[loss[order] > 0]
    names = _order_columns(plan, importance)
    return ErrorsFacts.model_validate(
        {
            "model": best.model.key,
            "loss": kind,
            "n_rows": len(y),
            "n_wrong": n_wrong,
            "rows": [
                _describe_row(plan, predictions, int(at), float(loss[at]), names)
                for at in order[:SHOWN_ROWS]
            ],
        }
    )


def _compute_losses(
    plan: Plan, y: npt.NDArray[Any], predictions: Predictions
) -> tuple[npt.NDArray[np.float64], str]:
    if not plan.target.labels:
        # Differences of values near the largest double overflow.
        with np.errstate(over="ignore"):
            loss = np.abs(y - predictions.predicted)
        return np.minimum(loss, np.finfo(np.float64).max), "absolute_error"
    score = predictions.score
    if score is not None and are_probabilities(score):
        return compute_log_losses(y, score), "log_loss"
    return (predictions.predicted != y).astype(np.float64), "error"


def _order_columns(plan: Plan, importance: Mapping[str, Any] | None) -> list[str]:
    """Return the names of the columns to show, the most important first."""
    features = [name for name, role in plan.roles.items() if role.role == "feature"]
    known = [column["name"] for column in (importance or {"columns": []})["columns"]]
    # The importances are of features, such as the year of a date, which are not all columns.
    leading = [name for name in known if name in plan.roles]
    return list(dict.fromkeys([*leading, *features]))[:SHOWN_COLUMNS]


def _describe_row(
    plan: Plan, predictions: Predictions, at: int, loss: float, names: Sequence[str]
) -> ErrorRow:
    row = int(plan.split.test[at])
    truth, predicted = plan.target.y[row], predictions.predicted[at]
    probability = None
    shown: list[str | float]
    if plan.target.labels:
        score = predictions.score
        if score is not None and are_probabilities(score):
            probability = min(max(float(score[at, int(truth)]), 0.0), 1.0)
        shown = [plan.target.labels[int(code)] for code in (truth, predicted)]
    else:
        shown = [float(truth), float(predicted)]
    return ErrorRow(
        row=row + 1,
        truth=shown[0],
        predicted=shown[1],
        probability=probability,
        loss=loss,
        values=[
            ErrorValue(column=name, value=read_value(plan.table.column(name), row))
            for name in names
        ],
    )


def read_value(column: Column, row: int) -> str | float | None:
    """Return a value of a column, a date as text; None if it is missing.

    Examples
    --------
    >>> read_value(Column("colour", "string", np.array([1.0, np.nan]), ("blue", "red")), 0)
    'red'
    """
    value = float(column.values[row])
    if np.isnan(value):
        return None
    if column.kind == "string":
        text = column.levels[int(value)]
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    if column.kind == "boolean":
        return "true" if value else "false"
    if column.kind == "datetime":
        try:
            moment = datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError):
            return value
        return moment.strftime("%Y-%m-%d" if value % 86400 == 0 else "%Y-%m-%d %H:%M:%S")
    return value
