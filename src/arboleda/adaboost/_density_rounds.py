"""Boosting rounds of AdaBoost.R: Freund and Schapire (1997), section 5.3, figure 5."""

from __future__ import annotations

import math

import numpy as np

from arboleda._engine.adaboost_regressor import TargetDensity
from arboleda.adaboost._round_protocols import Floats, Indices, MemberResult, RegressorFitter

# Errors up to this count as 0.
_ZERO_ERROR = 2.0**-52
# Smaller factors would make the weight of right predictions vanish in double precision.
_LEAST_KEPT = 1e-200


class DensityRounds:
    """AdaBoost.R rounds, with a density over the binary problems "is y_i at least v?".

    v runs over all values between the extreme targets. Targets are scaled to [0, 1]. The density of
    the first round gives predictions h the error ``sum D (h - y)^2 / (2 Z)``, with
    ``Z = sum D (y^2 + (1 - y)^2) / 2``. The errors e of all rounds bound the mean squared error of
    the weighted median: it is at most ``2 Z`` times the product of ``2 sqrt(e (1 - e))`` (theorem
    12). With a learning rate r below 1, right predictions keep the share ``beta^r`` of their
    weight, and the factor becomes ``(e + (1 - e) beta^r) / beta^(r/2)``.

    Parameters
    ----------
    target : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,)
        Rows of weight 0 have no density; the other targets span a finite range.
    learning_rate : float
    n_threads : int
    """

    def __init__(
        self, target: Floats, weight: Floats, learning_rate: float, n_threads: int
    ) -> None:
        able = weight > 0.0
        self.lowest, self.highest = float(target[able].min()), float(target[able].max())
        span = self.highest - self.lowest
        self._span = span if span > 0.0 else 1.0
        self._original_target = target
        self._total_sample_weight = float(weight.sum())
        self._weight = weight / weight.max()
        self._learning_rate = learning_rate
        self._n_threads = n_threads
        self._target = self._compute_shares(target)
        self.density = TargetDensity(self._target, self._weight)
        share = self._weight / self._weight.sum()
        square = self._target**2 + (1.0 - self._target) ** 2
        self._bound = float(share @ square)  # 2 Z, of targets between 0 and 1
        self._total_weight = 0.0  # of the members' weights
        self.bounds: list[float] = []

    def fit_member(self, fitter: RegressorFitter, random: np.random.RandomState) -> Floats:
        """Fit a member to the density."""
        fitter.start_member(random)
        return fitter.fit_to_density(self)

    def score_member(self, predictions: Floats) -> MemberResult:
        """Compute the weight of the last member and the density of the next round."""
        shares = self._compute_shares(predictions)
        error = float(self.density.error(shares, self._n_threads))
        if error <= _ZERO_ERROR:
            # Its weight is infinite in theory: it decides alone.
            squares = self._weight @ (shares - self._target) ** 2 / self._weight.sum()
            self._record_bound(float(squares))
            return MemberResult(1.0 + self._total_weight, error, ends=True)
        if error >= 0.5:
            self._record_bound(self._bound)
            return MemberResult(0.0, error, ends=True)
        beta = error / (1.0 - error)
        kept = beta**self._learning_rate
        if kept < _LEAST_KEPT:
            raise ValueError("The densities of the rows underflow: lower learning_rate.")
        weight = -self._learning_rate * math.log(beta)
        self._total_weight += weight
        self._bound *= (error + (1.0 - error) * kept) / math.sqrt(kept)
        self._record_bound(self._bound)
        self.density.reweigh(shares, kept, self._n_threads)
        return MemberResult(weight, error)

    def compute_leaf_values(self, leaf: Indices, n_leaves: int) -> Floats:
        """Compute the value of each leaf that minimizes the error of its rows."""
        shares = self.density.best_predictions(leaf.astype(np.uint32), n_leaves, self._n_threads)
        able = self._weight > 0.0
        least, most = np.full((2, n_leaves), [[np.inf], [-np.inf]])
        np.minimum.at(least, leaf[able], self._original_target[able])
        np.maximum.at(most, leaf[able], self._original_target[able])
        # A value lies within the targets of its leaf, and equals them where these are constant.
        return np.clip(self.lowest + self._span * shares, least, most)

    def row_weights(self) -> Floats:
        """Compute row weights for a least squares fit, which approximates the error.

        In the first round these are the sample weights.
        """
        weights = self.density.row_weights()
        scaled: Floats = weights * (self._total_sample_weight / weights.sum())
        return scaled

    def _record_bound(self, of_shares: float) -> None:
        """Store the bound in units of the targets; infinite if beyond float64."""
        self.bounds.append(self._span * (self._span * of_shares))

    def _compute_shares(self, values: Floats) -> Floats:
        """Clip values to the range of the targets and scale them to [0, 1]."""
        inside = np.clip(values, self.lowest, self.highest)
        return np.minimum((inside - self.lowest) / self._span, 1.0)
