"""Whether probabilities can be trusted, and whether calibrating them helps.

The best model's own probabilities and those of each method of calibration are compared on rows that
neither the model nor the calibration has seen: within each fold of the study the model is fitted
once, and what calibrates it is learned from its predictions of rows held out within that fold.
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
# Of the probabilities' range, in parts of equal width.
BINS = 10
# Each costs a fit; what calibrates has few parameters and needs no more rows.
INNER_FOLDS = 3
# How many fits of the same rows it costs: those of the folds hold out a third each.
FITS = INNER_FOLDS
# Draws of labels by the probabilities themselves, which tell what chance makes of the error.
DRAWS = 200


class KnownScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose scores are the table it is given: what a fitted model said of the rows."""

    def __init__(self, response: Response) -> None:
        self.response = response

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Learn what the classes are."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """The class with the highest score."""
        at = (X[:, 0] > 0).astype(int) if X.shape[1] == 1 else X.argmax(axis=1)
        return np.asarray(self.classes_[at])

    @available_if(lambda self: self.response == "decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Floats) -> Floats:
        """What the model's decision function said."""
        return X[:, 0] if X.shape[1] == 1 else X

    @available_if(lambda self: self.response == "predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Floats) -> Floats:
        """The probabilities that the model said."""
        return X


def calibrated(
    pipeline: Any,
    x: Floats,
    y: npt.NDArray[Any],
    x_score: Floats,
    n_classes: int,
    folds: Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
) -> dict[str, Floats | None]:
    """Fit a model, and give what it and its calibrated variants say of the rows to score.

    ``folds``, of places among the rows, tell which of them are held out together, and which of the
    others tell of them.

    Returns
    -------
    probabilities : dict
        By "none" and each method, of shape (n_rows, n_classes); None where a model gives none.
    """
    # The order in which scikit-learn looks for what to calibrate.
    response: Response = (
        "decision_function" if hasattr(pipeline, "decision_function") else "predict_proba"
    )
    held_out, known = _held_out(pipeline, x, y, response, folds)
    pipeline.fit(x, y)
    said = _columns(getattr(pipeline, response)(x_score))
    own = class_scores(pipeline, x_score, n_classes)
    found: dict[str, Floats | None] = {
        AS_IT_IS: own if own is not None and are_probabilities(own) else None
    }
    return found | calibrated_scores(response, held_out, y[known], said, n_classes)


def _held_out(
    pipeline: Any,
    x: Floats,
    y: npt.NDArray[Any],
    response: Response,
    folds: Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Scores of the rows that the folds hold out, and their places."""
    places = np.concatenate([score for _, score in folds])
    if len(places) == len(y):
        said = cross_val_predict(pipeline, x, y, cv=folds, method=response)
        return _columns(said), np.arange(len(y))
    # The earliest rows of a time have none before them, and so are not held out.
    fitted = [clone(pipeline).fit(x[fit], y[fit]) for fit, _ in folds]
    parts = [getattr(f, response)(x[score]) for f, (_, score) in zip(fitted, folds, strict=True)]
    return np.concatenate([_columns(part) for part in parts]), places


def calibrated_scores(
    response: Response, held_out: Floats, y: npt.NDArray[Any], said: Floats, n_classes: int
) -> dict[str, Floats | None]:
    """What each method makes of scores, by what it learns from those of rows held out.

    Parameters
    ----------
    response : {"decision_function", "predict_proba"}
        What the scores are.
    held_out : ndarray of shape (n_rows, n_columns)
        Scores of rows that the model did not learn from, whose classes are ``y``.
    y : ndarray of shape (n_rows,)
    said : ndarray of shape (n_other_rows, n_columns)
        Scores that are calibrated.
    n_classes : int
    """
    found: dict[str, Floats | None] = {}
    known = FrozenEstimator(KnownScores(response).fit(held_out, y))
    rows = np.arange(len(y))
    for method in METHODS:
        # One "fold" of all rows: they were held out already.
        variant = CalibratedClassifierCV(known, method=method, cv=[(rows, rows)])
        found[method] = class_scores(variant.fit(held_out, y), said, n_classes)
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
    """What is told of each method's probabilities, where it gives any."""
    return {
        method: {
            "metrics": all_scores(y, said.argmax(axis=1), said, len(target.labels), costs),
            "bins": bins_of(y, said, target),
            "reliability": reliability_of(y, said, target, seed) if is_test else None,
        }
        for method, said in found.items()
        if said is not None and np.all(np.isfinite(said))
    }


def inner_folds(
    y: npt.NDArray[Any],
    seed: int,
    groups: npt.NDArray[np.int64] | None = None,
    times: npt.NDArray[np.int64] | None = None,
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Folds of the rows that a model is fitted on: by class, groups together, or forward in time.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class numbers.
    seed : int
    groups : ndarray of shape (n,), optional
        The group of each row.
    times : ndarray of shape (n,), optional
        The rank of each row's time. Rows are then held out by models of earlier ones, the earliest
        not at all.

    Raises
    ------
    ValueError
        If no window of time has rows of all classes before it, or a class has no row in these.
    """
    if groups is not None:
        by_group = StratifiedGroupKFold(INNER_FOLDS, shuffle=True, random_state=seed)
        return list(by_group.split(y, y, groups))
    if times is not None:
        n_classes = len(np.unique(y))
        folds = forward_folds(times, INNER_FOLDS) or []
        found = [(fit, score) for fit, score in folds if len(np.unique(y[fit])) == n_classes]
        judged = [y[score] for _, score in found]
        if not found or len(np.unique(np.concatenate(judged))) < n_classes:
            raise ValueError("rows of all classes are needed before others to calibrate by")
        return found
    by_class = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
    return list(by_class.split(y, y))


def _columns(scores: npt.NDArray[Any]) -> Floats:
    scores = np.asarray(scores, dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores


def reliability(y: npt.NDArray[Any], probabilities: Floats, target: Target) -> ReliabilityTable:
    """The reliability of what is judged: the positive class, or of many the most probable one."""
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
    """The ``calibration`` part of a model's test; None if it gives no probabilities."""
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
            {"lower": lower, "upper": upper, "count": count, "said": said, "happened": happened}
            for lower, upper, count, said, happened in zip(
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
    """For each bin its rows, the sum of what was said, and how often it happened: sums that add up.

    The folds' sums, added, are those of all rows.
    """
    table = reliability(y, probabilities, target)
    sums = np.zeros((BINS, 3))
    at = np.rint(table.lower * BINS).astype(int)
    shares = np.column_stack([np.ones(len(at)), table.mean_probability, table.frequency])
    sums[at] = table.counts[:, None] * shares
    return [[float(value) for value in row] for row in sums]
