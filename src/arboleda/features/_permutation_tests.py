"""Permutation tests: statistics of each column for the target and for permuted targets.

Statistics have the shape (1 + B, n_columns): row 0 is for the target, the other rows are for
permuted targets. If no column is informative, all rows are exchangeable, also after any
transformation that treats them equally.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["adjust_p_values", "compute_p_values", "standardize"]

Floats = npt.NDArray[np.float64]


def standardize(statistics: Floats) -> Floats:
    """Subtract the mean of each column and divide by its standard deviation; constants become 0.

    Both are computed over all rows, including row 0, so the rows stay exchangeable.
    """
    largest = np.abs(statistics).max(axis=0)
    scaled = np.divide(statistics, largest, out=np.zeros_like(statistics), where=largest > 0.0)
    centered = scaled - scaled.mean(axis=0)
    varied = np.ptp(scaled, axis=0) > 0.0
    standardized: Floats = np.divide(
        centered, centered.std(axis=0, ddof=1), out=np.zeros_like(centered), where=varied
    )
    return standardized


def compute_p_values(statistics: Floats) -> Floats:
    """Compute the share of rows whose statistic is at least that of row 0, which is included.

    Phipson and Smyth (2010): (b + 1) / (B + 1), which is never 0.
    """
    shares: Floats = (statistics >= statistics[0]).mean(axis=0)
    return shares


def adjust_p_values(statistics: Floats) -> Floats:
    """Compute p-values adjusted for multiple testing by step-down maxima.

    Westfall and Young (1993), algorithm 2.8, with maxima of statistics instead of minimal p-values:
    in each row, a column is compared with the largest statistic among the columns that are not more
    significant than itself.
    """
    order = np.argsort(-statistics[0], kind="stable")
    sorted_ = statistics[:, order]
    largest = np.maximum.accumulate(sorted_[:, ::-1], axis=1)[:, ::-1]
    steps = np.maximum.accumulate((largest >= sorted_[0]).mean(axis=0))
    adjusted = np.empty_like(steps)
    adjusted[order] = steps
    return adjusted
