"""Typed facts on a single model: its candidates, its folds, its test and its members.

`arboleda.facts.study` holds the facts of the whole study, which consist of these.
"""

from typing import Annotated, Literal

from pydantic import Field

from arboleda.facts.base import Count, FactsModel, HistogramFacts, Positive
from arboleda.facts.timed import RankingFacts, SurvivalFacts

__all__ = [
    "CandidateFacts",
    "ClassMetrics",
    "Count",
    "CrossValidationFacts",
    "EnsembleFacts",
    "EvaluationFacts",
    "FactsModel",
    "GeneratedFeatures",
    "HistogramFacts",
    "ModelFacts",
    "Positive",
    "Probability",
    "ReliabilityBin",
    "ReliabilityFacts",
    "SearchSeconds",
    "Seconds",
]

Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Curve = Annotated[list[float], Field(max_length=200)]
Sample = Annotated[list[float], Field(max_length=1000)]
# How probabilities are calibrated; and those for decisions, of decision values with "link".
CalibrationMethod = Literal["none", "sigmoid", "isotonic", "temperature"]
CalibratorMethod = Literal["none", "sigmoid", "isotonic", "temperature", "link"]
# Values of metrics by key; null where a metric is undefined.
Metrics = dict[str, float | None]


class Seconds(FactsModel):
    """A duration."""

    seconds: float


class SearchSeconds(FactsModel):
    """The duration of a search."""

    search_s: float


class FidelityFacts(FactsModel):
    """The fidelity at which a candidate was scored."""

    share: float = Field(description="of the rows, and of the boosting rounds or trees")
    folds: Positive


class CandidateFacts(FactsModel):
    """A scored candidate: its hyperparameters and its scores by the study's metric."""

    params: dict[str, str | int | float | bool | None]
    status: Literal["ok", "stopped"] = Field(
        default="ok",
        description="stopped: eliminated at low fidelity, at which it was scored",
    )
    stage: FidelityFacts | None = None
    fold_scores: list[float]
    mean: float
    sd: float | None = Field(description="sample standard deviation; null for one fold")
    timing: Seconds | None = None


class MeanAndSd(FactsModel):
    """The mean of a metric over the folds, and its sample standard deviation."""

    mean: float | None
    sd: float | None = Field(description="null for one fold")


class CrossValidationFacts(FactsModel):
    """Scores of the best candidate on the folds."""

    fold_scores: list[float]
    mean: float
    sd: float | None = Field(description="sample standard deviation; null for one fold")
    metrics: dict[str, MeanAndSd]


class MetricInterval(FactsModel):
    """A confidence interval of a metric on the test rows."""

    metric: str
    low: float | None
    high: float | None
    level: float
    method: str


class AverageMetrics(FactsModel):
    """Metrics of classes, averaged over the classes."""

    precision: float
    recall: float
    specificity: float
    f1: float
    support: Count


class ClassMetrics(FactsModel):
    """Metrics of one class against the others."""

    label: str
    precision: float
    recall: float
    specificity: float
    f1: float
    support: Count


class ClassAverages(FactsModel):
    """Averages over the classes: unweighted, and weighted by support."""

    macro: AverageMetrics
    weighted: AverageMetrics


class ConfusionMatrixFacts(FactsModel):
    """Numbers of rows by true class (row) and predicted class (column)."""

    labels: list[str]
    counts: list[list[Count]]


class RocFacts(FactsModel):
    """The ROC curve of one class."""

    label: str
    fpr: Curve
    tpr: Curve
    auc: float | None


class PrecisionRecallFacts(FactsModel):
    """The precision-recall curve of one class."""

    label: str
    recall: Curve
    precision: Curve
    average_precision: float | None


class ReliabilityBin(FactsModel):
    """A bin of probabilities that holds rows.

    The probabilities are those of the positive class, or, with several classes, those of the
    predicted class.
    """

    lower: float
    upper: float
    count: Positive
    mean_probability: float
    frequency: float = Field(description="share of the rows for which the event occurred")


class ReliabilityFacts(FactsModel):
    """The reliability of a model's probabilities."""

    error: float = Field(description="expected calibration error")
    largest_by_chance: float = Field(
        description="a calibrated model with these probabilities exceeds this error with "
        "probability 1 - level"
    )
    level: float
    bins: list[ReliabilityBin]


class SubgroupMetrics(FactsModel):
    """Test metrics of the rows with one value of a column."""

    value: str
    n: Positive
    small: bool = Field(description="whether there are too few rows for precise scores")
    metrics: Metrics
    low: float | None = Field(description="lower end of the interval of the study's metric")
    high: float | None


class SubgroupGap(FactsModel):
    """The largest difference between subgroups that are not small."""

    metric: str
    best: str
    worst: str
    difference: Annotated[float, Field(ge=0.0)]


class SubgroupsFacts(FactsModel):
    """Test metrics of a model per subgroup of a column."""

    column: str
    level: float
    rows: list[SubgroupMetrics]
    gap: SubgroupGap | None


class DecisionCosts(FactsModel):
    """Costs of the decisions of least expected cost."""

    calibration: CalibratorMethod
    total: float
    mean: float = Field(description="per test row")
    counts: list[list[Count]] = Field(description="row: true class; column: decision")


