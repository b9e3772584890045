"""Probabilities for decisions: a model's own, or calibrated on out-of-fold predictions.

Calibration is fitted to logarithms of probabilities, or to decision values: on that scale the
sigmoid (Platt 1999) and the temperature (Guo et al. 2017) include the identity.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold

from arboleda.study.execution.prediction_store import Predictions
from arboleda.study.results.calibration import AS_IT_IS, METHODS, KnownScores
from arboleda.study.results.probabilities import are_probabilities

__all__ = ["LINK", "Calibrator", "fit_calibrator"]

# More rows do not improve the few parameters.
MOST_ROWS = 20_000
# A class with fewer rows is too small to calibrate on.
LEAST_ROWS = 10
# Decision values through the logistic function, if no method was fitted.
LINK = "link"
_SMALLEST = np.finfo(np.float64).eps
_PURPOSE = 11

Floats = npt.NDArray[np.float64]


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

    method: str
    n_classes: int
    fitted: Any = None
    of_probabilities: bool = True

    def probabilities(self, predictions: Predictions) -> Floats:
        """Return probabilities of all classes, of shape (n, n_classes)."""
        if self.fitted is None or predictions.score is None:
            return predictions.probabilities(self.n_classes)
        values = _values(predictions.score, self.of_probabilities)
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
    losses = {plain.method: _loss(plain.probabilities(Predictions(truth, score)), truth)}
    halves = list(StratifiedKFold(2, shuffle=True, random_state=seed).split(score, truth))
    values = _values(score, own)
    for method in METHODS:
        p = np.empty((len(truth), n_classes))
        for learn, held_out in halves:
            fitted = _fit_method(method, values[learn], truth[learn])
            p[held_out] = fitted.predict_proba(values[held_out])
        losses[method] = _loss(p, truth)
    best = min(losses, key=lambda name: losses[name])
    if best == plain.method:
        return plain
    return Calibrator(best, n_classes, _fit_method(best, values, truth), own)


def _values(score: Floats, of_probabilities: bool) -> Floats:
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


def _loss(p: Floats, y: npt.NDArray[np.int64]) -> float:
    return float(-np.mean(np.log(np.clip(p[np.arange(len(y)), y], _SMALLEST, 1.0))))
