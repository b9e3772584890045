"""Rounds of AdaBoost.R2: Drucker (1997), "Improving regressors using boosting techniques"."""

from __future__ import annotations

from typing import Literal

import numpy as np

from arboleda.adaboost._round_protocols import Floats, MemberResult, RegressorFitter

Loss = Literal["linear", "square", "exponential"]

_SMALLEST = np.finfo(np.float64).eps


class DrawnRounds:
    """AdaBoost.R2 rounds, which update the probabilities of drawing rows.

    The loss of a row is its absolute error as a share of the largest one, the square of that share,
    or ``1 - exp(-share)``. The error of a member is the mean loss, weighted by the probabilities. A
    probability is multiplied by ``beta^(1 - loss)``, with ``beta = error / (1 - error)``.

    Random draws and the order of operations equal those of scikit-learn.

    Parameters
    ----------
    target : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,)
        Rows of weight 0 are never drawn.
    loss : {"linear", "square", "exponential"}
    learning_rate : float
    """

    def __init__(self, target: Floats, weight: Floats, loss: Loss, learning_rate: float) -> None:
        self._target = target
        self._probability = weight / weight.sum()
        self._able = weight > 0.0
        self._loss = loss
        self._learning_rate = learning_rate

    def fit_member(self, fitter: RegressorFitter, random: np.random.RandomState) -> Floats:
        """Fit a member on drawn rows."""
        probability = np.where(self._able, np.maximum(self._probability, _SMALLEST), 0.0)
        self._probability = probability
        fitter.start_member(random)
        n_rows = len(probability)
        return fitter.fit_on_drawn_rows(
            random.choice(n_rows, size=n_rows, replace=True, p=probability)
        )

    def score_member(self, predictions: Floats) -> MemberResult:
        """Compute the weight of the last member and the probabilities of the next round."""
        loss = self._compute_losses(np.abs(predictions - self._target)[self._able])
        probability = self._probability[self._able]
        error = float((probability * loss).sum())
        if error <= 0.0:
            return MemberResult(1.0, 0.0, ends=True)
        if error >= 0.5:
            return MemberResult(0.0, error, ends=True)
        beta = error / (1.0 - error)
        probability *= np.power(beta, (1.0 - loss) * self._learning_rate)
        self._probability[self._able] = probability
        total = self._probability.sum()
        weight = float(self._learning_rate * np.log(1.0 / beta))
        if total <= 0.0:
            return MemberResult(weight, error, ends=True)
        self._probability /= total
        return MemberResult(weight, error)

    def _compute_losses(self, distance: Floats) -> Floats:
        largest = distance.max()
        if largest > 0.0:
            distance /= largest
        if self._loss == "square":
            return distance**2
        if self._loss == "exponential":
            return 1.0 - np.exp(-distance)
        return distance
