"""The model that gradient boosting with exact trees begins from."""

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


def fitted_init(init: Any, rows: Rows, *, classify: bool) -> Any:
    """Return a clone of an estimator, fitted on the rows to learn from.

    Classes are 0, 1, .. for it.

    Raises
    ------
    ValueError
        If it takes no sample weights, and there are some.
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


def initial_scores(model: Any, X: Any, n_rows: int, loss: Loss) -> Floats:
    """Raw scores (n_rows, n_outputs) of the initial model: "zero", or a fitted estimator.

    Raises
    ------
    ValueError
        If it predicts what has no raw score: something not positive where scores are logarithms.
    """
    if isinstance(model, str):  # "zero"
        return np.zeros((n_rows, loss.n_outputs))
    scores = loss.scores(model.predict_proba(X) if is_classifier(model) else model.predict(X))
    bad = ~np.isfinite(scores)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        raise ValueError(
            f"init predicts a value for row {row} that loss={loss.name!r} has no raw score for: it "
            "needs predictions that are positive and finite"
        )
    return np.ascontiguousarray(scores)


class InitField:
    """How a model file holds the initial model: none, or "zero"; an estimator cannot be held."""

    def encode(self, name: str, value: Any, sections: Sections) -> str | None:
        """Return it."""
        if value is None or isinstance(value, str):
            return value
        raise TypeError(
            f"it is a {type(value).__name__}, and a model file holds no other estimators; pickle "
            "the model, or fit with init=None"
        )

    def decode(self, name: str, stored: Any, sections: Sections) -> str | None:
        """Return it, checked."""
        if stored is None or stored == "zero":
            return "zero" if stored else None
        raise ModelFormatError(f"{name} is neither null nor 'zero'")
