"""Posterior probabilities of models.

References
----------
J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky (1999), "Bayesian model averaging: a
tutorial", Statistical Science 14, 382-417.
A. E. Raftery (1995), "Bayesian model selection in social research", Sociological Methodology 25.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

__all__ = [
    "bic",
    "class_log_likelihood",
    "count_parameters",
    "gaussian_log_likelihood",
    "posterior",
    "spread",
]

Floats = npt.NDArray[np.float64]
# Smallest probability of a class: a row that a member considers impossible all but excludes the
# member, but its likelihood stays finite.
_LEAST = float(np.finfo(np.float64).eps)


def class_log_likelihood(outputs: Floats, target: npt.NDArray[Any], weight: Floats) -> Floats:
    """Compute the log-likelihood of each member: sum_i w_i log p_l(y_i).

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_classes)
    target : ndarray of shape (n_rows,)
        Class numbers.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.

    Returns
    -------
    log_likelihood : ndarray of shape (n_members,)
    """
    right = outputs[:, np.arange(len(target)), target]
    return np.asarray((weight * np.log(np.clip(right, _LEAST, 1.0))).sum(axis=1))


def spread(outputs: Floats, target: Floats, weight: Floats) -> Floats:
    """Compute the mean squared error of each member: its variance of maximum likelihood."""
    return np.asarray((weight * (outputs - target) ** 2).sum(axis=1) / weight.sum())


def gaussian_log_likelihood(variance: Floats, total_weight: float) -> Floats:
    """Compute the log-likelihood of normal errors with their variance of maximum likelihood.

    sum_i w_i log N(y_i; f(x_i), v) at v = sum_i w_i (y_i - f(x_i))^2 / n is -n/2 (log(2 pi v) + 1).

    Parameters
    ----------
    variance : ndarray of shape (n_members,)
    total_weight : float
        The weighted number n of rows.
    """
    # The likelihood of a member without any error would be infinite, and its posterior NaN.
    least = np.finfo(np.float64).tiny
    return np.asarray(-0.5 * total_weight * (np.log(2 * np.pi * np.maximum(variance, least)) + 1))


def bic(log_likelihood: Floats, n_parameters: Floats, total_weight: float) -> Floats:
    """Compute the Bayesian information criterion, -2 log L + d log n; smaller is better."""
    return np.asarray(-2 * log_likelihood + n_parameters * np.log(total_weight))


def posterior(log_evidence: Floats, prior: Floats) -> Floats:
    """Compute P(h_l | S), proportional to exp(log evidence_l) prior_l (Hoeting et al., eq. 2).

    Examples
    --------
    >>> import numpy as np
    >>> posterior(np.array([-1000.0, -1000.0 - np.log(3)]), np.array([0.5, 0.5])).round(6)
    array([0.75, 0.25])
    """
    with np.errstate(divide="ignore"):  # a zero prior stays zero
        return np.asarray(softmax(log_evidence + np.log(prior)))


def count_parameters(name: str, member: Any, n_classes: int | None) -> int:
    """Count the free parameters of a fitted model.

    For linear models these are the coefficients and intercepts (if each of K classes has a score,
    K - 1 scores are free), for Gaussian naive Bayes the means, variances and priors, for trees the
    values of the leaves.

    Parameters
    ----------
    name : str
    member : estimator
        Fitted; for a pipeline, the last step counts.
    n_classes : int or None

    Raises
    ------
    ValueError
        If the model is of any other kind.
    """
    model = member.steps[-1][1] if hasattr(member, "steps") else member
    n_values = 1 if n_classes is None else n_classes - 1
    if hasattr(model, "coef_") and not hasattr(model, "support_vectors_"):
        size = np.size(model.coef_) + np.size(getattr(model, "intercept_", 0.0))
        n_scores = np.atleast_2d(model.coef_).shape[0]
        return size if n_scores <= n_values else size * n_values // n_scores
    if hasattr(model, "theta_") and hasattr(model, "var_"):
        return int(np.size(model.theta_) + np.size(model.var_) + n_values)
    if hasattr(model, "get_n_leaves"):
        return int(model.get_n_leaves()) * n_values
    raise ValueError(
        f"the number of parameters of the member {name!r}, a {type(model).__name__}, is not known: "
        f"set n_parameters={{{name!r}: ...}} or criterion='held_out'"
    )
