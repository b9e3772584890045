"""Instructive test rows, correlated columns, and rows outside the training range."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from arboleda.study.results.explained_model import ExplainedModel, Floats

__all__ = ["count_rows_beyond_training", "find_correlated_columns", "find_instructive_rows"]

TOGETHER = 0.9
MOST_COMPARED = 200
MOST_ROWS = 5_000
N_WRONG = 3
_STREAM = 17


def find_instructive_rows(subject: ExplainedModel) -> list[dict[str, Any]]:
    """Select test rows: the most confident errors, an uncertain row and a confident one."""
    test = subject.test
    if not len(test.x):
        return []
    predictions = subject.predict(test.x)
    if not subject.classes:
        off = np.abs(predictions - test.y)
        order = np.argsort(-off, kind="stable")
        chosen = [(int(i), "off") for i in order[:N_WRONG]]
        middle = int(np.argsort(off, kind="stable")[len(off) // 2])
        return [
            _describe_row(subject, i, why, predictions, None)
            for i, why in [*chosen, (middle, "middle")]
        ]
    wrong, right = (
        np.flatnonzero((predictions == test.y) == is_right) for is_right in (False, True)
    )
    if not subject.predicts_probabilities:
        chosen = [(int(i), "wrong") for i in wrong[:N_WRONG]] + [
            (int(i), "right") for i in right[:1]
        ]
        return [_describe_row(subject, i, why, predictions, None) for i, why in chosen]
    confidence = subject.outputs(test.x).max(axis=1)
    order = wrong[np.argsort(-confidence[wrong], kind="stable")]
    chosen = [(int(i), "surely_wrong") for i in order[:N_WRONG]]
    least = int(np.argmin(confidence))
    if least not in order[:N_WRONG]:
        chosen.append((least, "unsure"))
    if len(right):
        chosen.append((int(right[np.argmax(confidence[right])]), "surely_right"))
    return [_describe_row(subject, i, why, predictions, confidence) for i, why in chosen]


def _describe_row(
    subject: ExplainedModel, at: int, why: str, predictions: Floats, confidence: Floats | None
) -> dict[str, Any]:
    return {
        "row": int(subject.test.numbers[at]) + 1,
        "why": why,
        "truth": subject.prediction_text(float(subject.test.y[at])),
        "said": subject.prediction_text(float(predictions[at])),
        "probability": None if confidence is None else float(confidence[at]),
    }


def find_correlated_columns(subject: ExplainedModel) -> list[dict[str, Any]]:
    """Find pairs of numeric columns with high rank correlation, the strongest first."""
    part = subject.draw(subject.train, MOST_ROWS, _STREAM)
    columns = [j for j in range(len(subject.names)) if subject.kind(j) == "numeric"]
    ranks, used = [], []
    for j in columns[:MOST_COMPARED]:
        values = part.x[:, j]
        values = (
            np.where(np.isnan(values), np.nanmedian(values), values)
            if (np.isfinite(values).any())
            else np.zeros(len(values))
        )
        rank = rankdata(values) - (len(values) + 1) / 2
        length = float(np.sqrt(rank @ rank))
        if length:
            ranks.append(rank / length)
            used.append(j)
    if len(used) < 2:
        return []
    together = np.array(ranks) @ np.array(ranks).T
    one, other = np.nonzero(np.triu(np.abs(together) >= TOGETHER, 1))
    strength = together[one, other]
    return [
        {
            "columns": [subject.names[used[one[i]]], subject.names[used[other[i]]]],
            "correlation": float(np.clip(strength[i], -1, 1)),
        }
        for i in np.argsort(-np.abs(strength), kind="stable")
    ]


def count_rows_beyond_training(subject: ExplainedModel) -> dict[str, Any]:
    """Count test rows outside the range of the training rows, with the most frequent column."""
    columns = [j for j in range(len(subject.names)) if subject.kind(j) == "numeric"]
    seen, tested = subject.train.x[:, columns], subject.test.x[:, columns]
    known = np.isfinite(seen).any(axis=0)
    low = np.where(np.isnan(seen), np.inf, seen).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(seen), -np.inf, seen).max(axis=0, initial=-np.inf)
    out = ((tested < low) | (tested > high)) & known
    n_rows = int(out.any(axis=1).sum())
    return {
        "n_rows": n_rows,
        "n_test": len(tested),
        "column": subject.names[columns[int(out.sum(axis=0).argmax())]] if n_rows else None,
    }
