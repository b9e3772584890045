"""The initial model of gradient boosting with exact trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from arboleda._errors import ModelFormatError
from arboleda.boosting._losses import Loss
from arboleda.boosting._rows import Rows

if TYPE_CHECKING:
    from arboleda.persist._fields import Sections

Floats = npt.NDArray[np.float64]


def fit_init(init: Any, rows: Rows, *, classify: bool) -> Any:
    """Return a clone of an estimator, fitted to the training rows, with classes as 0, 1, ...

    Raises
    ------
    ValueError
        If sample weights are given and the estimator does not support them.
    """
    X = _safe_indexing(rows.X, rows.numbers)
    y = rows.targets.astype(np.intp) if classify else rows.targets
    model = clone(init)
    if rows.weights is None:
        return model.fit(X, y)
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"The initial estimator {type(model).__name__} does not support sample weights: choose "
            "another init, or fit without sample_weight"
        )
    return model.fit(X, y, sample_weight=rows.weights)


def compute_initial_scores(model: Any, X: Any, n_rows: int, loss: Loss) -> Floats:
    """Return the raw scores of the initial model: "zero", or a fitted estimator.

    Raises
    ------
    ValueError
        If a prediction has no raw score, such as one that is not positive where scores are
        logarithms.
    """
    if isinstance(model, str):  # "zero"
        return np.zeros((n_rows, loss.n_outputs))
    scores = loss.scores(model.predict_proba(X) if is_classifier(model) else model.predict(X))
    bad = ~np.isfinite(scores)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        raise ValueError(
            f"the prediction of init for row {row} has no raw score with loss={loss.name!r}: "
            "predictions of init must be positive and finite"
        )
    return np.ascontiguousarray(scores)


class InitField:
    """Field of model files for the initial model: null or "zero"; estimators cannot be saved."""

    def encode(self, name: str, value: Any, sections: Sections) -> str | None:
        """Return the stored value."""
        if value is None or isinstance(value, str):
            return value
        raise TypeError(
            f"it is a {type(value).__name__}, and a model file cannot hold other estimators; "
            "pickle the model, or fit with init=None"
        )

    def decode(self, name: str, stored: Any, sections: Sections) -> str | None:
        """Check and return the initial model."""
        if stored is None or stored == "zero":
            return "zero" if stored else None
        raise ModelFormatError(f"{name} is neither null nor 'zero'")
