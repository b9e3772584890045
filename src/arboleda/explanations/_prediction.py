"""The prediction of a row, and the accuracy of the model on similar predictions."""

from typing import Any

import numpy as np

from arboleda.study.results.explained_model import ExplainedModel, Floats, RowSubset

__all__ = ["describe_prediction"]

# Test rows of similar confidence: a tenth of them, but not fewer than this.
NEAR_SHARE, FEWEST_NEAR = 0.1, 50


def describe_prediction(subject: ExplainedModel, row: Floats, own: int | None) -> dict[str, Any]:
    """Describe the prediction, class probabilities and shares, and the typical errors.

    Parameters
    ----------
    subject : ExplainedModel
    row : array of shape (n_columns,)
        A row of the matrix.
    own : int or None
        Number of the row if it belongs to the study; it is excluded from the comparison.
    """
    test = subject.test.some(np.flatnonzero(subject.test.numbers != own))
    predicted = float(subject.predict(row[None, :])[0])
    result: dict[str, Any] = {
        "answer": subject.prediction_text(predicted),
        "probabilities": None,
        "mean": None,
        "similar": None,
        "errors": None,
    }
    if not subject.classes:
        result["mean"] = float(subject.train.y.mean())
        result["errors"] = _compute_errors(subject, test)
    else:
        output = subject.outputs(row[None, :])[0]
        result["similar"] = _count_similar(
            subject, test, int(predicted), float(output[int(predicted)])
        )
    if subject.predicts_probabilities:
        shares = np.bincount(subject.train.y, minlength=len(subject.labels)) / len(subject.train.y)
        result["probabilities"] = [
            {"label": subject.labels[k], "probability": float(output[k]), "share": float(shares[k])}
            for k in np.argsort(-output, kind="stable")
        ]
    return result


def _compute_errors(subject: ExplainedModel, test: RowSubset) -> dict[str, float] | None:
    """Return the median and the 0.9 quantile of the absolute errors on the test rows."""
    if not len(test.x):
        return None
    off = np.abs(subject.predict(test.x) - test.y)
    half, most = np.quantile(off, [0.5, 0.9])
    return {"median": float(half), "most": float(most), "n_rows": len(off)}


def _count_similar(
    subject: ExplainedModel, test: RowSubset, predicted: int, output: float
) -> dict[str, Any] | None:
    """Count the test rows predicted as this class with similar confidence, and the correct ones."""
    same = test.some(np.flatnonzero(subject.predict(test.x) == predicted))
    if len(same.x) < FEWEST_NEAR:
        return None
    if not subject.predicts_probabilities:
        n_right = int(np.sum(same.y == predicted))
        return {"n_rows": len(same.x), "n_right": n_right, "low": None, "high": None}
    confidence = subject.outputs(same.x)[:, predicted]
    wanted = max(FEWEST_NEAR, round(NEAR_SHARE * len(test.x)))
    near = np.argsort(np.abs(confidence - output), kind="stable")[:wanted]
    return {
        "n_rows": len(near),
        "n_right": int(np.sum(same.y[near] == predicted)),
        "low": float(confidence[near].min()),
        "high": float(confidence[near].max()),
    }
