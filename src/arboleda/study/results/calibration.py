"""Reliability of probabilities, and whether calibration improves them.

The best model's own probabilities and those of each calibration method are compared on rows that
neither the model nor the calibration has seen: in each fold of the study the model is fitted once,
and the calibration is fitted to its predictions for rows held out within that fold.

Probabilities for decisions are a model's own, or calibrated on out-of-fold predictions. That
calibration is fitted to logarithms of probabilities, or to decision values: on that scale the
sigmoid (Platt 1999) and the temperature (Guo et al. 2017) include the identity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt
import sklearn
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict
from sklearn.utils.metaestimators import available_if

from arboleda.scoring.row_losses import compute_log_losses
from arboleda.scoring.scores import Predictions, are_probabilities, class_scores
from arboleda.study.splitters import make_forward_folds

if TYPE_CHECKING:  # slow to load, and workers need no facts
    from arboleda.facts.model import CalibrationMethod, CalibratorMethod

__all__ = [
    "AS_IT_IS",
    "LINK",
    "METHODS",
    "Calibrator",
    "calibrate_scores",
    "calibrated",
    "fit_calibrator",
    "make_inner_folds",
]

Floats = npt.NDArray[np.float64]
Response = Literal["decision_function", "predict_proba"]
AS_IT_IS: Final = "none"
_SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
METHODS: "tuple[CalibrationMethod, ...]" = ("sigmoid", "isotonic")
if _SKLEARN >= (1, 8):
    METHODS = (*METHODS, "temperature")
# Each costs a fit; calibration has few parameters and needs no more rows.
INNER_FOLDS = 3
FITS = INNER_FOLDS  # cost in fits to the same rows: inner fits hold out a third each
MOST_ROWS = 20_000  # more rows do not improve the few parameters
LEAST_ROWS = 10  # a class with fewer rows is too small to calibrate on
# Decision values through the logistic function, if no method was fitted.
LINK: Final = "link"
_SMALLEST = np.finfo(np.float64).eps
_PURPOSE = 11


class KnownScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose input matrix holds the scores of a fitted model."""

    def __init__(self, response: Response) -> None:
        self.response = response

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Store the classes."""
        self.classes_: npt.NDArray[Any] = np.unique(y)
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
    held_out, known = _hold_out(pipeline, x, y, response, folds)
    pipeline.fit(x, y)
    scores = _columns(getattr(pipeline, response)(x_score))
    own = class_scores(pipeline, x_score, n_classes)
    found: dict[str, Floats | None] = {
        AS_IT_IS: own if own is not None and are_probabilities(own) else None
    }
    return found | calibrate_scores(response, held_out, y[known], scores, n_classes)


def _hold_out(
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


def calibrate_scores(
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


def make_inner_folds(
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
        folds = make_forward_folds(times, INNER_FOLDS) or []
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


@dataclass(frozen=True)
class Calibrator:
    """Turns a model's outputs into probabilities.

    Attributes
    ----------
    method : str
        "none": the model's own, "sigmoid", "isotonic" or "temperature", or "link".
    n_classes : int
    fitted : object
        The fitted calibration, or None.
    of_probabilities : bool
        Whether the model predicts probabilities.
    """

    method: "CalibratorMethod"
    n_classes: int
    fitted: Any = None
    of_probabilities: bool = True

    def probabilities(self, predictions: Predictions) -> Floats:
        """Return probabilities of all classes, of shape (n, n_classes)."""
        if self.fitted is None or predictions.score is None:
            return predictions.probabilities(self.n_classes)
        values = _unbounded(predictions.score, self.of_probabilities)
        return np.asarray(self.fitted.predict_proba(values), dtype=np.float64)


def fit_calibrator(
    predictions: Predictions | None, y: npt.NDArray[np.int64], n_classes: int, seed: int
) -> Calibrator:
    """Choose a method by two-fold cross-validated log-loss, and fit it.

    Parameters
    ----------
    predictions : Predictions or None
        The model's predictions for held-out rows; None: no method is fitted.
    y : ndarray of shape (n,)
        Their classes.
    n_classes : int
    seed : int
    """
    if predictions is None or predictions.score is None:
        return Calibrator(AS_IT_IS if predictions is None else LINK, n_classes)
    draw = np.random.default_rng([seed, _PURPOSE])
    rows = np.arange(len(y))
    if len(y) > MOST_ROWS:
        rows = np.sort(draw.choice(rows, MOST_ROWS, replace=False))
    score, truth = predictions.score[rows], y[rows]
    own = are_probabilities(score)
    plain = Calibrator(AS_IT_IS if own else LINK, n_classes)
    known = np.bincount(truth, minlength=n_classes)
    if known.min() < LEAST_ROWS or np.isneginf(score).any():
        return plain
    losses: dict[CalibratorMethod, float] = {
        plain.method: _mean_log_loss(plain.probabilities(Predictions(truth, score)), truth)
    }
    halves = list(StratifiedKFold(2, shuffle=True, random_state=seed).split(score, truth))
    values = _unbounded(score, own)
    for method in METHODS:
        p = np.empty((len(truth), n_classes))
        for learn, held_out in halves:
            fitted = _fit_method(method, values[learn], truth[learn])
            p[held_out] = fitted.predict_proba(values[held_out])
        losses[method] = _mean_log_loss(p, truth)
    best = min(losses, key=lambda name: losses[name])
    if best == plain.method:
        return plain
    return Calibrator(best, n_classes, _fit_method(best, values, truth), own)


def _unbounded(score: Floats, of_probabilities: bool) -> Floats:
    """Return unbounded values: decision values, or log-probabilities (log-odds of two classes)."""
    if of_probabilities:
        inside = np.clip(score, _SMALLEST, 1 - _SMALLEST)
        return logit(inside[:, [1]]) if score.shape[1] == 2 else np.log(inside)
    return score[:, [1]] if score.shape[1] == 2 else score


def _fit_method(method: str, values: Floats, y: npt.NDArray[np.int64]) -> Any:
    known = FrozenEstimator(KnownScores("decision_function").fit(values, y))
    rows = np.arange(len(y))
    # A single "fold" of all rows: they are held-out rows already.
    return CalibratedClassifierCV(known, method=method, cv=[(rows, rows)]).fit(values, y)


def _mean_log_loss(p: Floats, y: npt.NDArray[np.int64]) -> float:
    return float(np.mean(compute_log_losses(y, p)))
