"""Contributions of the columns to predictions: exact Shapley values or LIME."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from arboleda._utils.numbers import plain
from arboleda.catalogue.preparation import find_prepared_sources
from arboleda.explain import ShapValues, lime, shap_values
from arboleda.reports.fact_messages import Number, write_message
from arboleda.study.results.explained_model import ExplainedModel, Floats, make_estimator_adapter

__all__ = ["Contributions", "compute_contributions", "describe_contributions", "describe_shap"]

SHOWN = 12
SHAP_ROWS = 400
_SHAP_STREAM = 23
Unit = Literal["probability", "log_odds", "score", "value"]


@dataclass(frozen=True)
class Contributions:
    """Contributions of each column of the matrix to the output of a class, or to the value.

    ``contributions`` has one row per row and one column per column of the matrix; each row plus
    ``base`` sums to the probability, log-odds, score or value of the model.
    """

    contributions: Floats
    base: float
    unit: Unit


def compute_contributions(subject: ExplainedModel, x: Floats, label: int) -> Contributions | None:
    """Compute exact Shapley values of rows for a class (by its index), or for the value.

    The values of prepared columns derived from one column of the matrix are summed; the value of a
    column derived from several is divided equally among them. None if the model is not a sum of
    trees of this library.
    """
    try:
        result = shap_values(subject.pipeline, x)
    except (TypeError, ValueError):  # not a sum of trees: LIME is used instead
        return None
    values, base, sign = _select_output(subject, result, label)
    grouped = np.zeros_like(x)
    for prepared, columns in enumerate(_get_sources(subject)):
        for column in columns:
            grouped[:, column] += sign * values[:, prepared] / len(columns)
    return Contributions(grouped, sign * base, _get_unit(subject, result))


def _get_sources(subject: ExplainedModel) -> list[tuple[int, ...]]:
    """Return the columns of the matrix from which each prepared column is derived."""
    before = subject.pipeline[0]
    if before == "passthrough":
        return [(j,) for j in range(len(subject.names))]
    return find_prepared_sources(before, len(subject.labels))


def _select_output(
    subject: ExplainedModel, result: ShapValues, label: int
) -> tuple[Floats, float, float]:
    """Return values and base of an output, and the sign -1 if it is the other class of two."""
    if result.values.ndim == 2:
        away = subject.classes and label != int(subject.pipeline.classes_[-1])
        return result.values, float(result.base_values[0]), -1.0 if away else 1.0
    at = subject.pipeline.classes_.tolist().index(label)
    return result.values[:, :, at], float(result.base_values[0, at]), 1.0


def _get_unit(subject: ExplainedModel, result: ShapValues) -> Unit:
    if result.scale == "probability":
        return "probability"
    if not subject.classes:
        return "value"
    boosted = type(subject.pipeline[-1]).__module__.startswith("arboleda.boosting")
    return "log_odds" if boosted and result.values.ndim == 2 else "score"


def describe_shap(subject: ExplainedModel) -> dict[str, Any] | None:
    """Compute contributions to a sample of test rows, the most important columns first.

    The output is the positive of two classes, the most frequent of several, or the value.
    """
    part = subject.draw(subject.test, SHAP_ROWS, _SHAP_STREAM)
    label = 0
    if subject.classes:
        counts = np.bincount(subject.train.y, minlength=len(subject.labels))
        label = 1 if len(subject.labels) == 2 else int(counts.argmax())
    result = compute_contributions(subject, part.x, label)
    if result is None:
        return None
    means = np.abs(result.contributions).mean(axis=0)
    order = [int(j) for j in np.argsort(-means, kind="stable") if means[j] > 0]
    return {
        "output": subject.labels[label] if subject.classes else None,
        "unit": result.unit,
        "n_rows": len(part.x),
        "n_others": max(0, len(order) - SHOWN),
        "columns": [
            {
                "name": subject.names[j],
                "mean": float(means[j]),
                "points": [
                    [float(contribution), place]
                    for contribution, place in zip(
                        result.contributions[:, j],
                        _compute_quantiles(subject, j, part.x[:, j]),
                        strict=True,
                    )
                ],
            }
            for j in order[:SHOWN]
        ],
    }


def _compute_quantiles(subject: ExplainedModel, column: int, values: Floats) -> list[float | None]:
    """Return the quantile of each value, from 0 to 1; None for unordered values."""
    if subject.kind(column) == "categorical":
        return [None] * len(values)
    places = (rankdata(values, nan_policy="omit") - 0.5) / max(1, np.sum(~np.isnan(values)))
    return [None if np.isnan(place) else float(place) for place in places]


LIME_ROWS = 10_000
SAMPLES = 5_000
CONDITIONS = 10
_LIME_STREAM = 7


def describe_contributions(subject: ExplainedModel, row: Floats) -> dict[str, Any]:
    """Compute the contribution of each column to the predicted class or value.

    Exact Shapley values if the model is a sum of trees of this library, otherwise the weights of
    LIME, a simple model of the predictions around the row.

    Parameters
    ----------
    subject : ExplainedModel
    row : array of shape (n_columns,)
        A row of the matrix.
    """
    predicted = float(subject.predict(row[None, :])[0])
    result = compute_contributions(subject, row[None, :], int(predicted) if subject.classes else 0)
    return (
        _describe_lime(subject, row, predicted)
        if result is None
        else _describe_exact(subject, row, predicted, result)
    )


def _describe_exact(
    subject: ExplainedModel, row: Floats, predicted: float, result: Contributions
) -> dict[str, Any]:
    contributions = result.contributions[0]
    order = [
        int(j) for j in np.argsort(-np.abs(contributions), kind="stable") if contributions[j] != 0
    ]
    return {
        "method": "shap",
        "output": subject.prediction_text(predicted) if subject.classes else None,
        "unit": result.unit,
        "base": result.base,
        "total": result.base + float(contributions.sum()),
        "fidelity": None,
        "stability": None,
        "n_samples": None,
        "columns": [
            {
                "name": subject.names[j],
                "value": subject.text(j, row[j]),
                "contribution": float(contributions[j]),
                "condition": None,
            }
            for j in order
        ],
    }


def _describe_lime(subject: ExplainedModel, row: Floats, predicted: float) -> dict[str, Any]:
    part = subject.draw(subject.train, LIME_ROWS, _LIME_STREAM)
    explainer = lime(
        make_estimator_adapter(subject),
        part.x,
        n_samples=SAMPLES,
        categorical_features=[*subject.levels, *subject.binary] or None,
        random_state=subject.seed,
    )
    output = subject.prediction_text(predicted) if subject.classes else None
    result = explainer.explain(row, output=output, n_features=CONDITIONS)
    return {
        "method": "lime",
        "output": output,
        "unit": "probability" if subject.classes else "value",
        "base": float(result.intercept),
        "total": float(result.prediction),
        "fidelity": float(result.fidelity),
        "stability": None if result.stability is None else float(result.stability),
        "n_samples": SAMPLES,
        "columns": [
            {
                "name": subject.names[j],
                "value": subject.text(j, row[j]),
                "contribution": float(weight),
                "condition": _format_condition(subject, j, row[j], text),
            }
            for j, text, weight in sorted(
                zip(map(int, result.features), result.conditions, result.weights, strict=True),
                key=lambda item: -abs(item[2]),
            )
        ],
    }


def _format_condition(subject: ExplainedModel, column: int, value: float, text: str) -> str | None:
    """Return the condition on a number without the column name, such as "> 3" or "2 to 3"."""
    if subject.kind(column) != "numeric" or np.isnan(value):
        return None
    low, _, high = text.partition(subject.names[column])
    signs = {"<=": "\N{LESS-THAN OR EQUAL TO}", ">": ">", "<": "to"}
    words = [*low.split(), *high.split()]
    if low.strip():  # "2 < x <= 3"
        return write_message(
            "range", low=Number(_shorten(words[0])), high=Number(_shorten(words[-1]))
        )
    return " ".join(signs[word] if word in signs else _shorten(word) for word in words) or None


def _shorten(word: str) -> str:
    try:
        return plain(float(word))
    except ValueError:
        return word
