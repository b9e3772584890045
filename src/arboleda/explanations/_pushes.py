"""Which columns push the prediction of a row, which way and by how much."""

from typing import Any

import numpy as np

from arboleda._numbers import plain
from arboleda.explain import lime
from arboleda.explanations._shap import Shares, shares_of
from arboleda.study.results.estimator_adapter import named_model
from arboleda.study.results.explained_model import ExplainedModel, Floats

__all__ = ["describe_pushes"]

MOST_ROWS = 10_000
SAMPLES = 5_000
CONDITIONS = 10
_STREAM = 7


def describe_pushes(subject: ExplainedModel, row: Floats) -> dict[str, Any]:
    """How each column pushes towards the class that is said, or the value up and down.

    Exact Shapley values where the model is a sum over trees of ours; else LIME, the weights of a
    simple model of the answers around the row.

    Parameters
    ----------
    subject : Subject
    row : array of shape (n_columns,)
        A row of the matrix.
    """
    said = float(subject.predict(row[None, :])[0])
    found = shares_of(subject, row[None, :], int(said) if subject.classes else 0)
    return _by_lime(subject, row, said) if found is None else _exact(subject, row, said, found)


def _exact(subject: ExplainedModel, row: Floats, said: float, found: Shares) -> dict[str, Any]:
    pushes = found.pushes[0]
    order = [int(j) for j in np.argsort(-np.abs(pushes), kind="stable") if pushes[j] != 0]
    return {
        "method": "shap",
        "output": subject.prediction_text(said) if subject.classes else None,
        "unit": found.unit,
        "base": found.base,
        "total": found.base + float(pushes.sum()),
        "fidelity": None,
        "stability": None,
        "n_samples": None,
        "columns": [
            {
                "name": subject.names[j],
                "value": subject.text(j, row[j]),
                "push": float(pushes[j]),
                "condition": None,
            }
            for j in order
        ],
    }


def _by_lime(subject: ExplainedModel, row: Floats, said: float) -> dict[str, Any]:
    part = subject.draw(subject.train, MOST_ROWS, _STREAM)
    explainer = lime(
        named_model(subject),
        part.x,
        n_samples=SAMPLES,
        categorical_features=[*subject.levels, *subject.binary] or None,
        random_state=subject.seed,
    )
    output = subject.prediction_text(said) if subject.classes else None
    found = explainer.explain(row, output=output, n_features=CONDITIONS)
    return {
        "method": "lime",
        "output": output,
        "unit": "probability" if subject.classes else "value",
        "base": float(found.intercept),
        "total": float(found.prediction),
        "fidelity": float(found.fidelity),
        "stability": None if found.stability is None else float(found.stability),
        "n_samples": SAMPLES,
        "columns": [
            {
                "name": subject.names[j],
                "value": subject.text(j, row[j]),
                "push": float(weight),
                "condition": _condition(subject, j, row[j], text),
            }
            for j, text, weight in sorted(
                zip(map(int, found.features), found.conditions, found.weights, strict=True),
                key=lambda item: -abs(item[2]),
            )
        ],
    }


def _condition(subject: ExplainedModel, column: int, value: float, text: str) -> str | None:
    """What is asked of a number, without the column's name: "> 3", "2 to 3"; None of others."""
    if subject.kind(column) != "numeric" or np.isnan(value):
        return None
    low, _, high = text.partition(subject.names[column])
    signs = {"<=": "\N{LESS-THAN OR EQUAL TO}", ">": ">", "<": "to"}
    words = [*low.split(), *high.split()]
    if low.strip():  # "2 < x <= 3"
        words = [words[0], "<", words[-1]]
    return " ".join(signs[word] if word in signs else _short(word) for word in words) or None


def _short(word: str) -> str:
    try:
        return plain(float(word))
    except ValueError:
        return word
