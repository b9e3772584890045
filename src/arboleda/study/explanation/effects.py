"""Predictions along a column: of one row with a changed value, and on average."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from arboleda.explain import partial_dependence
from arboleda.study.data.describe import histogram
from arboleda.study.results.explained_model import ExplainedModel, Floats, named_model, with_column

__all__ = ["compute_share", "describe_change", "describe_effects", "is_listed"]

GRID = 41
MOST_LEVELS = 8
BINS = 20


def describe_change(subject: ExplainedModel, row: Floats, column: int) -> dict[str, Any]:
    """Compute the predictions along a column, with all other columns fixed.

    The values are quantiles of the training rows or their most frequent categories, including the
    value of the row. For classification, the output is the probability of the predicted class.

    Parameters
    ----------
    subject : ExplainedModel
    row : array of shape (n_columns,)
        A row of the matrix.
    column : int
        A column of the matrix.
    """
    seen = subject.train.x[:, column]
    listed, ordered = is_listed(subject, column), subject.kind(column) == "numeric"
    values, shares = (
        _make_levels(seen, row[column], ordered) if listed else _make_grid(seen, row[column])
    )
    rows = with_column(row, column, values)
    predictions, outputs = subject.predict(rows), subject.outputs(rows)
    own = next(i for i, value in enumerate(values) if _is_same(value, row[column]))
    output = int(predictions[own]) if subject.classes else 0
    present = seen[~np.isnan(seen)]
    return {
        "name": subject.names[column],
        "kind": subject.kind(column),
        "output": subject.labels[output] if subject.classes else None,
        "own": own,
        "values": [subject.text(column, value) for value in values],
        "shares": shares,
        "outputs": outputs[:, output].tolist(),
        "answers": [subject.prediction_text(prediction) for prediction in predictions],
        "turn": _find_turn(predictions, own, ordered) if subject.classes else None,
        "histogram": None if listed else histogram(present, BINS),
    }


def is_listed(subject: ExplainedModel, column: int) -> bool:
    """Return whether the values of a column are listed: categories, or few distinct numbers."""
    if subject.kind(column) != "numeric":
        return True
    seen = subject.train.x[:, column]
    return len(np.unique(seen[~np.isnan(seen)])) <= MOST_LEVELS


def _make_grid(seen: Floats, own: float) -> tuple[list[float], None]:
    present = seen[~np.isnan(seen)]
    quantiles = np.quantile(present, np.linspace(0, 1, GRID), method="nearest")
    values = np.unique(np.append(quantiles, own))  # NaN comes last
    return values.tolist(), None


def _make_levels(seen: Floats, own: float, ordered: bool) -> tuple[list[float], list[float]]:
    """Return the most frequent values and that of the row, by size or by frequency."""
    distinct, counts = np.unique(seen, return_counts=True, equal_nan=True)
    frequent = [float(distinct[i]) for i in np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    if not any(_is_same(value, own) for value in frequent):
        frequent.append(float(own))
    if ordered:
        frequent.sort(key=lambda value: (np.isnan(value), value))
    return frequent, [compute_share(seen, value) for value in frequent]


def compute_share(seen: Floats, value: float) -> float:
    """Return the share of rows with this value; NaN counts missing values."""
    return float(np.mean(np.isnan(seen) if np.isnan(value) else seen == value))


def _is_same(value: float, other: float) -> bool:
    return value == other or (np.isnan(value) and np.isnan(other))


def _find_turn(predictions: Floats, own: int, ordered: bool) -> int | None:
    """Return the nearest position, or the most frequent category, with another class."""
    others = [i for i, prediction in enumerate(predictions) if prediction != predictions[own]]
    return min(others, key=lambda i: abs(i - own) if ordered else i, default=None)


SHOWN = 6
MOST_ROWS = 500
EFFECT_GRID = 30
MOST_CURVES = 8
MOST_EFFECT_LEVELS = 12
_STREAM = 19


def describe_effects(
    subject: ExplainedModel, importance: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Compute the partial dependence of the most important columns, with their distributions.

    The output is the positive of two classes, or those of several classes whose probabilities vary
    most.
    """
    order = importance["columns"] if importance else [{"name": name} for name in subject.names]
    part = subject.draw(subject.train, MOST_ROWS, _STREAM)
    columns = [subject.names.index(column["name"]) for column in order]
    filled = [j for j in columns if not np.isnan(part.x[:, j]).all()]
    return [_describe_effect(subject, part.x, j) for j in filled[:SHOWN]]


def _describe_effect(subject: ExplainedModel, x: Floats, column: int) -> dict[str, Any]:
    seen = subject.train.x[:, column]
    listed = is_listed(subject, column)
    grid_values = _list_values(seen, subject.kind(column) == "numeric") if listed else None
    result = partial_dependence(
        named_model(subject),
        x,
        column,
        grid_resolution=EFFECT_GRID,
        percentiles=(0.01, 0.99),
        custom_values=None if grid_values is None else {column: grid_values},
    )
    values = np.asarray(result.grid[0], dtype=np.float64)
    chosen = _choose_outputs(subject, result.average)
    present = seen[~np.isnan(seen)]
    return {
        "name": subject.names[column],
        "kind": subject.kind(column),
        "n_rows": len(x),
        "values": [subject.text(column, value) for value in values],
        "shares": [compute_share(seen, value) for value in values] if listed else None,
        "curves": [
            {
                "label": subject.labels[k] if subject.classes else None,
                "values": result.average[k].tolist(),
            }
            for k in chosen
        ],
        "histogram": None if listed or not present.size else histogram(present, BINS),
    }


def _list_values(seen: Floats, ordered: bool) -> Floats:
    """Return the most frequent values, numbers by size, categories by frequency."""
    distinct, counts = np.unique(seen[~np.isnan(seen)], return_counts=True)
    frequent = distinct[np.argsort(-counts, kind="stable")[:MOST_EFFECT_LEVELS]]
    return np.sort(frequent) if ordered else frequent


def _choose_outputs(subject: ExplainedModel, average: Floats) -> list[int]:
    if not subject.classes:
        return [0]
    if len(subject.labels) == 2:
        return [subject.labels.index(subject.facts["study"]["positive_class"])]
    ranges = np.ptp(average, axis=1)
    return sorted(int(k) for k in np.argsort(-ranges, kind="stable")[:MOST_CURVES])
