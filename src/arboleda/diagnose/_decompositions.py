r"""Decomposition of the expected error of models fitted on several training sets.

With f_S(x) the prediction of the model of training set S, f(x) its mean over the sets and y(x) the
expected target, the expected squared error at x is

    E (f_S - y)^2 = noise + bias^2 + variance = Var y + (f - y(x))^2 + E (f_S - f)^2

(Geman, Bienenstock, Doursat 1992). With B sets, the variance is estimated with the divisor B - 1,
and variance / B, the variance of the mean of B predictions, is subtracted from the squared bias, so
that both estimates are unbiased and the sum is unchanged.

For 0-1 loss, Domingos (2000) defines the main prediction m at x as the most frequent one, and the
best prediction b as the most probable class. The bias is the loss of m against b, the variance the
loss of a prediction a against m, the noise the loss of b against the class c, and

    E loss = c1 noise + bias + c2 variance
    c1 = P(a = b) - P(a != b) P(a = c | a != b, c != b)
    c2 = 1 where m = b, else -P(a = b | a != m)

so variance reduces the error where the main prediction is wrong. The functions return the terms
with their coefficients.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


class ErrorTerms(NamedTuple):
    """Error at each point, and the terms whose sum is the expected error."""

    error: Floats
    noise: Floats
    bias: Floats
    variance: Floats


def decompose_squared_error(
    predictions: Floats, targets: Floats, truth: Floats | None
) -> ErrorTerms:
    """Decompose the squared error.

    Parameters
    ----------
    predictions : ndarray of shape (n_sets, n_points)
    targets : ndarray of shape (n_points,)
        Observed targets.
    truth : ndarray of shape (n_points,) or None
        Expected targets. None: the noise is included in the bias.
    """
    error = ((predictions - targets) ** 2).mean(axis=0)
    expected = targets if truth is None else truth
    variance = predictions.var(axis=0, ddof=1)
    bias = (predictions.mean(axis=0) - expected) ** 2 - variance / len(predictions)
    return ErrorTerms(error, (targets - expected) ** 2, bias, variance)


def decompose_zero_one_loss(
    predictions: Integers, targets: Integers, chances: Floats
) -> ErrorTerms:
    """Decompose the share of wrong predictions.

    Parameters
    ----------
    predictions : ndarray of shape (n_sets, n_points)
        Predicted class numbers.
    targets : ndarray of shape (n_points,)
        Observed class numbers.
    chances : ndarray of shape (n_points, n_classes)
        Probability of each class.
    """
    points = np.arange(len(targets))
    shares = np.stack([(predictions == k).mean(axis=0) for k in range(chances.shape[1])], axis=1)
    best = chances.argmax(axis=1)
    is_best = shares[points, best]
    biased = shares.argmax(axis=1) != best
    expected = 1 - (shares * chances).sum(axis=1)
    return ErrorTerms(
        error=1 - shares[points, targets],
        noise=expected - (1 - is_best),
        bias=biased.astype(np.float64),
        variance=np.where(biased, -is_best, 1 - is_best),
    )


def one_hot_probabilities(targets: Integers, n_classes: int) -> Floats:
    """Return class probabilities of 1 for the targets and 0 for other classes."""
    return np.eye(n_classes)[targets]


def check_truth(truth: Any, n_points: int, n_classes: int | None) -> Floats:
    """Check expected targets or class probabilities, and return them as an array."""
    values = np.asarray(truth, dtype=np.float64)
    shape = (n_points,) if n_classes is None else (n_points, n_classes)
    if values.shape != shape:
        what = "the expected target" if n_classes is None else "the probability of each class"
        raise ValueError(f"truth must hold {what} of each point, shape {shape}; got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("truth holds NaN or infinity")
    if n_classes is not None and not (
        (values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-6)
    ):
        raise ValueError("truth must hold probabilities: non-negative, with sum 1 in each row")
    return values
