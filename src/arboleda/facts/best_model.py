"""Typed facts on the best model: its selection, rivals, calibration and explanations."""

from typing import Annotated, Literal

from pydantic import Field

from arboleda.facts.model import (
    CalibrationMethod,
    Count,
    FactsModel,
    MetricInterval,
    Metrics,
    Positive,
    Probability,
    ReliabilityBin,
    ReliabilityFacts,
    SearchSeconds,
    Seconds,
)

__all__ = [
    "CalibrationFacts",
    "CalibrationFolds",
    "CalibrationTest",
    "CalibrationVariant",
    "ColumnImportance",
    "ComparisonFacts",
    "CostsFacts",
    "FoldMetrics",
    "FoldsTest",
    "GainFacts",
    "HonestScore",
    "ImportanceFacts",
    "LeadFacts",
    "LearningCurveFacts",
    "LearningCurvePoint",
    "NodeFacts",
    "RivalFacts",
    "RivalResult",
    "RowsTest",
    "SelectedScore",
    "SelectionFacts",
    "SurrogateFacts",
    "SurrogateSize",
    "TreeFacts",
]


class SelectedScore(FactsModel):
    """The cross-validated score by which the model was selected."""

    mean: float
    sd: float | None


class HonestScore(FactsModel):
    """The score of the selection on folds that it did not use."""

    mean: float
    low: float
    high: float
    level: float
    folds: list[float] = Field(
        description="on each fold, the score of the candidate that the other folds select"
    )
    chosen: list[str] = Field(description="key of the model that the other folds select")
    method: str


class LeadFacts(FactsModel):
    """By how much the selected model is better than the second."""

    over: str = Field(description="key of the second model")
    cv: float
    honest: float


class SelectionFacts(FactsModel):
    """The selection bias of the best model's score."""

    chosen: str = Field(description="key of the best model")
    metric: str
    n_models: Positive
    n_candidates: Positive
    cv: SelectedScore
    honest: HonestScore | None
    why_not: str | None = Field(description="the reason why there is no honest score")
    optimism: float | None = Field(
        description="by how much cv.mean is better than honest.mean; negative if it is worse"
    )
    lead: LeadFacts | None
    test: float | None
    test_interval: MetricInterval | None = Field(description="null if the model was not tested")
    sentence: str


_INTERVAL = (
    "an end of the interval, which excludes 0 if the models differ; the intervals of all tests "
    "hold at once with probability level (Bonferroni)"
)


class FoldsTest(FactsModel):
    """The test of a difference of two models on the folds."""

    difference: float
    standard_error: Annotated[float, Field(ge=0.0)]
    low: float = Field(description=_INTERVAL)
    high: float = Field(description=_INTERVAL)
    p: Probability


class RowsTest(FactsModel):
    """The paired test of a difference of two models on the test rows."""

    difference: float
    low: float = Field(description=_INTERVAL)
    high: float = Field(description=_INTERVAL)
    p: Probability
    method: Literal["mcnemar", "influence"]


# A model compared with the best: distinguishable if one of its intervals excludes 0.
RivalResult = Literal["worse", "not_distinguishable", "better"]


class RivalFacts(FactsModel):
    """A model compared with the best; differences are positive if the best is better."""

    key: str
    folds: FoldsTest | None
    test: RowsTest | None
    p_adjusted: float | None = Field(
        description="the smaller p of both tests, times the number of all tests (Bonferroni)"
    )
    result: RivalResult | None = Field(description="null if neither test applies")


class ComparisonFacts(FactsModel):
    """The other models compared with the best."""

    against: str = Field(description="key of the best model")
    metric: str
    level: float = Field(description="of all intervals together")
    rows: list[RivalFacts] = Field(description="in the order of the leaderboard")
    not_distinguishable: list[str] = Field(
        description="keys of the models that differ from the best by no more than chance explains"
    )
    folds_note: str
    test_note: str
    sentence: str


class CostsFacts(FactsModel):
    """The misclassification costs."""

    labels: list[str]
    matrix: list[list[float]] = Field(description="row: true class; column: predicted class")
    reject_cost: float | None


