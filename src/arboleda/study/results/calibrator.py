"""Probabilities to decide by: a model's own, or calibrated by what it said of held-out rows.

The rows are those of the study's folds, each answered by a model that had not learned from it. What
is calibrated are logarithms of probabilities, or decision values: on that scale the identity is
among what the sigmoid (Platt 1999) and the temperature (Guo et al. 2017) can learn.
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

# More rows teach the few parameters nothing new.
MOST_ROWS = 20_000
# A class with fewer rows teaches nothing that lasts.
LEAST_ROWS = 10
# Decision values through the logistic function, where nothing could be learned.
LINK = "link"
_SMALLEST = np.finfo(np.float64).eps
_PURPOSE = 11

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Calibrator:
    """Makes probabilities of what a model says.

    Attributes
    ----------
    method : str
        "none": the model's own, "sigmoid", "isotonic" or "temperature", or "link".
    n_classes : int
    fitted : object
        What was learned, or None.
    of_probabilities : bool
        Whether the model says probabilities.
    """

    method: str
    n_classes: int
    fitted: Any = None
    of_probabilities: bool = True

    def probabilities(self, said: Predictions) -> Floats:
        """Probabilities of all classes, of shape (n, n_classes)."""
        if self.fitted is None or said.score is None:
            return said.probabilities(self.n_classes)
        return np.asarray(
            self.fitted.predict_proba(_values(said.score, self.of_probabilities)), dtype=np.float64
        )


def fit_calibrator(
    said: Predictions | None, y: npt.NDArray[np.int64], n_classes: int, seed: int
) -> Calibrator:
    """Choose a method by its log-loss on halves of the rows, learned from the others, and fit it.

    Parameters
    ----------
    said : Said or None
        What the model said of held-out rows; None: nothing is learned.
    y : ndarray of shape (n,)
        Their classes.
    n_classes : int
    seed : int
    """
    if said is None or said.score is None:
        return Calibrator(AS_IT_IS if said is None else LINK, n_classes)
    draw = np.random.default_rng([seed, _PURPOSE])
    rows = np.arange(len(y))
    if len(y) > MOST_ROWS:
        rows = np.sort(draw.choice(rows, MOST_ROWS, replace=False))
    score, truth = said.score[rows], y[rows]
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
        for learn, judge in halves:
            fitted = _fitted(method, values[learn], truth[learn])
            p[judge] = fitted.predict_proba(values[judge])
        losses[method] = _loss(p, truth)
    best = min(losses, key=lambda name: losses[name])
    if best == plain.method:
        return plain
    return Calibrator(best, n_classes, _fitted(best, values, truth), own)


def _values(score: Floats, of_probabilities: bool) -> Floats:
    """Values without bounds: decision values, or logarithms (of two classes: of the odds)."""
    if of_probabilities:
        inside = np.clip(score, _SMALLEST, 1 - _SMALLEST)
        return logit(inside[:, [1]]) if score.shape[1] == 2 else np.log(inside)
    return score[:, [1]] if score.shape[1] == 2 else score


def _fitted(method: str, values: Floats, y: npt.NDArray[np.int64]) -> Any:
    known = FrozenEstimator(KnownScores("decision_function").fit(values, y))
    rows = np.arange(len(y))
    # One "fold" of all rows: they were held out already.
    return CalibratedClassifierCV(known, method=method, cv=[(rows, rows)]).fit(values, y)


def _loss(p: Floats, y: npt.NDArray[np.int64]) -> float:
    return float(-np.mean(np.log(np.clip(p[np.arange(len(y)), y], _SMALLEST, 1.0))))
