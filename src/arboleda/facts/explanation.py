"""Typed facts of an explanation: of a model as a whole, or of its prediction for one row.

``explanation.schema.json`` is generated from these classes: ``python tools/write_schemas.py``.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, RootModel, Strict

from arboleda.facts.best_model import ColumnImportance, SurrogateSize, TreeFacts
from arboleda.facts.explained_row import (
    ChangeFacts,
    ColumnKind,
    ColumnValue,
    ContributionsFacts,
    ExplainedRowFacts,
    LimeFacts,
    NeighboursFacts,
    PredictionFacts,
    RangeFacts,
    TargetValue,
    Unit,
    Value,
)
from arboleda.facts.exploration import Correlation, LibraryVersions
from arboleda.facts.model import Count, FactsModel, HistogramFacts, Probability
from arboleda.facts.study import MessageFacts, Sha256

__all__ = [
    "SCHEMA_VERSION",
    "BaselineFacts",
    "BeyondTraining",
    "CalibrationSummary",
    "ColumnShap",
    "CorrelatedColumns",
    "CoverageFacts",
    "EffectCurve",
    "EffectFacts",
    "ExplainedStudy",
    "ExplanationFacts",
    "InstructiveRow",
    "ModelExplanation",
    "ModelImportance",
    "ModelSummary",
    "ModelSurrogate",
    "RowExplanation",
    "ScoreSummary",
    "ShapFacts",
]

Version = Literal[3]
SCHEMA_VERSION: Version = get_args(Version)[0]


class ExplainedStudy(FactsModel):
    """The study whose model is explained."""

    folder: str
    table: str
    target: str
    task: Literal["binary", "multiclass", "regression", "survival", "ranking"]
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
