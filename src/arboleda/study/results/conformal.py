r"""Prediction intervals and sets of classes that contain the truth for a given share of new rows.

They are calibrated on the study's out-of-fold predictions. With conformity scores s_i of n such
rows and q the ceil((n + 1) coverage)-th smallest of them,

    interval of x = [m(x) - q, m(x) + q]             s_i = |y_i - m_i(x_i)|
    set of x      = {k : 1 - p_k(x) <= q}            s_i = 1 - p_yi(x_i)

where m_i was fitted without the fold of row i: conformal prediction (Vovk, Gammerman, Shafer 2005;
Sadinle, Lei, Wasserman 2019 for the sets) with out-of-fold scores instead of those of a calibration
set (Vovk 2015, "Cross-conformal predictors"). New rows must be exchangeable with those of the
study. Errors usually grow with the value: the rows are binned by predicted value, and each bin has
its own q (Bostroem and Johansson 2020, "Mondrian conformal regressors").
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explain._conformal import compute_limit, compute_rank
from arboleda.study.artifacts.held_out import HeldOut
from arboleda.study.errors import StudyError

__all__ = ["Intervals", "Sets", "check_coverage", "fit_intervals", "fit_sets"]

# Maximum bins of the predicted value, and the minimum rows of each.
PARTS, ROWS_PER_PART = 10, 200

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Intervals:
    """Half-widths of intervals by the bin of the prediction.

    Attributes
    ----------
    cuts : ndarray of shape (n_parts - 1,)
        Upper ends of the bins, ascending, except the last.
    reach : ndarray of shape (n_parts,)
    """

    cuts: Floats
    reach: Floats

    def of(self, predicted: Floats) -> tuple[Floats, Floats]:
        """Return lower and upper bounds."""
        reach = self.reach[np.searchsorted(self.cuts, predicted)]
        return predicted - reach, predicted + reach


@dataclass(frozen=True)
class Sets:
    """A class is in the set of a row if its probability is at least ``1 - limit``."""

    limit: float

    def of(self, probabilities: Floats, predicted: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which classes are in the set of each row; the predicted one always is."""
        inside: npt.NDArray[np.bool_] = 1.0 - probabilities <= self.limit
        inside[np.arange(len(inside)), predicted] = True
        return inside


def fit_intervals(held_out: HeldOut, coverage: float) -> Intervals:
    """Fit half-widths of intervals to out-of-fold errors.

    Parameters
    ----------
    held_out : tuple of (ndarray, Predictions)
        Targets and their out-of-fold predictions.
    coverage : float
        Fraction of rows whose value should be in its interval.

    Raises
    ------
    StudyError
        If there are too few rows for so high a coverage.
    """
    y, predictions = held_out
    _check_rows(coverage, len(y))
    needed = max(ROWS_PER_PART, _least(coverage))
    n_parts = int(np.clip(len(y) // needed, 1, PARTS))
    predicted = np.asarray(predictions.predicted, dtype=np.float64)
    shares = np.arange(1, n_parts) / n_parts
    cuts = np.unique(np.quantile(predicted, shares, method="lower")) if n_parts > 1 else np.empty(0)
    part = np.searchsorted(cuts, predicted)
    missed = np.abs(y - predicted)
    if np.bincount(part, minlength=len(cuts) + 1).min() < needed:
        # Many rows share a prediction; some bins would be too small.
        cuts, part = np.empty(0), np.zeros(len(y), dtype=np.int64)
    reach = [compute_limit(np.sort(missed[part == k]), coverage) for k in range(len(cuts) + 1)]
    return Intervals(cuts, np.array(reach))


def fit_sets(probabilities: Floats, y: npt.NDArray[np.int64], coverage: float) -> Sets:
    """Fit the minimum probability of a class in the set.

    Parameters
    ----------
    probabilities : ndarray of shape (n, n_classes)
        Probabilities of held-out rows.
    y : ndarray of shape (n,)
        Their classes.
    coverage : float
        Fraction of rows whose class should be in its set.

    Raises
    ------
    StudyError
        If there are too few rows for so high a coverage.
    """
    _check_rows(coverage, len(y))
    return Sets(compute_limit(np.sort(1.0 - probabilities[np.arange(len(y)), y]), coverage))


def _least(coverage: float) -> int:
    """Return a number of rows that can guarantee a coverage."""
    n = 1
    while compute_rank(coverage, n) > n:
        n *= 2
    return n


def check_coverage(coverage: Any) -> None:
    """Check that a coverage is between 0 and 1.

    Raises
    ------
    StudyError
        If it is not.
    """
    if not isinstance(coverage, Real) or not 0.0 < float(coverage) < 1.0:
        raise StudyError(
            f"The coverage must be a number between 0 and 1, such as 0.9, got {coverage!r}."
        )


def _check_rows(coverage: float, n_rows: int) -> None:
    if compute_rank(coverage, n_rows) > n_rows:
        raise StudyError(
            f"A coverage of {coverage:g} needs more than {n_rows:,} held-out rows; choose a "
            "lower one."
        )
