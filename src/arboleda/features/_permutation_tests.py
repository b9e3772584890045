"""Tests by permutation: a statistic of each column beside those of permuted targets.

Everywhere row 0 is what was seen and the others what permuted targets gave: (1 + B, columns). Where
no column tells anything all rows are exchangeable, and so are they after any function that treats
them alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["adjust_p_values", "compute_p_values", "standardize"]

Floats = npt.NDArray[np.float64]


def standardize(statistics: Floats) -> Floats:
    """Each column less its mean, in standard deviations; 0 where all its values are the same.

    Mean and deviation are over all rows, the seen one among them, so that they stay exchangeable.
    """
    largest = np.abs(statistics).max(axis=0)
    scaled = np.divide(statistics, largest, out=np.zeros_like(statistics), where=largest > 0.0)
    away = scaled - scaled.mean(axis=0)
    varied = np.ptp(scaled, axis=0) > 0.0
    found: Floats = np.divide(away, away.std(axis=0, ddof=1), out=np.zeros_like(away), where=varied)
    return found


def compute_p_values(statistics: Floats) -> Floats:
    """Share of the rows in which a column's statistic is at least what was seen, itself among them.

    Phipson and Smyth (2010): b + 1 of B + 1, never 0.
    """
    shares: Floats = (statistics >= statistics[0]).mean(axis=0)
    return shares


def adjust_p_values(statistics: Floats) -> Floats:
    """p-values of which the smallest of useless columns is valid: the step-down maxima.

    Westfall and Young (1993), algorithm 2.8, by maxima instead of minimal p-values: a column is
    compared, in each row, with the largest statistic of those that stand out no more than it does.
    """
    order = np.argsort(-statistics[0], kind="stable")
    sorted_ = statistics[:, order]
    largest = np.maximum.accumulate(sorted_[:, ::-1], axis=1)[:, ::-1]
    steps = np.maximum.accumulate((largest >= sorted_[0]).mean(axis=0))
    adjusted = np.empty_like(steps)
    adjusted[order] = steps
    return adjusted