class FoldMetrics(FactsModel):
    """A metric on each fold."""

    folds: list[float | None]
    mean: float | None
    sd: float | None


class CalibrationFolds(FactsModel):
    """A calibration method on the folds; its error and bins pool the held-out rows of all folds."""

    metrics: dict[str, FoldMetrics]
    error: float
    bins: list[ReliabilityBin]


class CalibrationTest(FactsModel):
    """A calibration method on the test rows."""

    metrics: Metrics
    calibration: ReliabilityFacts | None


class CalibrationVariant(FactsModel):
    """A calibration method that was tried on the best model."""

    method: CalibrationMethod
    cv: CalibrationFolds
    test: CalibrationTest | None


class GainFacts(FactsModel):
    """By how much a score improves, with its interval; negative if it gets worse."""

    difference: float
    low: float
    high: float
    level: float


class CalibrationFacts(FactsModel):
    """The calibration of the best model."""

    model: str = Field(description="key of the best model")
    error: str | None
    metric: str = Field(description="the metric by which a method is chosen")
    chosen: str | None = Field(
        description="a method, or none if no method is better by more than one standard error; "
        "null if no method gave probabilities"
    )
    gain: GainFacts | None = Field(
        description="of the best method over the uncalibrated model, on the folds; null without "
        "both"
    )
    variants: list[CalibrationVariant]
    timing: SearchSeconds


class ColumnImportance(FactsModel):
    """The permutation importance of one column."""

    name: str
    value: float = Field(description="by how much the metric gets worse if the column is shuffled")
    standard_error: float | None


class ImportanceFacts(FactsModel):
    """Permutation importances of the columns for the best model, on test rows."""

    metric: str
    metric_label: str
    n_rows: Count
    n_repeats: Count
    columns: list[ColumnImportance] = Field(description="largest first")
    model: str = Field(description="key of the best model")
    skipped: str | None = Field(description="the reason why there are no columns")
    timing: Seconds


class NodeFacts(FactsModel):
    """A node of a tree; at the depth limit its children are null although it has a split."""

    id: Count
    parent: int | None
    left: int | None
    right: int | None
    depth: Count
    feature: str | None
    threshold: float | None
    levels: list[str] | None = Field(default=None, description="categories of a split by category")
    levels_left: bool | None = Field(default=None, description="whether these categories go left")
    missing: Literal["left", "right"] | None
    impurity: float
    n: Count
    value: list[float]


class TreeFacts(FactsModel):
    """A tree to draw."""

    model: str
    n_leaves: Count
    depth: Count
    class_labels: list[str] | None
    value_label: str
    nodes: list[NodeFacts]


class SurrogateSize(FactsModel):
    """A surrogate tree of one size: its fidelity, its error and that of a tree of the same size."""

    n_leaves: Count
    fidelity: float
    error: float
    cart_error: float | None = Field(description="of a tree that was fitted to the target")


class SurrogateFacts(FactsModel):
    """A small tree that imitates the best model."""

    n_leaves: int | None
    n_fit: int | None
    n_rows: int | None
    fidelity: float | None = Field(
        description="agreement of the tree with the model's predictions on test rows"
    )
    error: float | None = Field(description="of the tree's predictions of the target")
    model_error: float | None
    curve: list[SurrogateSize] | None
    tree: TreeFacts | None
    model: str = Field(description="key of the best model")
    skipped: str | None = Field(description="the reason why there is no tree")
    timing: Seconds


class LearningCurvePoint(FactsModel):
    """Scores of the best model with a share of the training rows."""

    share: float
    n_rows: Positive = Field(description="mean over the folds")
    fold_scores: list[float]
    mean: float
    sd: float | None


class LearningCurveFacts(FactsModel):
    """The learning curve of the best model that is not a combination."""

    model: str
    metric: str
    skipped: str | None = Field(description="the reason why there are no points")
    points: list[LearningCurvePoint] = Field(description="from few rows to all")
    gain: GainFacts | None = Field(
        description="of all rows over the largest part of them; null without both"
    )
    timing: Seconds
