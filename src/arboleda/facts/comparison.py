"""Typed facts of a comparison of studies.

``comparison.schema.json`` is generated from these classes: ``python tools/write_schemas.py``.
"""

from typing import Annotated, Literal, get_args

from pydantic import Field

from arboleda.facts.model import Count, FactsModel, Positive
from arboleda.facts.study import MessageFacts, StudyTiming

__all__ = [
    "SCHEMA_VERSION",
    "BestModelFacts",
    "ComparedCell",
    "ComparedModel",
    "ComparedPair",
    "ComparedStudy",
    "ComparisonOfStudies",
    "DifferenceFacts",
    "OverTablesFacts",
    "PairedFacts",
    "RankedModel",
]

Version = Literal[1]
SCHEMA_VERSION: Version = get_args(Version)[0]


class BestModelFacts(FactsModel):
    """The best model of a study."""

    key: str
    name: str
    params: str
    cv: float
    sd: float | None
    honest: float | None
    test: float | None
    low: float | None
    high: float | None


class ComparedStudy(FactsModel):
    """One of the studies."""

    name: str
    folder: str
    table: str
    target: str
    metric_label: str
    best: BestModelFacts
    n_models: Count
    timing: StudyTiming


class DifferenceFacts(FactsModel):
    """A property of the studies, and whether they have it in common."""

    what: str
    kind: Literal["data", "setting", "version"]
    values: list[str] = Field(description="one for each study")
    same: bool


class ComparedCell(FactsModel):
    """The rank and the scores of a model in one study."""

    rank: Positive
    cv: float
    test: float | None


class ComparedModel(FactsModel):
    """A model of any of the studies."""

    key: str
    name: str
    cells: list[ComparedCell | None] = Field(
        description="one for each study; null if the study lacks the model or it failed"
    )


_INTERVAL = (
    "an end of the interval, which excludes 0 if the models differ; the intervals of all pairs "
    "hold at once with probability level (Bonferroni)"
)


class ComparedPair(FactsModel):
    """The best models of two studies on their shared test rows."""

    first: Count
    second: Count
    difference: float = Field(description="positive if the first is better")
    low: float = Field(description=_INTERVAL)
    high: float = Field(description=_INTERVAL)
    p: float
    method: Literal["mcnemar", "influence"]
    p_adjusted: float = Field(description="p times the number of pairs (Bonferroni)")


class PairedFacts(FactsModel):
    """The comparison of the best models on shared test rows, or the reason why there is none.

    The keys from ``metric`` to ``groups`` are left out if the studies share no test rows by design.
    """

    why_not: str | None
    metric: str = ""
    metric_label: str = ""
    level: float = Field(default=0.0, description="of all intervals together")
    n_rows: Count = 0
    groups: str | None = Field(
        default=None, description="the column of groups that are the sampling units"
    )
    pairs: list[ComparedPair]


class RankedModel(FactsModel):
    """The ranks of a model over the tables."""

    key: str
    name: str
    mean_rank: float
    ranks: list[float]


class OverTablesFacts(FactsModel):
    """Friedman's and Nemenyi's tests of the models over the tables."""

    tables: list[str]
    models: list[RankedModel] = Field(description="by mean rank")
    p: float
    alpha: float
    critical_difference: float
    groups: list[list[str]] = Field(description="keys of models that do not differ significantly")


class ComparisonOfStudies(FactsModel):
    """The facts of a comparison of studies.

    Strings are raw text of the user. Values that depend on the clock are under keys named timing.
    """

    schema_version: Version
    arboleda_version: str
    studies: Annotated[list[ComparedStudy], Field(min_length=2)]
    differences: list[DifferenceFacts]
    leaderboard: list[ComparedModel]
    paired: PairedFacts
    over_tables: OverTablesFacts | None
    sentences: list[str]
    messages: dict[str, MessageFacts] = Field(
        default={}, description="by the sentence as it stands in the facts"
    )
