"""The gain of one set of fold scores over another, with its interval."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from arboleda.diagnose import corrected_t_test
from arboleda.facts.best_model import GainFacts

__all__ = ["compute_fold_gain"]

LEVEL = 0.95
Rows = npt.NDArray[np.int64]


def compute_fold_gain(
    before: Sequence[float],
    after: Sequence[float],
    folds: Sequence[tuple[Rows, Rows]],
    *,
    greater_is_better: bool,
) -> GainFacts | None:
    """Compute the mean gain over the folds, with the interval of the corrected resampled t test.

    Parameters
    ----------
    before, after : sequence of float
        The scores on each fold.
    folds : sequence of (fit rows, scored rows)
    greater_is_better : bool

    Returns
    -------
    gain : GainFacts or None
        Above 0 if ``after`` is better; None with fewer than two folds.
    """
    if len(before) != len(after) or len(before) != len(folds) or len(before) < 2:
        return None
    sign = 1.0 if greater_is_better else -1.0
    gains = sign * (np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64))
    share = float(np.mean([len(score) / len(fit) for fit, score in folds]))
    mean, error, _, _ = corrected_t_test(gains[np.newaxis], share)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(gains) - 1) * error[0])
    difference = float(mean[0])
    return GainFacts(
        difference=difference, low=difference - reach, high=difference + reach, level=LEVEL
    )
