"""Areas under ROC and precision-recall curves of one class: by multiplicities, and influences.

The influence on the area under the ROC curve has the components of DeLong, DeLong and
Clarke-Pearson (1988). The average precision of rows with weights w is

    AP = sum_{i in class} w_i A_i / B_i / sum_{i in class} w_i

with A_i and B_i the weights of the rows of the class, and of all rows, whose score is at least s_i;
its influences are n times its derivatives by w.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

__all__ = [
    "compute_average_precision_influence",
    "compute_roc_influence",
    "prepare_average_precision",
    "prepare_roc_area",
]

Floats = npt.NDArray[np.float64]
Hits = npt.NDArray[np.bool_]
# An area of rows with these multiplicities; None where it is undefined.
Area = Callable[[Floats], float | None]


def prepare_roc_area(hit: Hits, score: Floats) -> Area:
    """Return the Mann-Whitney statistic: how often a hit ranks above another row, ties by half."""
    hits, others = (
        some[np.argsort(score[some])] for some in (np.flatnonzero(hit), np.flatnonzero(~hit))
    )
    # Numbers of other rows below each hit, and not above it.
    below = np.searchsorted(score[others], score[hits], side="left")
    up_to = np.searchsorted(score[others], score[hits], side="right")

    def area(times: Floats) -> float | None:
        of_hits, of_others = times[hits], np.append(0.0, np.cumsum(times[others]))
        n_pairs = of_hits.sum() * of_others[-1]
        wins = np.sum(of_hits * (of_others[below] + of_others[up_to])) / 2
        return float(wins / n_pairs) if n_pairs else None

    return area


def compute_roc_influence(hit: Hits, score: Floats) -> Floats:
    """Compute DeLong's components: how often a row ranks above those of the other class."""
    influence = np.zeros(len(score))
    ranks = rankdata(score)
    above = (ranks[hit] - rankdata(score[hit])) / np.sum(~hit)
    below = 1.0 - (ranks[~hit] - rankdata(score[~hit])) / np.sum(hit)
    area = float(above.mean())
    influence[hit] = (above - area) / hit.mean()
    influence[~hit] = (below - area) / (~hit).mean()
    return influence


def prepare_average_precision(hit: Hits, score: Floats) -> Area:
    """Return the mean precision at the scores of the class, weighted by the rows of the class."""
    order, last = _rank_descending(score)
    hit = hit[order]

    def area(times: Floats) -> float | None:
        weights = times[order]
        of_class = np.where(hit, weights, 0.0)
        n_class = of_class.sum()
        if n_class in (0.0, weights.sum()):
            return None
        some = of_class > 0
        reached, above = np.cumsum(of_class)[last][some], np.cumsum(weights)[last][some]
        return float(np.sum(of_class[some] * reached / above) / n_class)

    return area


def compute_average_precision_influence(hit: Hits, score: Floats) -> Floats:
    """Compute the derivatives of the average precision by the weight of each row."""
    order, last = _rank_descending(score)
    of_class = hit[order].astype(np.float64)
    reached = np.cumsum(of_class)[last]
    above = np.arange(1.0, len(score) + 1)[last]
    n_class = of_class.sum()
    value = float(np.sum(of_class * reached / above) / n_class)
    # A row counts in A and B of every row of the class that does not score above it.
    in_a = _sum_from_place(of_class / above, score[order])
    in_b = _sum_from_place(of_class * reached / above**2, score[order])
    slope = of_class * (reached / above - value + in_a) - in_b
    influence = np.empty(len(score))
    influence[order] = slope * len(score) / n_class
    return influence


def _rank_descending(score: Floats) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the rows by descending score, and the place of the last row with the same score."""
    order = np.argsort(-score, kind="stable")
    ascending = -score[order]
    return order, np.searchsorted(ascending, ascending, side="right") - 1


def _sum_from_place(values: Floats, descending: Floats) -> Floats:
    """Return the sum of the values from the first row with the same score on."""
    first = np.searchsorted(-descending, -descending, side="left")
    sums: Floats = np.cumsum(values[::-1])[::-1][first]
    return sums
