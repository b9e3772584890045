"""Typed facts of the explanation of one row."""

from typing import Annotated, Literal

from pydantic import Field, Strict

from arboleda.facts.model import Count, FactsModel, HistogramFacts, Positive, Probability

__all__ = [
    "AbsoluteErrors",
    "ChangeFacts",
    "ClassProbability",
    "ColumnContribution",
    "ColumnValue",
    "ConditionWeight",
    "ContributionsFacts",
    "ExplainedRowFacts",
    "LimeFacts",
    "Neighbour",
    "NeighboursFacts",
    "PredictionFacts",
    "RangeFacts",
    "SimilarRows",
    "UsualValues",
]

# A value of the table; null if missing.
Value = str | int | float | None
# A class, or a value of the target.
TargetValue = str | int | float
ColumnKind = Literal["numeric", "categorical", "boolean"]
Unit = Literal["probability", "log_odds", "score", "value"]
NotNegative = Annotated[float, Field(ge=0.0)]


class ExplainedRowFacts(FactsModel):
    """The explained row."""

    number: Positive = Field(description="number of the data row in the table, from 1")
    n_rows: Count
    part: Literal["train", "test"]
    truth: TargetValue
    near_test_rows: list[Count] = Field(description="test rows nearest to a training row")


class ClassProbability(FactsModel):
    """The predicted probability of a class."""

    label: str
    probability: Probability
    share: Probability = Field(description="share of the training rows")


class SimilarRows(FactsModel):
    """Test rows predicted as the same class with similar confidence."""

    n_rows: Count
    n_right: Count
    low: Probability | None
    high: Probability | None


class AbsoluteErrors(FactsModel):
    """Median and 0.9 quantile of the absolute errors on test rows."""

    median: float
    most: float
    n_rows: Count


class PredictionFacts(FactsModel):
    """The prediction of the row."""

    value: TargetValue
    probabilities: list[ClassProbability] | None = Field(
        description="most probable first; null without probabilities"
    )
    mean: float | None = Field(description="mean of the training targets; null for classes")
    similar: SimilarRows | None
    errors: AbsoluteErrors | None


class RangeFacts(FactsModel):
    """Prediction set or interval with this coverage, calibrated on this number of test rows."""

    level: Probability
    n_rows: Count
    set: list[str] | None
    interval: Annotated[list[float], Field(min_length=2, max_length=2)] | None


class UsualValues(FactsModel):
    """Deciles 1 and 9 and the median of the training rows."""

    low: float
    median: float
    high: float


class ColumnValue(FactsModel):
    """The value of a column in the row, beside those of the training rows."""

    name: str
    kind: ColumnKind
    value: Value
    usual: UsualValues | None
    common: list[Annotated[tuple[Value, Probability], Strict(strict=False)]] | None = Field(
        description="the most frequent categories with their shares"
    )
    share: Probability | None = Field(
        description="share of the training rows with the same category, or also missing"
    )
    below: Probability | None
    above: Probability | None
    remark: Literal["missing", "below_all", "above_all", "low", "high", "unseen", "rare"] | None


class ColumnContribution(FactsModel):
    """The contribution of a column."""

    name: str
    value: Value
    contribution: float
    standard_error: NotNegative | None = Field(description="null if exact")


class ContributionsFacts(FactsModel):
    """Contributions of the columns to the output or the value."""

    method: Literal["shap", "sampling"] = Field(
        description="exact, or sampled orders of the columns"
    )
    output: str | None
    unit: Unit
    base: float = Field(description="mean over the background rows")
    total: float
    n_orders: Count | None
    n_background: Positive
    columns: list[ColumnContribution] = Field(description="strongest first")


class ConditionWeight(FactsModel):
    """The weight of a column in the simple model."""

    name: str
    value: Value
    contribution: float
    condition: str | None


class LimeFacts(FactsModel):
    """A simple model of the predictions around the row."""

    output: str | None
    unit: Literal["probability", "value"]
    base: float
    total: float
    fidelity: Annotated[float, Field(ge=0.7)] = Field(description="weighted R2")
    stability: Probability | None = Field(
        description="mean overlap of the columns over repeated samples"
    )
    n_samples: Count
    columns: list[ConditionWeight] = Field(description="strongest first")


class ChangeFacts(FactsModel):
    """Predictions of the row with other values in one column."""

    name: str
    kind: ColumnKind
    output: str | None
    alone: float = Field(
        description="the output minus its mean with the values of the background rows"
    )
    own: Count = Field(description="index of the value of the row")
    values: list[Value]
    shares: list[Probability] | None = Field(
        description="shares of the training rows, if the values are listed"
    )
    outputs: list[float]
    predictions: list[TargetValue]
    turn: Count | None = Field(
        description="index of the nearest value with another predicted class"
    )
    histogram: HistogramFacts | None


class Neighbour(FactsModel):
    """A training row near the explained row."""

    row: Count
    proximity: Probability
    target: TargetValue
    values: list[Value]


class NeighboursFacts(FactsModel):
    """Nearest training rows.

    The proximity of two rows is the share of trees of a forest in which both fall into the same
    leaf.
    """

    kind: Literal["own", "imitating"] = Field(
        description="the trees of the model, or those of a forest fitted to its predictions"
    )
    n_trees: Count
    agreement: float | None
    n_rows: Count
    n_training_rows: Count
    rows: list[Neighbour]
