"""Typed facts on the test of models of times to an event and of rankings."""

from typing import Annotated

from pydantic import Field

from arboleda.facts.base import Count, FactsModel, HistogramFacts, Positive

__all__ = ["RankingFacts", "SurvivalFacts"]

Steps = Annotated[list[float], Field(max_length=200)]


class SurvivalCurve(FactsModel):
    """The Kaplan-Meier estimate of some test rows, with pointwise confidence intervals."""

    label: str
    n: Positive
    n_events: Count
    time: Steps = Field(description="from 0 on, where the estimate changes, and the last time")
    survival: Steps = Field(description="from each time on")
    low: Steps
    high: Steps
    at_risk: list[Count] = Field(description="rows at risk at each of risk_times")
    median: float | None = Field(description="first time at which half have had the event")


class CurveGroups(FactsModel):
    """Kaplan-Meier estimates of groups of the test rows, and the log-rank test of all."""

    column: str | None = Field(description="null: thirds by the predicted risk, lowest first")
    risk_times: list[float]
    curves: list[SurvivalCurve]
    p: float | None = Field(description="of equal hazards; null with a single group")


class CalibrationGroup(FactsModel):
    """Rows of similar predicted survival, and their Kaplan-Meier estimate at the same time."""

    n: Positive
    predicted: float
    observed: float
    low: float
    high: float


class CalibrationAtTime(FactsModel):
    """The calibration of predicted survival at one time."""

    time: float
    groups: list[CalibrationGroup]


class SurvivalFacts(FactsModel):
    """The test of a model of the time to an event."""

    n_events: Count
    level: float
    times: Steps
    brier: Steps = Field(description="at each time")
    auc: list[float | None] = Field(description="null where rows on one side are lacking")
    baseline_brier: Steps | None = Field(description="of the Kaplan-Meier estimate of all rows")
    groups: list[CurveGroups]
    calibration: list[CalibrationAtTime]
    d_calibration_p: float = Field(description="p-value of calibration over all probabilities")


class QueryFacts(FactsModel):
    """A query on which a model ranks badly."""

    query: str
    n: Positive
    n_relevant: Count
    ndcg: float
    best_rank: Positive = Field(description="rank of the first of the most relevant rows")


class RankingFacts(FactsModel):
    """The test of a model that ranks."""

    n_queries: Positive
    n_without_relevant: Count = Field(description="queries that have no NDCG")
    ranks: list[Positive]
    ndcg: list[float] = Field(description="NDCG@k for each of ranks")
    baseline_ndcg: list[float] | None = Field(description="of equal scores")
    at: Positive = Field(description="ranks k of the NDCG of single queries")
    histogram: HistogramFacts = Field(description="of NDCG@k over the queries")
    worst: list[QueryFacts]
