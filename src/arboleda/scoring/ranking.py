"""Metrics of rankings: means over the queries of the rows.

Rows of a query belong together, so intervals and tests count queries: the influence of a query is
spread evenly over its rows.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from arboleda._utils.ranking import NdcgMeasure, compute_gains
from arboleda.metrics import ranking_table
from arboleda.scoring.choice import StudyMetric
from arboleda.scoring.measures import ScoredOutputs, ScoreMeasure, Weighted

__all__ = ["RANKS", "QueryMean", "bind_ranking_metric", "compute_by_query"]

# The ranks k of the NDCG@k that are reported.
RANKS = (1, 3, 5, 10)

Floats = npt.NDArray[np.float64]


def compute_by_query(outputs: ScoredOutputs, key: str) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Return a metric of each query, and the place of each row's query among them.

    The metric is NaN for queries without a relevant row.
    """
    relevance, predicted = outputs.y["relevance"], np.asarray(outputs.predicted, dtype=np.float64)
    _, first, at = np.unique(outputs.y["query"], return_index=True, return_inverse=True)
    name, colon, ranks = key.partition(":")
    if colon:
        gains = compute_gains(relevance, None)
        return NdcgMeasure(at.astype(np.uint32), gains, int(ranks)).by_query(predicted), at
    table = ranking_table(relevance, predicted, qid=outputs.y["query"])
    # The table has the queries in the order in which they first occur.
    values = np.empty(len(first))
    values[np.argsort(first)] = table.by_query[name]
    return values, at


@dataclass(frozen=True)
class QueryMean(ScoreMeasure):
    """The mean of a metric over the queries that have a relevant row."""

    key: str

    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the mean as a function of the multiplicities of the rows: of whole queries."""
        values, at = compute_by_query(outputs, self.key)
        sizes = np.bincount(at, minlength=len(values))
        known = ~np.isnan(values)

        def mean(times: Floats) -> float | None:
            weight = (np.bincount(at, times, len(values)) / sizes)[known]
            total = float(weight.sum())
            return float(np.sum(weight * values[known])) / total if total > 0 else None

        return mean

    def compute_influence(self, outputs: ScoredOutputs, value: float) -> Floats:
        """Return the influence of each row's query, divided among its rows."""
        values, at = compute_by_query(outputs, self.key)
        sizes = np.bincount(at, minlength=len(values))
        n_known = int((~np.isnan(values)).sum())
        apart = np.where(np.isnan(values), 0.0, values - value)
        return np.asarray((apart * len(at) / (n_known * sizes))[at])


def bind_ranking_metric(metric: StudyMetric) -> StudyMetric:
    """Return the metric with the other ones to report."""
    keys = dict.fromkeys([metric.key, *(f"ndcg:{k}" for k in RANKS), "map", "mrr"])
    measures = {key: QueryMean(key) for key in keys}
    return replace(metric, measure=measures[metric.key], all_measures=measures)
