"""Average effects of the most important columns on the prediction (partial dependence)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from arboleda.explain import partial_dependence
from arboleda.explanations._changes import BINS, compute_share, is_listed
from arboleda.study.data.describe import histogram
from arboleda.study.results.explained_model import ExplainedModel, Floats, named_model

__all__ = ["describe_effects"]

SHOWN = 6
MOST_ROWS = 500
GRID = 30
MOST_CURVES = 8
MOST_LEVELS = 12
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
        grid_resolution=GRID,
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
    frequent = distinct[np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    return np.sort(frequent) if ordered else frequent


def _choose_outputs(subject: ExplainedModel, average: Floats) -> list[int]:
    if not subject.classes:
        return [0]
    if len(subject.labels) == 2:
        return [subject.labels.index(subject.facts["study"]["positive_class"])]
    ranges = np.ptp(average, axis=1)
    return sorted(int(k) for k in np.argsort(-ranges, kind="stable")[:MOST_CURVES])