class PredictionCosts(FactsModel):
    """Costs of a model's predictions for the test rows, and of the cheapest decisions instead."""

    total: float
    mean: float = Field(description="per test row")
    decided: DecisionCosts


class AccuracyCoverage(FactsModel):
    """Accuracy on the rows that are decided, by the least probability of a decision."""

    threshold: Curve
    coverage: Curve
    accuracy: Curve


class RejectedClass(FactsModel):
    """Test rows of one true class, and how many of them are rejected."""

    label: str
    n: Count
    rejected: Count


class RejectFacts(FactsModel):
    """Test rows that are rejected because every decision costs more than a rejection."""

    cost: float = Field(description="of the rejection of a row")
    threshold: float | None = Field(
        description="least probability of a decision; null with a cost matrix"
    )
    coverage: float = Field(description="share of the test rows that are decided")
    accuracy: float | None = Field(description="on the rows that are decided")
    mean_cost: float = Field(description="per test row, including rejected rows")
    curve: AccuracyCoverage
    classes: list[RejectedClass]


class ResidualFacts(FactsModel):
    """Residuals of a regression on a sample of the test rows."""

    predicted: Sample
    true: Sample
    residual: Sample = Field(description="true - predicted")
    histogram: HistogramFacts


class EvaluationFacts(FactsModel):
    """The evaluation of a model on the test rows."""

    metrics: Metrics
    interval: MetricInterval
    per_class: list[ClassMetrics] | None
    averages: ClassAverages | None
    confusion: ConfusionMatrixFacts | None
    roc: list[RocFacts] | None
    pr: list[PrecisionRecallFacts] | None
    calibration: ReliabilityFacts | None
    residuals: ResidualFacts | None
    groups: list[SubgroupsFacts] | None = None
    costs: PredictionCosts | None = None
    reject: RejectFacts | None = None
    survival: SurvivalFacts | None = Field(default=None, description="of times to an event")
    ranking: RankingFacts | None = Field(default=None, description="of rankings")


class GeneratedColumn(FactsModel):
    """A column that was generated from others."""

    name: str
    kind: Literal[
        "sum", "difference", "product", "ratio", "mean", "sd", "distance", "count", "target"
    ]
    numbers: list[str] = Field(description="the numeric columns that it is computed from")
    groups: list[str] = Field(description="the categorical columns that define its groups")
    class_: str | None = Field(
        alias="class", description="the class whose share it estimates, if it estimates a share"
    )
    fits: Positive = Field(description="number of fits that generated it")


class GeneratedFeatures(FactsModel):
    """The columns that the preparation of a model generated."""

    fits: Positive = Field(
        description="fits of the chosen candidate, each of which selected its own columns"
    )
    columns: list[GeneratedColumn]


class MemberFacts(FactsModel):
    """A member of a combined model."""

    key: str
    name: str
    weight: float = Field(
        description="its weight in the mean, or the coefficient of its value, or its share of the "
        "absolute coefficients of all probabilities; with trees, also of the gains of their splits"
    )


class PairDiversity(FactsModel):
    """How two members differ on the held-out rows."""

    first: str
    second: str
    disagreement: float
    kappa: float | None
    error: float = Field(description="mean error of the two")


class DiversityFacts(FactsModel):
    """How much the members of a combined classifier differ on the held-out rows."""

    together: Metrics = Field(description="each measure; of measures of pairs, the mean")
    errors: list[float] = Field(description="share of the held-out rows each member misclassifies")
    pairs: list[PairDiversity]


class EnsembleFacts(FactsModel):
    """The composition of a combined model."""

    method: Literal["mean", "linear", "boosted", "textbook"] = Field(
        description="a weighted mean of the predictions, a linear model of them, such a mean and "
        "boosted trees, or a vote, order statistic, product or naive Bayes rule"
    )
    members: Annotated[list[MemberFacts], Field(min_length=1)]
    diversity: DiversityFacts | None = Field(description="null in a regression")
    remarks: list[str] = Field(
        default=[],
        description="models that are not members, and how probabilities were derived",
    )


class ModelTiming(FactsModel):
    """Seconds of the final fit, of its test predictions and of the search."""

    fit_s: float | None
    predict_s: float | None
    search_s: float | None


class ModelFacts(FactsModel):
    """One model of the leaderboard."""

    key: str
    name: str
    engine: Literal["arboleda", "scikit-learn"]
    preparation: str
    generated: GeneratedFeatures | None = Field(
        default=None, description="null if the preparation of the model generates no columns"
    )
    note: str | None
    status: Literal["ok", "failed", "no_time"]
    error: str | None
    not_kept: str | None = Field(
        description="the reason why the fitted model was not saved; null if it was, or if it failed"
    )
    candidates: list[CandidateFacts] = Field(description="empty if the model failed")
    best: int | None = Field(description="index in candidates; null if the model failed")
    cv: CrossValidationFacts | None
    test: EvaluationFacts | None
    ensemble: EnsembleFacts | None = Field(
        default=None, description="the composition of a combined model; null for others"
    )
    timing: ModelTiming
