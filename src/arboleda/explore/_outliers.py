"""Rows that lie far from the others, by the proximity of a random forest."""

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explore._matrix import CodedColumns, code_columns, of_moderate_size
from arboleda.explore._subject import Goal, Subject
from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.study.data.describe import histogram
from arboleda.study.data.table import Column

__all__ = ["describe_outliers", "outlier_scores"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

TREES = 200
MOST_ROWS, CELLS = 4000, 6_000_000
FEWEST_ROWS = 10
SHOWN, REASONS = 10, 4
SUSPICIOUS = 10.0
_STREAM = 4


def describe_outliers(subject: Subject) -> dict[str, Any] | None:
    """The rows of a sample with the highest scores, and the columns in which they are unusual.

    None without features, with fewer than ten rows, or with fewer than two classes among them.
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
    scores = outlier_scores(coded, None if goal is None else goal.y[rows], goal, subject.seed)
    top = np.argsort(-scores, kind="stable")[:SHOWN]
    return {
        "n_rows": len(rows),
        "n_trees": TREES,
        "n_suspicious": int((scores > SUSPICIOUS).sum()),
        "histogram": histogram(np.clip(scores, None, 2 * SUSPICIOUS), 24),
        "rows": [_row(subject, coded, rows, int(place), float(scores[place])) for place in top],
    }


def outlier_scores(coded: CodedColumns, y: Floats | None, goal: Goal | None, seed: int) -> Floats:
    """Outlier scores of a forest of the target, of rows among their class.

    Without a target the forest learns to tell the rows from others whose columns were permuted,
    each on its own, and so are alike in every column but not in how the columns go together.
    Breiman (2003), "Manual: setting up, using, and understanding random forests", section
    "Unsupervised learning".
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
        # Splits and so proximities are the same in any unit of the target.
        values = of_moderate_size(y[:, np.newaxis])[:, 0]
        return RandomForestRegressor(**options).fit(coded.x, values).outlier_scores(coded.x)
    random = np.random.default_rng([seed, _STREAM])
    permuted = random.permuted(coded.x, axis=0)
    real = np.repeat([1, 0], len(coded.x))
    forest = RandomForestClassifier(**options).fit(np.vstack([coded.x, permuted]), real)
    return forest.outlier_scores(coded.x, real[: len(coded.x)])


def _row(
    subject: Subject, coded: CodedColumns, rows: Rows, place: int, score: float
) -> dict[str, Any]:
    goal = subject.goal
    alike = np.ones(len(rows), dtype=bool)
    target: str | float | None = None
    if goal is not None:
        own = goal.y[rows[place]]
        target = goal.labels[int(own)] if goal.labels else float(own)
        if goal.labels:
            alike = goal.y[rows] == own
    rarity = [_rarity(coded, j, place, alike) for j in range(len(coded.names))]
    reasons = np.argsort(rarity, kind="stable")[:REASONS]
    return {
        "row": int(rows[place]) + 1,
        "score": score,
        "target": target,
        "unusual": [
            {
                "column": coded.names[j],
                "value": _value(subject.features[j], int(rows[place])),
                "share": rarity[j],
            }
            for j in reasons
            if rarity[j] < 0.5
        ],
    }


def _rarity(coded: CodedColumns, j: int, place: int, alike: npt.NDArray[np.bool_]) -> float:
    """Share of the rows of its kind that are as far out as this one, or have the same category."""
    values, own = coded.x[alike, j], coded.x[place, j]
    if np.isnan(own):
        return float(np.isnan(values).mean())
    if j in coded.categorical:
        return float((values == own).mean())
    return float(min(1.0, 2 * min((values <= own).mean(), (values >= own).mean())))


def _value(column: Column, row: int) -> str | float | bool | None:
    value = column.values[row]
    if np.isnan(value):
        return None
    if column.kind == "string":
        return column.levels[int(value)]
    if column.kind == "datetime":
        stamp = np.datetime64(int(value), "s")
        return str(stamp).replace("T", " ").removesuffix(" 00:00:00")
    return bool(value) if column.kind == "boolean" else float(value)
