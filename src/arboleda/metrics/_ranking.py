"""Metrics of rankings: means over queries, with their standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.number_types import is_integer
from arboleda._utils.ranking import (
    RankedQueries,
    compute_gains,
    encode_queries,
    sum_discounted_gains,
)
from arboleda._utils.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["RankingTable", "ranking_table"]

Floats = npt.NDArray[np.float64]
NoRelevant = Literal["exclude", "one"]


@dataclass(frozen=True, repr=False)
class RankingTable(Result):
    """Result of `ranking_table`.

    Attributes
    ----------
    metrics : dict of str to float
        ``ndcg@k`` and ``precision@k`` for each k, ``map``, ``mrr`` and ``err``: means over queries.
    standard_errors : dict of str to float
        Standard errors of these means over queries; NaN with fewer than two queries.
    by_query : dict of str to ndarray of shape (n_queries,)
        The metrics of each query, in the order in which the queries first occur; NaN for queries
        that are left out.
    n_queries : int
        Number of queries, those without a relevant row included.
    n_without_relevant : int
        Number of queries without a relevant row.
    no_relevant : str
        How these count: "exclude" or "one".
    """

    metrics: dict[str, float]
    standard_errors: dict[str, float]
    by_query: dict[str, Floats]
    n_queries: int
    n_without_relevant: int
    no_relevant: NoRelevant

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_queries": self.n_queries,
            "n_without_relevant": self.n_without_relevant,
            "no_relevant": self.no_relevant,
            **self.metrics,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with a row per metric: its value and standard error."""
        return new_frame({"value": self.metrics, "standard_error": self.standard_errors})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the metrics as bars, with one standard error to both sides.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        names = list(self.metrics)
        errors = np.nan_to_num([self.standard_errors[name] for name in names])
        ax.barh(names, [self.metrics[name] for name in names], 0.6, xerr=errors, color="C0")
        ax.invert_yaxis()
        ax.set_xlim(0, 1)
        ax.set_xlabel(f"mean over {self.n_queries:,} queries")
        return ax


def ranking_table(
    y: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    qid: Any,
    at: Sequence[int] = (1, 3, 5, 10),
    no_relevant: NoRelevant = "exclude",
    label_gain: npt.ArrayLike | None = None,
) -> RankingTable:
    """Compute metrics of the rankings of queries by scores.

    With gains g = 2^y - 1, and rows of relevance above 0 as relevant:

    - ``ndcg@k``: the sum of g / log2(1 + rank) over the first k ranks, divided by that of the best
      order (Järvelin and Kekäläinen 2002).
    - ``precision@k``: relevant rows among the first k ranks, divided by k.
    - ``map``: mean over the relevant rows of the share of relevant rows up to their rank (average
      precision).
    - ``mrr``: 1 / rank of the first relevant row.
    - ``err``: expected reciprocal rank: the mean of 1 / rank of the row where a reader stops, who
      is satisfied by each row with probability g / 2^max(y), where the maximum is over all rows
      (Chapelle, Metzler, Zhang and Grinspan 2009).

    Of rows with equal scores each metric is the mean over all their orders (McSherry and Najork
    2008), so that the order of the rows does not matter.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevance: integers from 0 on.
    scores : array-like of shape (n,)
        Rows with larger scores rank first.
    qid : array-like of shape (n,)
        The query of each row; rows of a query need not be neighbours.
    at : sequence of int, default=(1, 3, 5, 10)
        Numbers k of ranks.
    no_relevant : {"exclude", "one"}, default="exclude"
        Queries without a relevant row are left out, or count as 1 in every metric, as in LightGBM.
    label_gain : array-like, default=None
        Gain of relevance 0, 1, 2, ..; None: ``2^y - 1``. ERR then divides by 1 + the largest gain.

    Returns
    -------
    RankingTable

    Raises
    ------
    ValueError
        If lengths differ, there is no row, a relevance is not an integer from 0 on or has no gain,
        a score is NaN, a query is missing, or a k is not a positive integer.

    References
    ----------
    K. Järvelin, J. Kekäläinen (2002), "Cumulated gain-based evaluation of IR techniques", ACM TOIS
    20(4).

    O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan (2009), "Expected reciprocal rank for graded
    relevance", CIKM.

    F. McSherry, M. Najork (2008), "Computing information retrieval performance measures
    efficiently in the presence of tied scores", ECIR.

    Examples
    --------
    >>> from arboleda.metrics import ranking_table
    >>> table = ranking_table([0, 2, 1, 1, 0], [0.1, 0.9, 0.5, 0.2, 0.7], qid=[1, 1, 1, 2, 2])
    >>> table.metrics["ndcg@10"].__round__(3), table.metrics["mrr"], table.n_queries
    (0.815, 0.75, 2)
    """
    relevance, score = _read_numbers(y, "y"), _read_numbers(scores, "scores")
    if score.shape != relevance.shape:
        raise ValueError(
            f"y has {relevance.size} rows and scores {score.size}: give one of each for every row"
        )
    levels = _read_levels(at)
    if no_relevant not in {"exclude", "one"}:
        raise ValueError(f"no_relevant={no_relevant!r} must be 'exclude' or 'one'")
    gains = compute_gains(relevance, label_gain)
    queries = _number_by_occurrence(encode_queries(qid, relevance.size))
    ranked = RankedQueries(queries, score)
    is_relevant = (relevance > 0).astype(np.float64)
    best = RankedQueries(queries, gains)
    with np.errstate(invalid="ignore"):  # 0 / 0 without any gain
        by_query = {
            f"ndcg@{k}": sum_discounted_gains(ranked, gains, k)
            / sum_discounted_gains(best, gains, k)
            for k in levels
        }
    by_query |= {f"precision@{k}": _precisions(ranked, is_relevant, k) for k in levels}
    satisfaction = gains[ranked.order] / (1.0 + gains.max())
    by_query |= {
        "map": _average_precisions(ranked, is_relevant),
        "mrr": _reciprocal_ranks(ranked, is_relevant[ranked.order]),
        "err": _reciprocal_ranks(ranked, satisfaction),
    }
    without = ranked.sum_by_query(is_relevant[ranked.order]) == 0
    fill = math.nan if no_relevant == "exclude" else 1.0
    by_query = {name: np.where(without, fill, values) for name, values in by_query.items()}
    return RankingTable(
        metrics={name: _mean(values) for name, values in by_query.items()},
        standard_errors={name: _standard_error(values) for name, values in by_query.items()},
        by_query=by_query,
        n_queries=len(without),
        n_without_relevant=int(without.sum()),
        no_relevant=no_relevant,
    )


