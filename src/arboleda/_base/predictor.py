"""Fast prediction of single rows."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.row_predictor import RowPredictor, RowReader

Floats = npt.NDArray[np.float64]


class RowPredictorMixin:
    """Mixin with the method `predictor` for estimators whose trees are in the engine."""

    @abstractmethod
    def _row_predictor(self) -> RowPredictor:
        """Return the engine's predictor of raw outputs for single rows."""

    @abstractmethod
    def _decode_predictions(self, raw: Floats) -> Any:
        """Convert raw outputs to predictions."""

    def _decode_probabilities(self, raw: Floats) -> Any:
        """Convert raw outputs to a classifier's probabilities."""
        raise NotImplementedError

    def _category_numbers(self) -> Mapping[int, Floats]:
        """Return the numeric codes of categorical levels for trees without categorical splits."""
        return {}

    def _row_extension(self) -> Callable[[list[float]], list[float]] | None:
        """Return a function that appends the columns that only the trees read, if there are any."""
        return None

    def predictor(self) -> Predictor:
        """Create a predictor of single rows from the fitted model.

        The checks and preparations of `predict` are done only once.

        Returns
        -------
        predictor : Predictor
            Its predictions are bitwise identical to `predict` and `predict_proba`. It does not
            change if the model is refitted.

        Raises
        ------
        ValueError
            If the engine does not hold the whole model: it starts from another estimator, or its
            members are not trees.

        Examples
        --------
        >>> from arboleda import HistGradientBoostingRegressor
        >>> model = HistGradientBoostingRegressor().fit([[0.0], [1.0]] * 40, [0.0, 1.0] * 40)
        >>> predictor = model.predictor()
        >>> bool(predictor.predict([1.0]) == model.predict([[1.0]])[0])
        True
        """
        check_is_fitted(self)
        return Predictor(copy.copy(self))


class Predictor:
    """A fitted model that predicts one row at a time, within microseconds.

    Created by a model's method ``predictor()``. The model is validated once, and predicting a row
    only allocates the output. It can be shared by threads.

    Parameters
    ----------
    model : estimator
        A fitted estimator that is not modified elsewhere.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[20, 1.6], [40, 1.8]], ["no", "yes"])
    >>> predictor = tree.predictor()
    >>> str(predictor([35, 1.7]))
    'yes'
    >>> predictor.predict_proba([35, 1.7]).tolist()
    [0.0, 1.0]
    """

    def __init__(self, model: RowPredictorMixin) -> None:
        self._model = model
        self._is_classifier = is_classifier(model)  # which takes as long as a small model
        self._reader = RowReader(
            model, model._row_predictor(), model._category_numbers(), model._row_extension()
        )

    def predict(self, row: Any) -> Any:
        """Predict like the model's `predict` for a table with only this row.

        Parameters
        ----------
        row : sequence, ndarray of shape (n_features,), or mapping
            Values of the columns in their order, or by name (a dict or a Series) if the columns
            have names. NaN is missing, a category is a label.

        Returns
        -------
        y : scalar, or ndarray of shape (n_outputs,)

        Raises
        ------
        ValueError, TypeError
            If the columns of the row differ from those of the model, or a value is infinite or has
            the wrong type.
        """
        return self._model._decode_predictions(self._reader.raw(row))[0]

    __call__ = predict

    def predict_proba(self, row: Any) -> Any:
        """Predict probabilities like the model's `predict_proba` for a table with only this row.

        Parameters
        ----------
        row : sequence, ndarray of shape (n_features,), or mapping
            As in `predict`.

        Returns
        -------
        p : ndarray of shape (n_classes,), or list of n_outputs such arrays

        Raises
        ------
        AttributeError
            If the model is not a classifier.
        ValueError, TypeError
            As `predict`.
        """
        if not self._is_classifier:
            raise AttributeError(
                f"a {type(self._model).__name__} predicts values, not probabilities: call predict"
            )
        shares = self._model._decode_probabilities(self._reader.raw(row))
        return [part[0] for part in shares] if isinstance(shares, list) else shares[0]

    def __repr__(self) -> str:
        """Return a description with the model."""
        return f"Predictor of {self._model!r}"
