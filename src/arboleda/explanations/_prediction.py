"""What the model says of a row, and how often it was right where it was about as sure."""

from typing import Any

import numpy as np

from arboleda.study.results.explained_model import ExplainedModel, Floats, RowSubset

__all__ = ["describe_prediction"]

# Test rows that count as "about as sure": a tenth of them, but not fewer than this.
NEAR_SHARE, FEWEST_NEAR = 0.1, 50


def describe_prediction(subject: ExplainedModel, row: Floats, own: int | None) -> dict[str, Any]:
    """The answer, the probabilities of classes beside their shares, and how good such answers are.

    Parameters
    ----------
    subject : Subject
    row : array of shape (n_columns,)
        A row of the matrix.
    own : int or None
        The number of the row, if it is one of the study's, which does not judge itself.
    """
    test = subject.test.some(np.flatnonzero(subject.test.numbers != own))
    answer = float(subject.predict(row[None, :])[0])
    found: dict[str, Any] = {
        "answer": subject.prediction_text(answer),
        "probabilities": None,
        "mean": None,
        "similar": None,
        "errors": None,
    }
    if not subject.classes:
        found["mean"] = float(subject.train.y.mean())
        found["errors"] = _errors(subject, test)
    else:
        said = subject.outputs(row[None, :])[0]
        found["similar"] = _similar(subject, test, int(answer), float(said[int(answer)]))
    if subject.predicts_probabilities:
        shares = np.bincount(subject.train.y, minlength=len(subject.labels)) / len(subject.train.y)
        found["probabilities"] = [
            {"label": subject.labels[k], "probability": float(said[k]), "share": float(shares[k])}
            for k in np.argsort(-said, kind="stable")
        ]
    return found


def _errors(subject: ExplainedModel, test: RowSubset) -> dict[str, float] | None:
    """Half of the test rows, and nine tenths of them, are off by less than this."""
    if not len(test.x):
        return None
    off = np.abs(subject.predict(test.x) - test.y)
    half, most = np.quantile(off, [0.5, 0.9])
    return {"median": float(half), "most": float(most), "n_rows": len(off)}


def _similar(
    subject: ExplainedModel, test: RowSubset, answer: int, said: float
) -> dict[str, Any] | None:
    """Of the test rows given this class about as surely: how many are of it."""
    same = test.some(np.flatnonzero(subject.predict(test.x) == answer))
    if len(same.x) < FEWEST_NEAR:
        return None
    if not subject.predicts_probabilities:
        n_right = int(np.sum(same.y == answer))
        return {"n_rows": len(same.x), "n_right": n_right, "low": None, "high": None}
    sure = subject.outputs(same.x)[:, answer]
    wanted = max(FEWEST_NEAR, round(NEAR_SHARE * len(test.x)))
    near = np.argsort(np.abs(sure - said), kind="stable")[:wanted]
    return {
        "n_rows": len(near),
        "n_right": int(np.sum(same.y[near] == answer)),
        "low": float(sure[near].min()),
        "high": float(sure[near].max()),
    }
