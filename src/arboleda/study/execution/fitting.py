"""Fitting of models to targets of every task, and their predictions of times and ranks."""

import inspect
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.tables.timed_target import RELEVANCE, convert_to_numbers

__all__ = ["fit_model", "fit_pipeline", "predict_curves"]

Floats = npt.NDArray[np.float64]


def fit_model(model: Any, x: Floats, y: npt.NDArray[Any]) -> None:
    """Fit a model: one of rankings with the queries, one of single rows to the relevance alone."""
    if y.dtype != RELEVANCE:
        model.fit(x, y)
    elif "qid" in inspect.signature(model.fit).parameters:
        model.fit(x, y["relevance"], qid=y["query"])
    else:
        model.fit(x, y["relevance"])


def fit_pipeline(pipeline: Any, x: Floats, y: npt.NDArray[Any]) -> None:
    """Fit the preparation of a pipeline and then its model."""
    preparation, model = pipeline["preparation"], pipeline["model"]
    if preparation != "passthrough":
        x = preparation.fit_transform(x, convert_to_numbers(y))
    fit_model(model, x, y)


def predict_curves(model: Any, x: Floats, times: npt.ArrayLike) -> Floats:
    """Predict the probability of no event up to each time.

    After the last training time, where a model knows nothing, curves keep their last value.

    Parameters
    ----------
    model : estimator with ``predict_survival_function``
    x : ndarray of shape (n_rows, n_columns)
    times : array-like of shape (n_times,)
        Ascending.

    Returns
    -------
    survival : ndarray of shape (n_rows, n_times)
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="times up to", category=UserWarning)
        curves = np.asarray(model.predict_survival_function(x, times), dtype=np.float64)
    # The smallest so far; NaN is ignored. A curve that is NaN from the first time on knows nothing.
    ended: Floats = np.fmin.accumulate(curves, axis=1)
    return np.where(np.isnan(ended), 1.0, ended)
