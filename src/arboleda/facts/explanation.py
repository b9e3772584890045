"""Typed facts of an explanation: of a model as a whole, or of its prediction for one row.

``explanation.schema.json`` is generated from these classes: ``python tools/write_schemas.py``.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, RootModel, Strict

from arboleda.facts.best_model import ColumnImportance, SurrogateSize, TreeFacts
from arboleda.facts.exploration import Correlation, LibraryVersions
from arboleda.facts.model import Count, FactsModel, HistogramFacts, Positive, Probability
from arboleda.facts.study import MessageFacts, Sha256

__all__ = [
    "SCHEMA_VERSION",
    "AbsoluteErrors",
    "BaselineFacts",
    "BeyondTraining",
    "CalibrationSummary",
    "ChangeFacts",
    "ClassProbability",
    "ColumnContribution",
    "ColumnShap",
    "ColumnValue",
    "ConditionWeight",
    "ContributionsFacts",
    "CorrelatedColumns",
    "CoverageFacts",
    "EffectCurve",
    "EffectFacts",
    "ExplainedRowFacts",
    "ExplainedStudy",
    "ExplanationFacts",
    "InstructiveRow",
    "LimeFacts",
    "ModelExplanation",
    "ModelImportance",
    "ModelSummary",
    "ModelSurrogate",
    "Neighbour",
    "NeighboursFacts",
    "PredictionFacts",
    "RangeFacts",
    "RowExplanation",
    "ScoreSummary",
    "ShapFacts",
    "SimilarRows",
    "UsualValues",
]

Version = Literal[3]
SCHEMA_VERSION: Version = get_args(Version)[0]

# A value of the table; null if missing.
Value = str | int | float | None
# A class, or a value of the target.
TargetValue = str | int | float
ColumnKind = Literal["numeric", "categorical", "boolean"]
Unit = Literal["probability", "log_odds", "score", "value"]
NotNegative = Annotated[float, Field(ge=0.0)]


class ExplainedStudy(FactsModel):
    """The study whose model is explained."""

    folder: str
    table: str
    target: str
    task: Literal["binary", "multiclass", "regression"]
    labels: list[str] | None
    positive_class: str | None
    metric: str
    metric_label: str
    greater_is_better: bool
    n_train: Count
    n_test: Count
    data_sha256: Sha256


class ScoreSummary(FactsModel):
    """The mean of the study's metric over the folds, and its standard deviation."""

    mean: float | None
    sd: float | None


class BaselineFacts(FactsModel):
    """The model that the others must beat."""

    name: str
    test: float | None


class CalibrationSummary(FactsModel):
    """The calibration error on the test rows, and its quantile under chance."""

    error: float
    largest_by_chance: float
    level: float
    bins: list[dict[str, Any]]


class ModelSummary(FactsModel):
    """The explained model, and its scores."""

    key: str
    name: str
    engine: str
    params: dict[str, Any]
    n_models: Count
    rank: Count
    cv: ScoreSummary
    test: float | None
    interval: dict[str, Any]
    baseline: BaselineFacts | None
    calibration: CalibrationSummary | None
    probabilities: bool = Field(description="whether the model predicts class probabilities")
    by_trees: bool = Field(description="whether the model extrapolates as a constant")


class ModelImportance(FactsModel):
    """Permutation importance on test rows."""

    metric: str
    metric_label: str
    n_rows: Count
    n_repeats: Count
    columns: list[ColumnImportance] = Field(description="largest first")


class EffectCurve(FactsModel):
    """The mean prediction of one output along a column."""

    label: str | None
    values: list[float]


class EffectFacts(FactsModel):
    """Mean prediction along a column."""

    name: str
    kind: ColumnKind
    n_rows: Count
    values: list[Value]
    shares: list[Probability] | None
    curves: list[EffectCurve]
    histogram: HistogramFacts | None


class ModelSurrogate(FactsModel):
    """A tree fitted to the predictions of the model.

    Fidelity is the share of equal classes, or R2; errors are error rates, or RMSE, against the
    truth.
    """

    n_leaves: Count
    n_fit: Count
    n_rows: Count
    fidelity: float
    error: float
    model_error: float
    curve: list[SurrogateSize]
    tree: TreeFacts


class ColumnShap(FactsModel):
    """Shapley values of a column."""

    name: str
    mean: float
    points: list[Annotated[tuple[float, Probability | None], Strict(strict=False)]] = Field(
        description="a contribution, and the quantile of the value of the row"
    )


class ShapFacts(FactsModel):
    """Shapley values of test rows, by column."""

    method: Literal["shap", "sampling"]
    n_orders: Count | None = Field(description="null if exact")
    output: str | None
    unit: Unit
    n_rows: Count
    n_others: Count
    columns: list[ColumnShap]


class CoverageFacts(FactsModel):
    """Coverage of sets or intervals on the test rows, each half calibrated on the other."""

    level: Probability
    n_rows: Count
    coverage: Probability
    sizes: list[Count] | None = Field(
        description="number of rows by the size of the prediction set, from 0"
    )
    mean_size: float | None
    mean_width: float | None
    target_width: float | None
    widths: HistogramFacts | None


class InstructiveRow(FactsModel):
    """An instructive test row."""

    row: Count
    why: Literal["wrong", "surely_wrong", "unsure", "right", "surely_right", "off", "middle"]
    truth: TargetValue
    prediction: TargetValue
    probability: Probability | None


class CorrelatedColumns(FactsModel):
    """Two columns with a high rank correlation."""

    columns: list[str]
    correlation: Correlation


class BeyondTraining(FactsModel):
    """Test rows outside the range of the training rows, with the most frequent column."""

    n_rows: Count
    n_test: Count
    column: str | None


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


class _ExplanationFrame(FactsModel):
    """What explanations of models and of rows have in common."""

    schema_version: Version
    arboleda_version: str
    study: ExplainedStudy
    model: ModelSummary
    seed: Count
    environment: LibraryVersions
    messages: dict[str, MessageFacts] = Field(
        default={}, description="by the sentence as it stands in the facts"
    )


class ModelExplanation(_ExplanationFrame):
    """The page of a model as a whole."""

    about: Literal["model"]
    names: list[str]
    importance: ModelImportance | None
    effects: list[EffectFacts]
    surrogate: ModelSurrogate | None
    shap: ShapFacts | None
    promise: CoverageFacts | None
    rows: list[InstructiveRow] = Field(description="instructive test rows")
    correlated: list[CorrelatedColumns]
    beyond: BeyondTraining


class RowExplanation(_ExplanationFrame):
    """The page of one row."""

    about: Literal["row"]
    row: ExplainedRowFacts
    prediction: PredictionFacts
    range: RangeFacts | None
    targets: HistogramFacts | None
    values: list[ColumnValue]
    contributions: ContributionsFacts
    lime: LimeFacts | None = Field(
        description="null if the contributions are exact, or if its fidelity is below 0.7"
    )
    changes: list[ChangeFacts]
    neighbours: NeighboursFacts


class ExplanationFacts(
    RootModel[Annotated[ModelExplanation | RowExplanation, Field(discriminator="about")]]
):
    """The facts of an explanation of a model of a study, or of one row.

    Strings are raw text of the user. Parts that cannot be computed for the model or its rows are
    null.
    """