def _read_numbers(values: npt.ArrayLike, name: str) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"{name} has the shape {numbers.shape}: one number for each row is needed")
    missing = np.flatnonzero(np.isnan(numbers))
    if missing.size:
        raise ValueError(f"{name} is NaN in row {missing[0]}: drop such rows or fill in a value")
    return numbers


def _read_levels(at: Sequence[int]) -> list[int]:
    levels = list(at)
    for k in levels:
        if not is_integer(k) or k < 1:
            raise ValueError(f"at holds {k!r}: numbers of ranks must be positive integers")
    return [int(k) for k in levels]


def _number_by_occurrence(queries: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Renumber queries in the order in which they first occur."""
    _, first = np.unique(queries, return_index=True)
    number = np.empty(len(first), dtype=np.uint32)
    number[np.argsort(first)] = np.arange(len(first), dtype=np.uint32)
    renumbered: npt.NDArray[np.uint32] = number[queries]
    return renumbered


def _precisions(ranked: RankedQueries, is_relevant: Floats, k: int) -> Floats:
    counted = ranked.mean_over_ties((ranked.rank < k).astype(np.float64))
    return ranked.sum_by_query(is_relevant[ranked.order] * counted) / k


def _average_precisions(ranked: RankedQueries, is_relevant: Floats) -> Floats:
    """Return the average precision of each query, NaN without a relevant row.

    In a group of n ties with r relevant rows, after R others, the m-th row (from 0 on) is relevant
    with probability r / n, and then 1 + R + m (r - 1) / (n - 1) relevant rows are expected up to
    it: McSherry and Najork (2008), section 2.4.
    """
    relevant = is_relevant[ranked.order]
    sizes = np.diff(np.append(ranked.ties, len(relevant)))
    n = np.repeat(sizes, sizes)
    r = np.repeat(np.add.reduceat(relevant, ranked.ties), sizes)
    totals = np.cumsum(relevant)
    n_rows = np.diff(np.append(ranked.first, len(relevant)))
    before_query = np.repeat(totals[ranked.first] - relevant[ranked.first], n_rows)
    before_ties = np.repeat(totals[ranked.ties] - relevant[ranked.ties], sizes) - before_query
    m = np.arange(len(relevant)) - np.repeat(ranked.ties, sizes)
    expected = 1.0 + before_ties + m * (r - 1.0) / np.maximum(n - 1, 1)
    sums = ranked.sum_by_query(r / n * expected / (ranked.rank + 1.0))
    with np.errstate(invalid="ignore"):
        means: Floats = sums / ranked.sum_by_query(relevant)
    return means


def _reciprocal_ranks(ranked: RankedQueries, satisfaction: Floats) -> Floats:
    """Return the expected 1 / rank of the row where a reader of each query stops.

    A row satisfies the reader with the given probability; who reads all rows in vain counts 0. The
    probability of coming to a rank is, within ties, the mean over their orders.
    """
    passes = _pass_probabilities(ranked, 1.0 - satisfaction)
    following = np.append(passes[1:, 0], 1.0)
    last = np.append(ranked.first[1:], len(satisfaction)) - 1
    following[last] = passes[last, 1]
    return ranked.sum_by_query((passes[:, 0] - following) / (ranked.rank + 1.0))


def _pass_probabilities(ranked: RankedQueries, misses: Floats) -> Floats:
    """Return the probabilities of coming to each place and of going on from it, of shape (n, 2).

    Of k rows of a group of ties that are read first, all miss with the mean product of k of the
    group's numbers, M_k. Over the first j numbers of the group,
    M_k(j) = (1 - k/j) M_k(j - 1) + k/j x_j M_{k-1}(j - 1).
    """
    passes = np.empty((len(misses), 2))
    ends = [*ranked.ties[1:].tolist(), len(misses)]
    starts = set(ranked.first.tolist())
    single = misses.tolist()
    before = 1.0
    for begin, end in zip(ranked.ties.tolist(), ends, strict=True):
        before = 1.0 if begin in starts else before
        if end == begin + 1:
            passes[begin] = before, before * single[begin]
            before *= single[begin]
            continue
        means = np.ones(end - begin + 1)
        for j in range(1, end - begin + 1):
            share = np.arange(1, j + 1) / j
            kept = np.append(means[1:j], 0.0)
            means[1 : j + 1] = (1.0 - share) * kept + share * misses[begin + j - 1] * means[:j]
        passes[begin:end, 0] = before * means[:-1]
        passes[begin:end, 1] = before * means[1:]
        before *= means[-1]
    return passes


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


def _standard_error(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1) / np.sqrt(known.size)) if known.size > 1 else math.nan
