"""The prediction of a row with its errors, and conformal sets and intervals."""

from typing import Any

import numpy as np

from arboleda.study.data.describe import histogram
from arboleda.study.results.explained_model import ExplainedModel, Floats, RowSubset

__all__ = ["LEVEL", "describe_coverage", "describe_prediction", "describe_range"]

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


LEVEL = 0.9
# With fewer rows, a tenth of them is too few to calibrate on.
FEWEST_ROWS = 20
BINS = 20
_STREAM = 13


def describe_range(subject: ExplainedModel, row: Floats, own: int | None) -> dict[str, Any] | None:
    """Compute the set of classes, or the interval, with a coverage of nine in ten.

    It is calibrated on the test rows (except the row itself), which the model has not seen. None
    for a model without probabilities, or with too few test rows.
    """
    part = subject.test.some(np.flatnonzero(subject.test.numbers != own))
    if not _is_possible(subject, len(part.x)):
        return None
    result: dict[str, Any] = {"level": LEVEL, "n_rows": len(part.x), "set": None, "interval": None}
    if subject.classes:
        inside = _compute_sets(subject, part, row[None, :])[0]
        result["set"] = [
            label for label, is_in in zip(subject.labels, inside, strict=True) if is_in
        ]
    else:
        low, high = _compute_intervals(subject, part, row[None, :])
        result["interval"] = [float(low[0]), float(high[0])]
    return result


def describe_coverage(subject: ExplainedModel) -> dict[str, Any] | None:
    """Estimate the coverage of sets or intervals, each half of the test rows with the other."""
    n_rows = len(subject.test.x)
    if not _is_possible(subject, n_rows // 2):
        return None
    order = np.random.default_rng([subject.seed, _STREAM]).permutation(n_rows)
    halves = [subject.test.some(np.sort(order[: n_rows // 2])),
              subject.test.some(np.sort(order[n_rows // 2 :]))]  # fmt: skip
    pairs = [(halves[0], halves[1]), (halves[1], halves[0])]
    result: dict[str, Any] = {"level": LEVEL, "n_rows": n_rows}
    if subject.classes:
        sets = [
            (_compute_sets(subject, calibration, validation.x), validation.y)
            for calibration, validation in pairs
        ]
        held = [inside[np.arange(len(y)), y] for inside, y in sets]
        sizes = np.concatenate([inside.sum(axis=1) for inside, _ in sets])
        counts = np.bincount(sizes, minlength=2).tolist()
        return result | {
            "coverage": float(np.mean(np.concatenate(held))),
            "sizes": counts,
            "mean_size": float(sizes.mean()),
            "mean_width": None,
            "target_width": None,
            "widths": None,
        }
    ends = [
        (*_compute_intervals(subject, calibration, validation.x), validation.y)
        for calibration, validation in pairs
    ]
    held = [(low <= y) & (y <= high) for low, high, y in ends]
    widths = np.concatenate([high - low for low, high, _ in ends])
    tenth, last = np.quantile(subject.train.y, [0.1, 0.9])
    return result | {
        "coverage": float(np.mean(np.concatenate(held))),
        "sizes": None,
        "mean_size": None,
        "mean_width": float(widths.mean()),
        "target_width": float(last - tenth),
        "widths": histogram(widths, BINS) if len(np.unique(widths.round(12))) > 2 else None,
    }


def _is_possible(subject: ExplainedModel, n_rows: int) -> bool:
    return n_rows >= FEWEST_ROWS and (subject.predicts_probabilities or not subject.classes)


def _compute_sets(subject: ExplainedModel, part: RowSubset, x: Floats) -> Any:
    from arboleda.explain import prediction_set

    predictor = prediction_set(subject.pipeline, calibration=(part.x, part.y), coverage=LEVEL)
    result = predictor.predict(x)
    inside = np.zeros((len(x), len(subject.labels)), dtype=bool)
    inside[:, np.asarray(result.classes, dtype=np.int64)] = result.contains
    return inside


def _compute_intervals(
    subject: ExplainedModel, part: RowSubset, x: Floats
) -> tuple[Floats, Floats]:
    from arboleda.explain import prediction_interval

    predictor = prediction_interval(subject.pipeline, calibration=(part.x, part.y), coverage=LEVEL)
    result = predictor.predict(x)
    return result.lower, result.upper
