"""Predict classes and scores of rows, in one pass if the classes follow from the scores."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from arboleda.bagging import BaggingClassifier, RandomSubspaceClassifier
from arboleda.forest import ExtraTreesClassifier, RandomForestClassifier
from arboleda.scoring.scores import Predictions, class_scores
from arboleda.study.execution.fitting import predict_curves

__all__ = ["predict_once"]

# Their `predict` returns the class with the largest of `predict_proba`, the first of equal ones;
# that of other classifiers may differ by rounding.
_BY_PROBABILITY = (
    BaggingClassifier,
    CalibratedClassifierCV,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomSubspaceClassifier,
)


def predict_once(
    model: Any,
    parts: Iterable[npt.NDArray[np.float64]],
    n_classes: int,
    times: Sequence[float] = (),
) -> tuple[Predictions, float]:
    """Predict numbers of classes and their scores, or values; ``n_classes``: 0 without classes.

    The predictions are those of ``model.predict``. Where they are known from the probabilities, the
    rows pass through the model once: predicting costs some models more than fitting.

    Parameters
    ----------
    model : estimator
    parts : iterable of ndarray
        The rows, one part after the other.
    n_classes : int
    times : sequence of float
        Those of survival curves, which are then the scores.

    Returns
    -------
    predictions : Predictions
    seconds : float
        The time of one pass, with that of making the parts.
    """
    by_probability = n_classes > 0 and _predicts_by_probability(model)
    predicted, scores, seconds = [], [], 0.0
    started = time.perf_counter()
    for x in parts:
        score = class_scores(model, x, n_classes) if by_probability else None
        predicted.append(model.predict(x) if score is None else score.argmax(axis=1))
        seconds += time.perf_counter() - started
        if n_classes and not by_probability:
            score = class_scores(model, x, n_classes)
        if times:
            score = predict_curves(model, x, times)
        if score is not None:
            scores.append(score)
        started = time.perf_counter()
    all_scores = np.concatenate(scores) if scores else None
    return Predictions(np.concatenate(predicted), all_scores), seconds


def _predicts_by_probability(model: Any) -> bool:
    final = model[-1] if isinstance(model, Pipeline) else model
    if isinstance(final, KNeighborsClassifier):
        # Weighted votes are summed in another order.
        return bool(final.weights == "uniform")
    return isinstance(final, _BY_PROBABILITY)
