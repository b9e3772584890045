"""Bounds of the test error of boosted votes, up to unspecified constants of the theorems."""

from __future__ import annotations

import math
from numbers import Integral, Real

__all__ = ["margin_bound", "vc_bound"]


def vc_bound(training_error: float, *, n_samples: int, n_rounds: int, vc_dimension: int) -> float:
    """Bound the test error of AdaBoost by its training error and the VC dimension of its members.

    With high probability the test error is at most

        training_error + O~(sqrt(d L / N))

    for L members of VC dimension d and N training rows. The theorem does not specify the constant
    and the logarithmic factors, which are set to 1 here, so the value is not a guarantee: it shows
    how the bound depends on d, L and N. It grows with the number of rounds, in contrast to the
    observed error of AdaBoost and to `margin_bound`. For data of usual size, both are above 1.

    Parameters
    ----------
    training_error : float
        Share of the training rows that the ensemble misclassifies, from 0 to 1.
    n_samples : int
        Number N of training rows.
    n_rounds : int
        Number L of members.
    vc_dimension : int
        VC dimension d of the class of members. For decision stumps on one numeric column it is 2.

    Returns
    -------
    bound : float

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Y. Freund, R. E. Schapire (1997), "A decision-theoretic generalization of on-line learning and
    an application to boosting", Journal of Computer and System Sciences 55(1), section 4.2.

    Examples
    --------
    >>> from arboleda.diagnose import vc_bound
    >>> vc_bound(0.0, n_samples=10_000, n_rounds=50, vc_dimension=2)
    0.1
    """
    _check_share("training_error", training_error)
    _check_counts(n_samples=n_samples, n_rounds=n_rounds, vc_dimension=vc_dimension)
    return float(training_error + math.sqrt(vc_dimension * n_rounds / n_samples))


def margin_bound(
    share_below: float,
    *,
    theta: float,
    n_samples: int,
    vc_dimension: int,
    delta: float = 0.05,
) -> float:
    """Bound the test error of a vote by the margins of its training rows.

    With probability 1 - delta the test error is, for every theta > 0, at most

        P_S[margin <= theta] + O(sqrt((d log^2(N / d) / theta^2 + log(1 / delta)) / N))

    for N training rows and any number of members of VC dimension d. The theorem does not specify
    the constant, which is set to 1 here, so the value is not a guarantee: use it to compare values
    of theta, or ensembles on the same rows. For data of usual size, it is above 1.

    Parameters
    ----------
    share_below : float
        Share of the training rows whose margin is at most ``theta``: ``margin_bound_term`` of the
        AdaBoost classes, or `MarginDistribution.share_below`.
    theta : float
        Margin, above 0 and at most 1.
    n_samples : int
        Number N of training rows; at least ``vc_dimension``.
    vc_dimension : int
        VC dimension d of the class of members.
    delta : float, default=0.05
        Probability with which the bound may fail, between 0 and 1.

    Returns
    -------
    bound : float

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998), "Boosting the margin: a new
    explanation for the effectiveness of voting methods", Annals of Statistics 26(5), theorem 2.

    Examples
    --------
    >>> from arboleda.diagnose import margin_bound
    >>> round(margin_bound(0.02, theta=0.5, n_samples=1_000_000, vc_dimension=2), 3)
    0.057
    """
    _check_share("share_below", share_below)
    _check_counts(n_samples=n_samples, vc_dimension=vc_dimension)
    if n_samples < vc_dimension:
        raise ValueError(f"n_samples must be >= vc_dimension={vc_dimension}, got {n_samples}")
    if not 0.0 < theta <= 1.0:
        raise ValueError(f"theta must be above 0 and at most 1, got {theta}")
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be between 0 and 1, got {delta}")
    complexity = vc_dimension * math.log(n_samples / vc_dimension) ** 2 / theta**2
    return float(share_below + math.sqrt((complexity + math.log(1.0 / delta)) / n_samples))


def _check_share(name: str, value: float) -> None:
    if not isinstance(value, Real) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be a share from 0 to 1, got {value!r}")


def _check_counts(**counts: int) -> None:
    for name, value in counts.items():
        if not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name} must be a positive whole number, got {value!r}")
