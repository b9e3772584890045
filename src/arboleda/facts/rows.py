"""Typed facts on the rows behind a score: decisions by threshold, and the worst errors."""

from typing import Literal

from pydantic import Field

from arboleda.facts.model import Count, FactsModel, Positive, Probability

__all__ = [
    "DecisionThreshold",
    "ErrorRow",
    "ErrorValue",
    "ErrorsFacts",
    "ThresholdCurve",
    "ThresholdsFacts",
]


class ThresholdCurve(FactsModel):
    """Decisions on some rows at each threshold; null where a measure is not defined."""

    n_rows: Positive
    n_positive: Count = Field(description="rows of the positive class")
    true_positives: list[Count]
    false_positives: list[Count]
    precision: list[float | None] = Field(description="null if no row is predicted positive")
    recall: list[float | None] = Field(description="null if no row is positive")
    lift: list[float | None] = Field(description="precision divided by the share of positive rows")
    gain: list[float | None] = Field(
        description="recall less the share of rows predicted positive, which is the recall of as "
        "many rows drawn at random"
    )
    cost: list[float] = Field(description="mean cost per row")


class DecisionThreshold(FactsModel):
    """The threshold of least cost on held-out rows, compared with that of ``predict``."""

    threshold: Probability
    default: Probability = Field(description="the threshold of predict")
    saving: float = Field(
        description="by how much the mean cost of held-out rows is lower than at the default"
    )
    standard_error: float = Field(description="of the saving")


class ThresholdsFacts(FactsModel):
    """Decisions of the best model of two classes, by the threshold of its probability.

    A row is predicted positive if its probability is at least the threshold.
    """

    model: str = Field(description="key of the best model")
    skipped: str | None = Field(description="the reason why there are no thresholds")
    positive: str
    false_positive_cost: float
    false_negative_cost: float
    given_costs: bool = Field(description="whether they are the user's; if not, both are 1")
    thresholds: list[Probability] = Field(description="in ascending order")
    held_out: ThresholdCurve | None = Field(
        description="predictions of training rows by models of the folds that did not learn them"
    )
    test: ThresholdCurve | None
    chosen: DecisionThreshold | None


class ErrorValue(FactsModel):
    """The value of a row in one column; null if missing."""

    column: str
    value: str | float | None


class ErrorRow(FactsModel):
    """A test row with a large error."""

    row: Positive = Field(description="number of the data row, as in arboleda explain --row")
    truth: str | float
    predicted: str | float
    probability: Probability | None = Field(
        description="predicted probability of the true class; null without probabilities"
    )
    loss: float
    values: list[ErrorValue]


class ErrorsFacts(FactsModel):
    """The test rows on which the best model has the largest loss."""

    model: str = Field(description="key of the best model")
    loss: Literal["log_loss", "error", "absolute_error"]
    n_rows: Count = Field(description="test rows")
    n_wrong: Count | None = Field(description="misclassified rows; null in a regression")
    rows: list[ErrorRow] = Field(description="largest loss first; only misclassified rows")
