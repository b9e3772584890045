"""A model made ready to answer row by row."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.row_reader import RowReader

Floats = npt.NDArray[np.float64]


class PredictsRows:
    """`predictor` for estimators whose trees the engine has."""

    @abstractmethod
    def _row_predictor(self) -> RowPredictor:
        """Return what gives raw answers row by row."""

    @abstractmethod
    def _decode_predictions(self, raw: Floats) -> Any:
        """Return predictions, given raw answers."""

    def _decode_probabilities(self, raw: Floats) -> Any:
        """Return a classifier's probabilities, given raw answers."""
        raise NotImplementedError

    def _category_numbers(self) -> Mapping[int, Floats]:
        """Of categorical columns that trees know by numbers: those of each level, and of none."""
        return {}

    def predictor(self) -> Predictor:
        """Make the fitted model ready to answer row by row.

        What every call of `predict` checks and prepares is done once, here.

        Returns
        -------
        predictor : Predictor
            Its answers have the bits of `predict` and `predict_proba`. It does not change when the
            model is fitted again.

        Raises
        ------
        ValueError
            If the engine does not have the whole model: it begins from another estimator, or its
            members are no trees.

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
    """A fitted model that answers one row at a time, within microseconds.

    Made by a model's method ``predictor()``. The model is read and checked once; for a row the
    engine takes no memory but that of the answer. It may be shared by threads.

    Parameters
    ----------
    model : estimator
        A fitted one, which nobody else changes.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[20, 1.6], [40, 1.8]], ["no", "yes"])
    >>> ask = tree.predictor()
    >>> str(ask([35, 1.7]))
    'yes'
    >>> ask.predict_proba([35, 1.7]).tolist()
    [0.0, 1.0]
    """

    def __init__(self, model: PredictsRows) -> None:
        self._model = model
        self._asker = RowReader(model, model._row_predictor(), model._category_numbers())

    def predict(self, row: Any) -> Any:
        """Answer as `predict` of the model does for a table of this row.

        Parameters
        ----------
        row : sequence, ndarray of shape (n_features,), or mapping
            Values of the columns in their order; or by name, if the model knows names: a dict, or a
            Series. NaN is missing, a category is a label.

        Returns
        -------
        y : scalar, or ndarray of shape (n_outputs,)

        Raises
        ------
        ValueError, TypeError
            If the row has other columns than the model, or a value that no table may have: an
            infinite one, or one of a wrong kind.
        """
        return self._model._decode_predictions(self._asker.raw(row))[0]

    __call__ = predict

    def predict_proba(self, row: Any) -> Any:
        """Answer as `predict_proba` of the model does for a table of this row.

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
            If the model is no classifier.
        ValueError, TypeError
            As `predict`.
        """
        if not is_classifier(self._model):
            raise AttributeError(
                f"a {type(self._model).__name__} predicts values, not probabilities: call predict"
            )
        shares = self._model._decode_probabilities(self._asker.raw(row))
        return [part[0] for part in shares] if isinstance(shares, list) else shares[0]

    def __repr__(self) -> str:
        """Name the model."""
        return f"Predictor of {self._model!r}"
