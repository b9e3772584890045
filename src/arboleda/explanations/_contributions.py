"""Contributions of the columns to the prediction of a row."""

from typing import Any

import numpy as np

from arboleda._numbers import plain
from arboleda.explain import lime
from arboleda.explanations._shap import Contributions, compute_contributions
from arboleda.study.results.explained_model import ExplainedModel, Floats, named_model

__all__ = ["describe_contributions"]

MOST_ROWS = 10_000
SAMPLES = 5_000
CONDITIONS = 10
_STREAM = 7


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
                "push": float(contributions[j]),
                "condition": None,
            }
            for j in order
        ],
    }


def _describe_lime(subject: ExplainedModel, row: Floats, predicted: float) -> dict[str, Any]:
    part = subject.draw(subject.train, MOST_ROWS, _STREAM)
    explainer = lime(
        named_model(subject),
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
                "push": float(weight),
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
        words = [words[0], "<", words[-1]]
    return " ".join(signs[word] if word in signs else _shorten(word) for word in words) or None


def _shorten(word: str) -> str:
    try:
        return plain(float(word))
    except ValueError:
        return word
