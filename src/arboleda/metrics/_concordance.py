"""Concordance that does not depend on the censoring."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.concordance import compute_concordance, read_risk
from arboleda._utils.survival_times import read_survival_times
from arboleda.metrics._censoring import CensoringCurve

__all__ = ["uno_concordance_index"]


def uno_concordance_index(
    y_train: Any, y: Any, risk: npt.ArrayLike, *, tau: float | None = None, tied_tol: float = 1e-8
) -> float:
    """Compute Uno's concordance index, which does not depend on the censoring.

    Each comparable pair is weighted by 1 / G(t)^2, where t is the earlier time and G the
    Kaplan-Meier estimate of the probability of not being censored up to it.

    Parameters
    ----------
    y_train : structured ndarray or data frame
        Event indicators and times from which G is estimated: usually those of the training rows.
    y : structured ndarray or data frame of n_samples rows
        Event indicator and time.
    risk : array-like of shape (n_samples,)
        Predicted risk; larger means an earlier event.
    tau : float, default=None
        Only events before this time count; None: all.
    tied_tol : float, default=1e-8
        Largest difference of risks that are considered equal.

    Returns
    -------
    concordance : float

    Raises
    ------
    ValueError
        If no pair is comparable, or G is 0 or unknown at the time of an event: set ``tau``.

    References
    ----------
    H. Uno, T. Cai, M. Pencina, R. D'Agostino, L. Wei (2011), "On the C-statistics for evaluating
    overall adequacy of risk prediction procedures with censored survival data", Statistics in
    Medicine 30(10).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import uno_concordance_index
    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype="?,f8")
    >>> uno_concordance_index(y, y, [0.9, 0.1, 0.2], tau=3.0)
    1.0
    """
    times = read_survival_times(y, requires_event=False)
    counted = times.event if tau is None else times.event & (times.time < tau)
    weight = np.zeros(len(times))
    inverse = CensoringCurve.fit(read_survival_times(y_train, "y_train", requires_event=False))
    weight[counted] = inverse.compute_inverse(times.time[counted]) ** 2
    values = read_risk(risk, len(times))
    return compute_concordance(times, values, weight, np.ones(len(times)), tied_tol)
