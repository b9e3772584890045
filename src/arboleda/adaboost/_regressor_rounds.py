"""Boosting rounds of regressors: AdaBoost.R and AdaBoost.R2."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._base.folds import hold_out
from arboleda._engine.adaboost import RunningMedians, TargetDensity

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class MemberResult(NamedTuple):
    """Weight and error of a member, and whether boosting ends with it.

    A weight of 0 means that the member is useless: its error is 1/2 or more.
    """

    weight: float
    error: float
    ends: bool = False


class RegressorFitter(Protocol):
    """Fitter of members, which it keeps."""

    def start_member(self, random: np.random.RandomState) -> None:
        """Create a member with its own random seeds."""

    def fit_on_drawn_rows(self, drawn: Indices) -> Floats:
        """Fit the member on drawn rows, with repeats, and return its predictions for all rows."""

    def fit_to_density(self, rounds: DensityRounds) -> Floats:
        """Fit the member to minimize the error under a density; return predictions for all rows."""


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


class MedianValidation:
    """Mean squared error on held-out rows after each round.

    Parameters
    ----------
    rows : ndarray of int
        Indices of the held-out rows.
    target, weight : ndarray of shape (n_samples,)
        Targets and weights of all rows.
    patience : int
        Number of rounds without a smaller error after which boosting stops.
    """

    def __init__(self, rows: Indices, target: Floats, weight: Floats, patience: int) -> None:
        self._rows = rows
        self._target = target[rows]
        self._share = weight[rows] / weight[rows].sum()
        self._patience = patience
        self._medians = RunningMedians(len(rows))
        self._errors: list[float] = []

    def record(self, predictions: Floats, weight: float, n_threads: int) -> bool:
        """Add a member's predictions for all rows; return True if boosting should stop."""
        self._medians.add(predictions[self._rows], weight, n_threads)
        predicted = self._medians.medians(n_threads)
        self._errors.append(float(self._share @ (predicted - self._target) ** 2))
        return len(self._errors) - self.best_round >= self._patience

    @property
    def best_round(self) -> int:
        """Smallest number of rounds with the lowest error."""
        return int(np.argmin(self._errors)) + 1


def holdout_split(
    target: Floats,
    weight: Floats,
    fraction: float,
    patience: int,
    random: np.random.RandomState,
) -> tuple[Floats, MedianValidation]:
    """Return weights that are 0 for the held-out rows, and the validation of these."""
    able = np.flatnonzero(weight)
    seed = int(random.randint(np.iinfo(np.int32).max))
    training_rows, validation_rows = hold_out(fraction, target, able, stratify=False, seed=seed)
    rest = np.zeros_like(weight)
    rest[training_rows] = weight[training_rows]
    return rest, MedianValidation(validation_rows, target, weight, patience)
