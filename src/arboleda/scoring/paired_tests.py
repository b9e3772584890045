"""Paired tests of the difference of two models, with intervals that agree with the p-values.

On the test rows two models are compared by the difference of a metric, whose standard error is that
of its influence function (Efron 1982; see `arboleda.scoring.intervals`); if rows are grouped,
by the influence of whole groups (Liang and Zeger 1986). The test and the interval are Student's.

Accuracies are compared by McNemar's exact test. Of the n rows, let b be those where only the first
model is correct, and c those where only the second is. If the models are equally good, b is
binomial with b + c draws and probability 1/2. The interval of the difference is that of Clopper and
Pearson (1934) for this probability q, given the number of rows where the models differ:

    difference = (2 q - 1) (b + c) / n

It excludes 0 if and only if it excludes q = 1/2, that is, if the test rejects at the same level.

If k differences are tested together, intervals of level 1 - (1 - level) / k hold the true
differences all at once with at least the probability ``level`` (Bonferroni's inequality; Dunn
1961). A difference is significant if its interval excludes 0.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from arboleda.scoring.choice import StudyMetric
from arboleda.scoring.intervals import compute_influence
from arboleda.scoring.scores import Predictions

__all__ = [
    "LEVEL",
    "ROUNDING",
    "McNemarTest",
    "PairedTest",
    "TTest",
    "adjust_level",
    "adjust_p_value",
    "compare_on_rows",
]

LEVEL = 0.95
# A relative difference of scores up to this is rounding error.
ROUNDING = 1e-12

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TTest:
    """Student's test of a mean difference of ``n_units`` folds, rows or groups."""

    method: ClassVar[Literal["influence"]] = "influence"

    difference: float
    standard_error: float
    n_units: int

    @cached_property
    def p(self) -> float:
        """Two-sided p-value of no difference."""
        if self.standard_error == 0:
            return 1.0 if self.difference == 0 else 0.0
        return float(2 * stats.t.sf(abs(self.difference) / self.standard_error, self.n_units - 1))

    def compute_interval(self, level: float) -> tuple[float, float]:
        """Return the ends of the confidence interval of the difference."""
        reach = float(stats.t.isf((1 - level) / 2, self.n_units - 1)) * self.standard_error
        return self.difference - reach, self.difference + reach


@dataclass(frozen=True)
class McNemarTest:
    """McNemar's exact test of the difference of two accuracies on ``n_rows`` rows."""

    method: ClassVar[Literal["mcnemar"]] = "mcnemar"

    only_first: int  # rows where only the first model is correct
    only_second: int
    n_rows: int

    @property
    def difference(self) -> float:
        """Accuracy of the first model minus that of the second."""
        return (self.only_first - self.only_second) / self.n_rows

    @cached_property
    def p(self) -> float:
        """Two-sided p-value of no difference."""
        n = self.only_first + self.only_second
        return float(stats.binomtest(self.only_first, n).pvalue) if n else 1.0

    def compute_interval(self, level: float) -> tuple[float, float]:
        """Return the ends of the confidence interval of the difference."""
        b, c, tail = self.only_first, self.only_second, (1 - level) / 2
        if b + c == 0:
            return 0.0, 0.0
        low = float(stats.beta.ppf(tail, b, c + 1)) if b else 0.0
        high = float(stats.beta.isf(tail, b + 1, c)) if c else 1.0
        share = (b + c) / self.n_rows
        return (2 * low - 1) * share, (2 * high - 1) * share


PairedTest = TTest | McNemarTest


def adjust_level(n_tests: int) -> float:
    """Return the level of each of several intervals that hold at once with probability ``LEVEL``.

    Examples
    --------
    >>> round(adjust_level(10), 4)
    0.995
    """
    return 1 - (1 - LEVEL) / max(n_tests, 1)


def adjust_p_value(p: float, n_tests: int) -> float:
    """Return a p-value adjusted for several tests by Bonferroni's inequality."""
    return min(1.0, n_tests * p)


def compare_on_rows(
    metric: StudyMetric,
    y: npt.NDArray[Any],
    first: Predictions,
    second: Predictions,
    n_classes: int,
    groups: npt.NDArray[np.int64] | None = None,
    costs: Floats | None = None,
) -> PairedTest | None:
    """Compare two models by their predictions for the same rows.

    Parameters
    ----------
    metric : StudyMetric
    y : ndarray of shape (n,)
        Numbers of the true classes, or values.
    first, second : Predictions
    n_classes : int
        0 in a regression.
    groups : ndarray of shape (n,), optional
        The group of each row, if rows of one group are not independent.
    costs : ndarray of shape (n_classes, n_classes), optional
        By true and predicted class, for the metric "cost" alone.

    Returns
    -------
    test : TTest, McNemarTest or None
        Its difference is above 0 if the first model is better; None if the metric is undefined or
        there is only one group.
    """
    one = compute_influence(metric, y, first.predicted, first.score, n_classes, costs)
    two = compute_influence(metric, y, second.predicted, second.score, n_classes, costs)
    if one is None or two is None or len(y) < 2:
        return None
    if metric.key == "accuracy" and groups is None:
        correct, also = first.predicted == y, second.predicted == y
        return McNemarTest(int(np.sum(correct & ~also)), int(np.sum(also & ~correct)), len(y))
    sign = 1.0 if metric.greater_is_better else -1.0
    difference = sign * (one[0] - two[0])
    if abs(difference) <= ROUNDING * abs(one[0]):
        difference = 0.0
    parts: Floats = one[1] - two[1]
    if groups is not None:
        of_row = np.unique(groups, return_inverse=True)[1]
        parts = np.asarray(np.bincount(of_row, weights=parts), dtype=np.float64)
        if len(parts) < 2:
            return None
    return TTest(difference, float(np.sqrt(np.sum(parts**2))) / len(y), len(parts))
