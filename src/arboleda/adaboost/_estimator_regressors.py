"""Members that are clones of any regressor, fitted one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from arboleda._engine.adaboost_regressor import RunningMedians
from arboleda.adaboost._density_rounds import DensityRounds
from arboleda.adaboost._round_protocols import Floats, Indices
from arboleda.bagging._members import set_random_states
from arboleda.bagging._routing import takes_weight
from arboleda.bagging._tables import checked_table, resolve_row_count, rows_of


@dataclass(frozen=True, eq=False)
class EstimatorRegressors:
    """Fitted regressors and their weights."""

    members: Sequence[Any]
    weights: Floats

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.members)

    def checked(self, ensemble: Any, X: Any) -> Any:
        """Validate a table for the members."""
        return checked_table(ensemble, X, reset=False)

    @property
    def estimators(self) -> Sequence[Any]:
        """The members."""
        return self.members

    def iter_predictions(self, X: Any, n_threads: int) -> Iterator[Floats]:
        """Yield the predictions of each member."""
        for member in self.members:
            yield predict_finite(member, X)

    def medians(self, X: Any, n_threads: int) -> Floats:
        """Compute the weighted median of the predictions."""
        running = RunningMedians(resolve_row_count(X))
        for predictions, weight in zip(
            self.iter_predictions(X, n_threads), self.weights, strict=True
        ):
            running.add(predictions, weight, n_threads)
        return running.medians(n_threads)

    def importances(self) -> Floats:
        """Compute the feature importances of each member."""
        return np.array([member.feature_importances_ for member in self.members])


def predict_finite(member: Any, X: Any) -> Floats:
    """Predict with one member, which must return one finite number per row."""
    predictions = np.asarray(member.predict(X), dtype=np.float64)
    if predictions.ndim == 2 and predictions.shape[1] == 1:
        predictions = predictions[:, 0]
    if predictions.shape != (resolve_row_count(X),) or not np.isfinite(predictions).all():
        raise ValueError(
            f"{type(member).__name__} predicted an array of shape {predictions.shape} with "
            f"{np.count_nonzero(~np.isfinite(predictions))} infinite or missing values: members "
            "must predict one finite number per row."
        )
    return np.ascontiguousarray(predictions)


class EstimatorFitter:
    """Fitter of clones of a regressor.

    Parameters
    ----------
    template : estimator
    X : array, frame or sparse matrix
    target : ndarray of shape (n_samples,)
    """

    def __init__(self, template: Any, X: Any, target: Floats) -> None:
        self._template = template
        self._X = X
        self._target = target
        self._members: list[Any] = []
        self._random = np.random.RandomState(0)

    def start_member(self, random: np.random.RandomState) -> None:
        """Create a clone with its own random seeds."""
        member = clone(self._template)
        set_random_states(member, random)
        self._members.append(member)
        self._random = random

    def fit_on_drawn_rows(self, drawn: Indices) -> Floats:
        """Fit the member on drawn rows, with repeats, and return its predictions for all rows."""
        member = self._members[-1]
        member.fit(rows_of(self._X, drawn), self._target[drawn])
        return predict_finite(member, self._X)

    def fit_to_density(self, rounds: DensityRounds) -> Floats:
        """Fit the member by weighted least squares, or on drawn rows if it takes no weights."""
        weight = rounds.row_weights()
        if not takes_weight(self._template):
            n_rows = len(weight)
            return self.fit_on_drawn_rows(
                self._random.choice(n_rows, size=n_rows, p=weight / weight.sum())
            )
        X, target = self._X, self._target
        if not weight.all():
            able = np.flatnonzero(weight)
            X, target, weight = rows_of(X, able), target[able], weight[able]
        member = self._members[-1]
        member.fit(X, target, sample_weight=weight)
        return predict_finite(member, self._X)

    def collect_members(self, weights: Floats) -> EstimatorRegressors:
        """Return the first members, one for each weight."""
        return EstimatorRegressors(self._members[: len(weights)], weights)
