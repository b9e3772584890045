"""Outliers by the proximity of a random forest."""

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.study.data.describe import compute_histogram
from arboleda.study.data.table import Column
from arboleda.study.exploration.explored_table import (
    CodedColumns,
    ExploredTable,
    ExploredTarget,
    code_columns,
    rescale_extremes,
)

__all__ = ["compute_outlier_scores", "describe_outliers"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

TREES = 200
MOST_ROWS, CELLS = 4000, 6_000_000
FEWEST_ROWS = 10
SHOWN, REASONS = 10, 4
SUSPICIOUS = 10.0
_STREAM = 4


def describe_outliers(subject: ExploredTable) -> dict[str, Any] | None:
    """Find the rows with the highest outlier scores and the columns in which they are unusual.

    None without features, with fewer than ten rows, or with fewer than two classes.
    """
    most = min(MOST_ROWS, max(500, CELLS // max(1, len(subject.features))))
    rows = subject.sample(most, _STREAM)
    goal = subject.goal
    if goal is not None:
        rows = rows[goal.known[rows]]
    if not subject.features or len(rows) < FEWEST_ROWS:
        return None
    if goal is not None and len(np.unique(goal.y[rows])) < 2:
        return None
    coded = code_columns(subject, rows)
    scores = compute_outlier_scores(
        coded, None if goal is None else goal.y[rows], goal, subject.seed
    )
    top = np.argsort(-scores, kind="stable")[:SHOWN]
    return {
        "n_rows": len(rows),
        "n_trees": TREES,
        "n_suspicious": int((scores > SUSPICIOUS).sum()),
        "histogram": compute_histogram(np.clip(scores, None, 2 * SUSPICIOUS), 24),
        "rows": [
            _describe_row(subject, coded, rows, int(place), float(scores[place])) for place in top
        ],
    }


def compute_outlier_scores(
    coded: CodedColumns, y: Floats | None, goal: ExploredTarget | None, seed: int
) -> Floats:
    """Compute the outlier scores of a forest, within the class of each row.

    The forest predicts the target. Without a target, it discriminates the rows from rows whose
    columns were permuted independently, which have the same marginal distributions but no
    dependence: Breiman (2003), "Manual: setting up, using, and understanding random forests",
    section "Unsupervised learning".
    """
    options: dict[str, Any] = {
        "n_estimators": TREES,
        "categorical_features": list(coded.categorical) or None,
        "random_state": seed,
        "n_jobs": 1,
    }
    if goal is not None and y is not None:
        if goal.labels:
            classes = y.astype(np.int64)
            forest = RandomForestClassifier(**options).fit(coded.x, classes)
            return forest.outlier_scores(coded.x, classes)
        # Splits, and therefore proximities, do not depend on the unit of the target.
        values = rescale_extremes(y[:, np.newaxis])[:, 0]
        return RandomForestRegressor(**options).fit(coded.x, values).outlier_scores(coded.x)
    random = np.random.default_rng([seed, _STREAM])
    permuted = random.permuted(coded.x, axis=0)
    real = np.repeat([1, 0], len(coded.x))
    forest = RandomForestClassifier(**options).fit(np.vstack([coded.x, permuted]), real)
    return forest.outlier_scores(coded.x, real[: len(coded.x)])


def _describe_row(
    subject: ExploredTable, coded: CodedColumns, rows: Rows, place: int, score: float
) -> dict[str, Any]:
    goal = subject.goal
    alike = np.ones(len(rows), dtype=bool)
    target: str | float | None = None
    if goal is not None:
        own = goal.y[rows[place]]
        target = goal.labels[int(own)] if goal.labels else float(own)
        if goal.labels:
            alike = goal.y[rows] == own
    rarity = [_compute_rarity(coded, j, place, alike) for j in range(len(coded.names))]
    reasons = np.argsort(rarity, kind="stable")[:REASONS]
    return {
        "row": int(rows[place]) + 1,
        "score": score,
        "target": target,
        "unusual": [
            {
                "column": coded.names[j],
                "value": _decode_value(subject.features[j], int(rows[place])),
                "share": rarity[j],
            }
            for j in reasons
            if rarity[j] < 0.5
        ],
    }


def _compute_rarity(coded: CodedColumns, j: int, place: int, alike: npt.NDArray[np.bool_]) -> float:
    """Return the share of rows of its class that are as extreme or have the same category."""
    values, own = coded.x[alike, j], coded.x[place, j]
    if np.isnan(own):
        return float(np.isnan(values).mean())
    if j in coded.categorical:
        return float((values == own).mean())
    return float(min(1.0, 2 * min((values <= own).mean(), (values >= own).mean())))


def _decode_value(column: Column, row: int) -> str | float | bool | None:
    value = column.values[row]
    if np.isnan(value):
        return None
    if column.kind == "string":
        return column.levels[int(value)]
    if column.kind == "datetime":
        stamp = np.datetime64(int(value), "s")
        return str(stamp).replace("T", " ").removesuffix(" 00:00:00")
    return bool(value) if column.kind == "boolean" else float(value)
