"""Shapley values of the table's columns, where the model is an ensemble of our trees."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from arboleda.explain import ShapValues, shap_values
from arboleda.study.data.preparation import prepared_sources
from arboleda.study.results.explained_model import ExplainedModel, Floats

__all__ = ["Shares", "describe_shap", "shares_of"]

SHOWN = 12
MOST_ROWS = 400
_STREAM = 23
Unit = Literal["probability", "log_odds", "score", "value"]


@dataclass(frozen=True)
class Shares:
    """What each column of the matrix adds to what the model says of a class, or to the value.

    ``pushes`` has a row for each row and a column for each column of the matrix; with ``base``
    they add up to the model's probability, log-odds, score or value.
    """

    pushes: Floats
    base: float
    unit: Unit


def shares_of(subject: ExplainedModel, x: Floats, label: int) -> Shares | None:
    """Exact Shapley values of rows towards a class (by its number), or of the value.

    The values of prepared columns that come from one column of the matrix are added up; one that is
    made of several columns is shared out among them evenly. None if the model is no sum over trees
    of this library.
    """
    try:
        found = shap_values(subject.pipeline, x)
    except (TypeError, ValueError):  # no trees, or no sum over them: LIME is asked instead
        return None
    values, base, sign = _towards(subject, found, label)
    grouped = np.zeros_like(x)
    for prepared, columns in enumerate(_sources(subject)):
        for column in columns:
            grouped[:, column] += sign * values[:, prepared] / len(columns)
    return Shares(grouped, sign * base, _unit(subject, found))


def _sources(subject: ExplainedModel) -> list[tuple[int, ...]]:
    """The matrix's columns that each prepared column comes from."""
    before = subject.pipeline[0]
    if before == "passthrough":
        return [(j,) for j in range(len(subject.names))]
    return prepared_sources(before, len(subject.labels))


def _towards(subject: ExplainedModel, found: ShapValues, label: int) -> tuple[Floats, float, float]:
    """Values and base of an output, and -1 if that is the other class of two."""
    if found.values.ndim == 2:
        away = subject.classes and label != int(subject.pipeline.classes_[-1])
        return found.values, float(found.base_values[0]), -1.0 if away else 1.0
    at = subject.pipeline.classes_.tolist().index(label)
    return found.values[:, :, at], float(found.base_values[0, at]), 1.0


def _unit(subject: ExplainedModel, found: ShapValues) -> Unit:
    if found.scale == "probability":
        return "probability"
    if not subject.classes:
        return "value"
    boosted = type(subject.pipeline[-1]).__module__.startswith("arboleda.boosting")
    return "log_odds" if boosted and found.values.ndim == 2 else "score"


def describe_shap(subject: ExplainedModel) -> dict[str, Any] | None:
    """How far each column pushes each of some test rows, the columns that push most first.

    Towards the positive class of two, the most frequent of more, or the value up.
    """
    part = subject.draw(subject.test, MOST_ROWS, _STREAM)
    label = 0
    if subject.classes:
        counts = np.bincount(subject.train.y, minlength=len(subject.labels))
        label = 1 if len(subject.labels) == 2 else int(counts.argmax())
    found = shares_of(subject, part.x, label)
    if found is None:
        return None
    means = np.abs(found.pushes).mean(axis=0)
    order = [int(j) for j in np.argsort(-means, kind="stable") if means[j] > 0]
    return {
        "output": subject.labels[label] if subject.classes else None,
        "unit": found.unit,
        "n_rows": len(part.x),
        "n_others": max(0, len(order) - SHOWN),
        "columns": [
            {
                "name": subject.names[j],
                "mean": float(means[j]),
                "points": [
                    [float(push), place]
                    for push, place in zip(
                        found.pushes[:, j], _places(subject, j, part.x[:, j]), strict=True
                    )
                ],
            }
            for j in order[:SHOWN]
        ],
    }


def _places(subject: ExplainedModel, column: int, values: Floats) -> list[float | None]:
    """Where each value lies among the others, from 0 to 1; None where there is no order."""
    if subject.kind(column) == "categorical":
        return [None] * len(values)
    places = (rankdata(values, nan_policy="omit") - 0.5) / max(1, np.sum(~np.isnan(values)))
    return [None if np.isnan(place) else float(place) for place in places]
