"""What the model would say of a row if one of its columns were different."""

from typing import Any

import numpy as np

from arboleda.study.data.describe import histogram
from arboleda.study.results.explained_model import ExplainedModel, Floats, with_column

__all__ = ["describe_change", "is_listed", "share_of"]

GRID = 41
MOST_LEVELS = 8
BINS = 20


def describe_change(subject: ExplainedModel, row: Floats, column: int) -> dict[str, Any]:
    """The model's answers along a column, all others held as they are.

    The values are quantiles of the training rows, or their most frequent categories; the row's
    own is among them. Of classes, what is told is the probability of the one that is said now.

    Parameters
    ----------
    subject : Subject
    row : array of shape (n_columns,)
        A row of the matrix.
    column : int
        A column of the matrix.
    """
    seen = subject.train.x[:, column]
    listed, ordered = is_listed(subject, column), subject.kind(column) == "numeric"
    values, shares = _levels(seen, row[column], ordered) if listed else _grid(seen, row[column])
    rows = with_column(row, column, values)
    answers, outputs = subject.predict(rows), subject.outputs(rows)
    own = next(i for i, value in enumerate(values) if _same(value, row[column]))
    said = int(answers[own]) if subject.classes else 0
    present = seen[~np.isnan(seen)]
    return {
        "name": subject.names[column],
        "kind": subject.kind(column),
        "output": subject.labels[said] if subject.classes else None,
        "own": own,
        "values": [subject.text(column, value) for value in values],
        "shares": shares,
        "outputs": outputs[:, said].tolist(),
        "answers": [subject.prediction_text(answer) for answer in answers],
        "turn": _turn(answers, own, ordered) if subject.classes else None,
        "histogram": None if listed else histogram(present, BINS),
    }


def is_listed(subject: ExplainedModel, column: int) -> bool:
    """Whether a column's values are listed one by one: categories, or few numbers."""
    if subject.kind(column) != "numeric":
        return True
    seen = subject.train.x[:, column]
    return len(np.unique(seen[~np.isnan(seen)])) <= MOST_LEVELS


def _grid(seen: Floats, own: float) -> tuple[list[float], None]:
    present = seen[~np.isnan(seen)]
    quantiles = np.quantile(present, np.linspace(0, 1, GRID), method="nearest")
    values = np.unique(np.append(quantiles, own))  # NaN comes last
    return values.tolist(), None


def _levels(seen: Floats, own: float, ordered: bool) -> tuple[list[float], list[float]]:
    """The most frequent values and the row's own: numbers by size, others by frequency."""
    distinct, counts = np.unique(seen, return_counts=True, equal_nan=True)
    frequent = [float(distinct[i]) for i in np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    if not any(_same(value, own) for value in frequent):
        frequent.append(float(own))
    if ordered:
        frequent.sort(key=lambda value: (np.isnan(value), value))
    return frequent, [share_of(seen, value) for value in frequent]


def share_of(seen: Floats, value: float) -> float:
    """Share of the rows that have a value, or have none if it is missing."""
    return float(np.mean(np.isnan(seen) if np.isnan(value) else seen == value))


def _same(value: float, other: float) -> bool:
    return value == other or (np.isnan(value) and np.isnan(other))


def _turn(answers: Floats, own: int, ordered: bool) -> int | None:
    """The place where another class is said: the nearest one, or the most frequent category."""
    others = [i for i, answer in enumerate(answers) if answer != answers[own]]
    return min(others, key=lambda i: abs(i - own) if ordered else i, default=None)
