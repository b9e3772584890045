"""Base class of boosted regressors: weighted medians, and bounds of the training error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import StagedScores
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._base.predictor import RowPredictorMixin
from arboleda._engine.adaboost import RunningMedians
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.row_predictor import RowPredictor
from arboleda.adaboost._regressor_members import BoostedTrees, EstimatorRegressors
from arboleda.adaboost._regressor_rounds import Floats
from arboleda.persist import SavedModel


class BoostedRegressor(
    NamesOtherParameters,
    SavedModel,
    RowPredictorMixin,
    StagedScores,
    RegressorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base class of regressors that predict the weighted median of their members."""

    n_jobs: int | None
    _members: EstimatorRegressors | BoostedTrees
    _bounds: Floats  # of the training error; empty unless algorithm="R"
    _range: Floats  # smallest and largest prediction

    def predict(self, X: Any) -> Floats:
        """Predict the weighted median of the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        table = self._checked(X)
        return self._members.medians(table, resolve_threads(table, self.n_jobs)).clip(*self._range)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        table = self._checked(X)
        n_threads = resolve_n_jobs(self.n_jobs)
        running = None
        predictions = self._members.iter_predictions(table, n_threads)
        for values, weight in zip(predictions, self.estimator_weights_.tolist(), strict=True):
            running = RunningMedians(len(values)) if running is None else running
            running.add(values, weight, n_threads)
            yield running.medians(n_threads).clip(*self._range)

    def _row_predictor(self) -> RowPredictor:
        if not isinstance(self._members, BoostedTrees):
            raise ValueError(  # noqa: TRY004 - a matter of state
                f"The members of this {type(self).__name__} are not arboleda trees, so it has no "
                "row predictor: call predict."
            )
        return self._members.row_predictor()

    def _decode_predictions(self, raw: Floats) -> Floats:
        return raw[:, 0].clip(*self._range)

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._members.checked(self, X)

    def _fitted(self) -> EstimatorRegressors | BoostedTrees:
        if not hasattr(self, "_members"):
            raise AttributeError(f"{type(self).__name__} is not fitted yet: call fit first.")
        return self._members

    @property
    def estimators_(self) -> Sequence[Any]:
        """The fitted members."""
        return self._fitted().estimators

    @property
    def estimator_weights_(self) -> Floats:
        """Weights of the members in the median."""
        return self._fitted().weights

    @property
    def training_error_bound_(self) -> Floats:
        """Upper bound of the mean squared error on the training rows after each round."""
        self._fitted()
        if not self._bounds.size:
            raise AttributeError(
                "algorithm='R2' has no bound of the training error: use algorithm='R'."
            )
        return self._bounds

    @property
    def best_iteration_(self) -> int:
        """Number of rounds of the fitted model: with early stopping, those up to the best."""
        return len(self._fitted())

    @property
    def feature_importances_(self) -> Floats:
        """Mean feature importances of the members, weighted by their weights."""
        shares = self._fitted().importances()
        weights = self.estimator_weights_
        # A single member may have the weight 0.
        importances: Floats = np.average(shares, axis=0, weights=weights if weights.any() else None)
        return importances

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self._fitted())

    def __getitem__(self, number: int) -> Any:
        """Return a fitted member."""
        return self.estimators_[number]
