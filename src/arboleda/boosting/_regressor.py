"""Base of the gradient boosting regressors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_pinball_score, r2_score
from sklearn.utils import Tags, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_y

from arboleda._staged_scores import StagedScores
from arboleda.boosting._boosting import Array, Boosting, Floats
from arboleda.boosting._losses import REGRESSION, CustomLoss, Loss, regression_loss

RegressionLoss = Literal[
    "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"
]


class BoostingRegressor(StagedScores, RegressorMixin, Boosting):  # type: ignore[misc]
    """Encoding of numeric targets, and predictions of means, medians or quantiles."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Boosting._parameter_constraints,
        "loss": [StrOptions(set(REGRESSION)), callable],
        "power": [Interval(Real, 1.0, 2.0, closed="neither")],
    }

    loss: str | CustomLoss
    power: float

    @abstractmethod
    def _read_quantile_levels(self) -> tuple[float, ...]:
        """Return the levels of the quantile loss; empty for other losses."""

    @abstractmethod
    def _huber_alpha(self) -> float:
        """Return the quantile of the absolute errors above which the Huber loss is linear."""

    def _encode_target(self, y: Array) -> Floats:
        y = _check_y(y, y_numeric=True, estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {y.dtype}: convert dates and durations to numbers first"
            )
        return np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)

    def _encode_new_target(self, y: Array) -> Floats:
        return self._encode_target(y)

    def _decode_target(self, target: Floats) -> Array:
        return target

    def _compute_row_weight(self, target: Floats, weight: Floats | None) -> Floats | None:
        return weight

    def _make_loss(self) -> Loss:
        return regression_loss(
            self.loss, self._read_quantile_levels(), self._huber_alpha(), self.power
        )

    # Predictions

    def _as_predictions(self, raw: Floats) -> Floats:
        predictions = self.loss_.predictions(raw)
        return predictions[:, 0] if predictions.shape[1] == 1 else predictions

    def _decode_predictions(self, raw: Floats) -> Floats:
        return self._as_predictions(raw)

    def predict(self, X: Any) -> Floats:
        """Predict the mean, median or quantiles, depending on the loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_quantiles)
            One column per quantile if there are several, in the order given; quantiles do not
            cross.
        """
        return self._as_predictions(self._raw_scores(X))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_quantiles)
        """
        return map(self._as_predictions, self._staged_raw_scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, R2.

        For several quantiles, the score is the mean of their D2 pinball scores: the relative
        reduction of the pinball loss compared to the constant quantile of y (Koenker and Machado
        1999).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            The best value is 1.
        """
        return self._compute_score(y, self.predict(X), sample_weight)

    def _compute_score(self, y: Any, predictions: Floats, sample_weight: Any) -> float:
        if predictions.ndim == 1:
            return float(r2_score(y, predictions, sample_weight=sample_weight))
        scores = [
            d2_pinball_score(y, column, sample_weight=sample_weight, alpha=level)
            for level, column in zip(self.loss_.levels, predictions.T, strict=True)
        ]
        return float(np.mean(scores))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in {"poisson", "gamma", "tweedie"}
        return tags
