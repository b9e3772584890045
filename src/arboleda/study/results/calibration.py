"""Reliability of probabilities, and whether calibration improves them.

The best model's own probabilities and those of each calibration method are compared on rows that
neither the model nor the calibration has seen: in each fold of the study the model is fitted once,
and the calibration is fitted to its predictions for rows held out within that fold.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict
from sklearn.utils.metaestimators import available_if

from arboleda.metrics import ReliabilityTable, calibration_error, reliability_table
from arboleda.study.data.target import Target
from arboleda.study.data.time_splits import forward_folds
from arboleda.study.results.probabilities import are_probabilities
from arboleda.study.results.scoring import all_scores, class_scores

__all__ = [
    "AS_IT_IS",
    "BINS",
    "METHODS",
    "bins_of",
    "calibrated",
    "calibrated_scores",
    "inner_folds",
    "reliability",
    "reliability_of",
    "variants_of",
]

Floats = npt.NDArray[np.float64]
Response = Literal["decision_function", "predict_proba"]

AS_IT_IS = "none"
_SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
METHODS = ("sigmoid", "isotonic", *(("temperature",) if _SKLEARN >= (1, 8) else ()))
# Number of bins of equal width.
BINS = 10
# Each costs a fit; calibration has few parameters and needs no more rows.
INNER_FOLDS = 3
# Cost of calibration in fits to the same rows: the inner fits hold out a third each.
FITS = INNER_FOLDS
# Draws of labels from the probabilities, which give the distribution of the error by chance.
DRAWS = 200


class KnownScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose input matrix holds the scores of a fitted model."""

    def __init__(self, response: Response) -> None:
        self.response = response

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Store the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """Predict the class with the highest score."""
        at = (X[:, 0] > 0).astype(int) if X.shape[1] == 1 else X.argmax(axis=1)
        return np.asarray(self.classes_[at])

    @available_if(lambda self: self.response == "decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Floats) -> Floats:
        """Return the model's decision values."""
        return X[:, 0] if X.shape[1] == 1 else X

    @available_if(lambda self: self.response == "predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Floats) -> Floats:
        """Return the model's probabilities."""
        return X


def calibrated(
    pipeline: Any,
    x: Floats,
    y: npt.NDArray[Any],
    x_score: Floats,
    n_classes: int,
    folds: Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
) -> dict[str, Floats | None]:
    """Fit a model; return its and its calibrated variants' probabilities for the rows to score.

    ``folds`` are pairs of indices of the rows: the training and the held-out rows of inner folds.

    Returns
    -------
    probabilities : dict
        By "none" and each method, of shape (n_rows, n_classes); None where a model gives none.
    """
    # The order of preference of scikit-learn's calibration.
    response: Response = (
        "decision_function" if hasattr(pipeline, "decision_function") else "predict_proba"
    )
    held_out, known = _held_out(pipeline, x, y, response, folds)
    pipeline.fit(x, y)
    scores = _columns(getattr(pipeline, response)(x_score))
    own = class_scores(pipeline, x_score, n_classes)
    found: dict[str, Floats | None] = {
        AS_IT_IS: own if own is not None and are_probabilities(own) else None
    }
    return found | calibrated_scores(response, held_out, y[known], scores, n_classes)


def _held_out(
    pipeline: Any,
    x: Floats,
    y: npt.NDArray[Any],
    response: Response,
    folds: Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Return the scores of the rows that the folds hold out, and their indices."""
    places = np.concatenate([score for _, score in folds])
    if len(places) == len(y):
        scores = cross_val_predict(pipeline, x, y, cv=folds, method=response)
        return _columns(scores), np.arange(len(y))
    # The earliest rows of a time have none before them, and so are not held out.
    fitted = [clone(pipeline).fit(x[fit], y[fit]) for fit, _ in folds]
    parts = [getattr(f, response)(x[score]) for f, (_, score) in zip(fitted, folds, strict=True)]
    return np.concatenate([_columns(part) for part in parts]), places


def calibrated_scores(
    response: Response, held_out: Floats, y: npt.NDArray[Any], scores: Floats, n_classes: int
) -> dict[str, Floats | None]:
    """Calibrate scores by each method, fitted to the scores of held-out rows.

    Parameters
    ----------
    response : {"decision_function", "predict_proba"}
        The kind of scores.
    held_out : ndarray of shape (n_rows, n_columns)
        Scores of rows that the model was not fitted to, with the classes ``y``.
    y : ndarray of shape (n_rows,)
    scores : ndarray of shape (n_other_rows, n_columns)
        Scores to calibrate.
    n_classes : int
    """
    found: dict[str, Floats | None] = {}
    known = FrozenEstimator(KnownScores(response).fit(held_out, y))
    rows = np.arange(len(y))
    for method in METHODS:
        # A single "fold" of all rows: they are held-out rows already.
        variant = CalibratedClassifierCV(known, method=method, cv=[(rows, rows)])
        found[method] = class_scores(variant.fit(held_out, y), scores, n_classes)
    return found


def variants_of(
    found: Mapping[str, Floats | None],
    y: npt.NDArray[Any],
    target: Target,
    seed: int,
    *,
    is_test: bool,
    costs: Floats | None = None,
) -> dict[str, Any]:
    """Return the facts on each method's probabilities, if it has any."""
    return {
        method: {
            "metrics": all_scores(y, p.argmax(axis=1), p, len(target.labels), costs),
            "bins": bins_of(y, p, target),
            "reliability": reliability_of(y, p, target, seed) if is_test else None,
        }
        for method, p in found.items()
        if p is not None and np.all(np.isfinite(p))
    }


def inner_folds(
    y: npt.NDArray[Any],
    seed: int,
    groups: npt.NDArray[np.int64] | None = None,
    times: npt.NDArray[np.int64] | None = None,
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Return inner folds: stratified by class, with groups kept together, or forward in time.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class numbers.
    seed : int
    groups : ndarray of shape (n,), optional
        The group of each row.
    times : ndarray of shape (n,), optional
        The rank of each row's time. Rows are then predicted by models of earlier rows, the earliest
        rows not at all.

    Raises
    ------
    ValueError
        If no time window has rows of all classes before it, or these windows lack a class.
    """
    if groups is not None:
        by_group = StratifiedGroupKFold(INNER_FOLDS, shuffle=True, random_state=seed)
        return list(by_group.split(y, y, groups))
    if times is not None:
        n_classes = len(np.unique(y))
        folds = forward_folds(times, INNER_FOLDS) or []
        found = [(fit, score) for fit, score in folds if len(np.unique(y[fit])) == n_classes]
        scored = [y[score] for _, score in found]
        if not found or len(np.unique(np.concatenate(scored))) < n_classes:
            raise ValueError("rows of all classes are needed before others to calibrate by")
        return found
    by_class = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
    return list(by_class.split(y, y))


def _columns(scores: npt.NDArray[Any]) -> Floats:
    scores = np.asarray(scores, dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores


def reliability(y: npt.NDArray[Any], probabilities: Floats, target: Target) -> ReliabilityTable:
    """Compute the reliability of the positive class, or of the most probable of many classes."""
    return reliability_table(
        y,
        probabilities,
        labels=range(len(target.labels)),
        pos_label=1 if target.task == "binary" else None,
        n_bins=BINS,
    )


def reliability_of(
    y: npt.NDArray[Any], score: Floats | None, target: Target, seed: int
) -> dict[str, Any] | None:
    """Return the ``calibration`` part of a model's test; None if it has no probabilities."""
    if score is None or not are_probabilities(score):
        return None
    error = calibration_error(
        y,
        score,
        labels=range(len(target.labels)),
        of="classes" if target.task == "binary" else "top",
        n_bins=BINS,
        n_resamples=DRAWS,
        random_state=seed,
    )
    table = reliability(y, score, target)
    return {
        "error": error.value,
        "largest_by_chance": error.largest_by_chance,
        "level": error.confidence_level,
        "bins": [
            {
                "lower": lower,
                "upper": upper,
                "count": count,
                "mean_probability": mean,
                "frequency": frequency,
            }
            for lower, upper, count, mean, frequency in zip(
                table.lower.tolist(),
                table.upper.tolist(),
                table.counts.tolist(),
                table.mean_probability.tolist(),
                table.frequency.tolist(),
                strict=True,
            )
        ],
    }


def bins_of(y: npt.NDArray[Any], probabilities: Floats, target: Target) -> list[list[float]]:
    """Return each bin's number of rows, sum of probabilities, and number of events.

    These sums can be added over folds.
    """
    table = reliability(y, probabilities, target)
    sums = np.zeros((BINS, 3))
    at = np.rint(table.lower * BINS).astype(int)
    shares = np.column_stack([np.ones(len(at)), table.mean_probability, table.frequency])
    sums[at] = table.counts[:, None] * shares
    return [[float(value) for value in row] for row in sums]
