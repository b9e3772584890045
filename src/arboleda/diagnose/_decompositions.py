r"""The parts of an expected error, from the answers of models fitted on several training sets.

With f_S(x) the answer of the model of training set S, f(x) its mean over the sets and y(x) the
expected target, the expected squared error at x is

    E (f_S - y)^2 = noise + bias^2 + variance = Var y + (f - y(x))^2 + E (f_S - f)^2

(Geman, Bienenstock, Doursat 1992). Of B sets, the variance is estimated with B - 1, and
variance / B, by which the mean of B answers varies itself, is taken off the squared bias: both are
unbiased then, and still add up.

For 0-1 loss Domingos (2000) calls the most frequent answer at x the main one, m, and the most
probable class the best one, b. The loss of m against b is the bias, that of an answer a against m
the variance, that of b against the class c the noise; and

    E loss = c1 noise + bias + c2 variance
    c1 = P(a = b) - P(a != b) P(a = c | a != b, c != b)
    c2 = 1 where m = b, else -P(a = b | a != m)

so where the main answer is wrong, varying helps. Here the terms are given as they are added.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


class Parts(NamedTuple):
    """Error at each point, and the terms that add up to what is expected of it."""

    error: Floats
    noise: Floats
    bias: Floats
    variance: Floats


def squared_parts(answers: Floats, targets: Floats, truth: Floats | None) -> Parts:
    """Decompose the squared error.

    Parameters
    ----------
    answers : ndarray of shape (n_sets, n_points)
    targets : ndarray of shape (n_points,)
        Targets as observed.
    truth : ndarray of shape (n_points,) or None
        Expected targets. None: noise is not told apart, and the bias holds it.
    """
    error = ((answers - targets) ** 2).mean(axis=0)
    expected = targets if truth is None else truth
    variance = answers.var(axis=0, ddof=1)
    bias = (answers.mean(axis=0) - expected) ** 2 - variance / len(answers)
    return Parts(error, (targets - expected) ** 2, bias, variance)


def zero_one_parts(answers: Integers, targets: Integers, chances: Floats) -> Parts:
    """Decompose the share of wrong answers.

    Parameters
    ----------
    answers : ndarray of shape (n_sets, n_points)
        Classes as numbers.
    targets : ndarray of shape (n_points,)
        Classes as observed.
    chances : ndarray of shape (n_points, n_classes)
        Probability of each class.
    """
    points = np.arange(len(targets))
    shares = np.stack([(answers == k).mean(axis=0) for k in range(chances.shape[1])], axis=1)
    best = chances.argmax(axis=1)
    is_best = shares[points, best]
    biased = shares.argmax(axis=1) != best
    expected = 1 - (shares * chances).sum(axis=1)
    return Parts(
        error=1 - shares[points, targets],
        noise=expected - (1 - is_best),
        bias=biased.astype(np.float64),
        variance=np.where(biased, -is_best, 1 - is_best),
    )


def certain(targets: Integers, n_classes: int) -> Floats:
    """Return the probabilities of classes that are known for certain."""
    return np.eye(n_classes)[targets]


def checked_truth(truth: Any, n_points: int, n_classes: int | None) -> Floats:
    """Return expected targets, or the probabilities of the classes, as an array of its shape."""
    found = np.asarray(truth, dtype=np.float64)
    shape = (n_points,) if n_classes is None else (n_points, n_classes)
    if found.shape != shape:
        what = "the expected target" if n_classes is None else "the probability of each class"
        raise ValueError(f"truth must hold {what} of each point, shape {shape}; got {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError("truth holds NaN or infinity")
    if n_classes is not None and not (
        (found >= 0).all() and np.allclose(found.sum(axis=1), 1, atol=1e-6)
    ):
        raise ValueError("truth must hold probabilities: none below 0, each row adding up to 1")
    return found
