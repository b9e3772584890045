"""Typed facts of a study, as in ``results.json``, and their JSON schema.

``study.schema.json`` is generated from these classes: ``python tools/write_schemas.py``.
"""

import json
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, Strict
from pydantic.json_schema import GenerateJsonSchema

from arboleda.facts.best_model import (
    CalibrationFacts,
    ComparisonFacts,
    CostsFacts,
    ImportanceFacts,
    LearningCurveFacts,
    SelectionFacts,
    SurrogateFacts,
    TreeFacts,
)
from arboleda.facts.model import (
    Count,
    FactsModel,
    HistogramFacts,
    ModelFacts,
    Positive,
)
from arboleda.facts.rows import ErrorsFacts, ThresholdsFacts

__all__ = ["SCHEMA_VERSION", "StudyFacts", "format_schema"]

Version = Literal[4]
SCHEMA_VERSION: Version = get_args(Version)[0]
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
OpenFraction = Annotated[float, Field(gt=0.0, lt=1.0)]
Number = int | float
# By new value, the values that were merged into it.
Merged = dict[str, list[str]]
# A value and its number of rows.
Frequency = Annotated[tuple[str, Count], Strict(strict=False)]


class SettingsFacts(FactsModel):
    """The settings of the study beside its table and target."""

    task: Literal["classification", "regression"] | None
    metric: str | None
    preset: Literal["quick", "thesis", "best"]
    models: list[str] | None = Field(description="null: those of the preset")
    search: Annotated[str, Field(pattern="^(grid|halving|(random|tpe):[0-9]+)$")] | None = Field(
        description="null: that of the preset"
    )
    cv: str = Field(description="such as 5, 5x3, group:5, time:5, loo or bootstrap:50")
    test_size: OpenFraction
    test: str | None = Field(description="name of the separate test table")
    time_budget: float | None = Field(description="seconds")
    random_state: Count
    cost_matrix: dict[str, dict[str, Number]] | list[list[Number]] | None = Field(
        description="cost by true class, then predicted class; in an array in sorted order"
    )
    reject_cost: float | None
    groups: str | None
    time: str | None
    event: str | None = Field(default=None, description="null unless times to it are predicted")
    query: str | None = Field(default=None, description="null unless rows are ranked")
    score_by: list[str]
    where: list[str] = Field(description="conditions that all rows satisfy")
    drop_missing: bool
    drop_duplicates: bool
    merge: dict[str, Merged] = Field(description="by column")
    drop: list[str]
    drop_missing_target: bool = False
    keep: list[str] = Field(default=[], description="names or patterns of columns")
    types: list[str] = Field(default=[], description="as in zip=category")
    positive: str | None = Field(default=None, description="null: the last in sorted order")
    lang: Literal["en", "es"]
    fit_timeout: float | None = Field(description="seconds")
    fit_memory: int | None = Field(description="bytes")


class SchemeFacts(FactsModel):
    """How the training rows were divided into folds, and how the test rows were selected."""

    name: str
    kind: Literal["kfold", "repeated", "group", "time", "loo", "bootstrap"]
    folds: Positive
    repeats: Positive
    test: Literal["random", "grouped", "latest", "file"]


class SetupFacts(FactsModel):
    """What was studied, and how."""

    table: str
    target: str
    task: Literal["binary", "multiclass", "regression", "survival", "ranking"]
    seed: Count
    folds: Positive
    test_size: OpenFraction
    settings: SettingsFacts
    scheme: SchemeFacts
    models: Annotated[list[str], Field(min_length=1)] = Field(
        description="the requested models: core, all, or keys of the catalogue"
    )
    metric: str
    metric_label: str
    greater_is_better: bool
    positive_class: str | None
    data_sha256: Sha256
    test_sha256: Sha256 | None = Field(description="of the separate test table, if there is one")


class NumericSummary(FactsModel):
    """Statistics of a numeric column; null where a value exceeds double precision."""

    min: float | None
    max: float | None
    mean: float | None
    sd: float | None
    median: float | None
    q1: float | None
    q3: float | None


class ParsingFacts(FactsModel):
    """How a column was read from texts that people wrote."""

    source: str = Field(description="the column of the table")
    format: str
    share: Annotated[float, Field(ge=0, le=1)] = Field(description="of the values that parse")
    unparsed: list[str] = Field(description="some of the values that do not")


class ColumnFacts(FactsModel):
    """The description of one column."""

    name: str
    kind: Literal["numeric", "categorical", "boolean", "datetime", "text", "list"]
    role: Literal["feature", "target", "left_out"]
    reason: str | None = Field(description="why the column is left out; null if it is not")
    n_missing: Count
    n_distinct: Count
    numeric: NumericSummary | None
    top: Annotated[list[Frequency], Field(max_length=10)] | None = Field(
        description="the most frequent values with their numbers of rows"
    )
    histogram: HistogramFacts | None
    examples: list[str] = Field(
        default=[], description="at most three values as the table has them"
    )
    use: str | None = Field(
        default=None, description="what models get of the column; null if left out"
    )
    parsing: ParsingFacts | None = Field(
        default=None, description="how numbers or dates were read from texts; null if plainly"
    )


class NoteFacts(FactsModel):
    """A note on the table or on one column."""

    level: Literal["info", "warning"]
    column: str | None
    text: str


class RecipeStepFacts(FactsModel):
    """A step of the recipe that prepared the table."""

    kind: Literal[
        "drop_missing_target", "drop_missing", "drop_duplicates", "where", "merge", "drop"
    ]
    columns: list[str] = Field(
        description="named by the condition, or with merged values, or dropped"
    )
    condition: str | None
    into: Merged | None
    rows_before: Count
    rows_after: Count


class RecipeFacts(FactsModel):
    """The preparation of the table before the split."""

    n_rows: Count = Field(description="as read")
    steps: list[RecipeStepFacts]


class TableFacts(FactsModel):
    """The description of the prepared table."""

    n_rows: Count
    n_columns: Count
    n_duplicate_rows: Count
    n_missing_cells: Count
    rows_dropped: Count = Field(description="by the recipe")
    columns: list[ColumnFacts]
    notes: list[NoteFacts]
    recipe: RecipeFacts | None = Field(default=None, description="null: the table is as read")


class ClassCounts(FactsModel):
    """Numbers of rows of one class."""

    label: str
    train: Count
    test: Count


class SplitFacts(FactsModel):
    """The numbers of training and test rows."""

    n_train: Count
    n_test: Count
    classes: list[ClassCounts] | None = Field(description="null in a regression")


class CautionFacts(FactsModel):
    """A reason why the scores may be better than those on new rows."""

    kind: Literal["leak", "twins", "order", "time", "groups", "identifier", "fold", "few_tested"]
    columns: list[str]
    text: str


class SkippedFacts(FactsModel):
    """Candidates of a model that were skipped for lack of time."""

    key: str
    name: str
    candidates: Positive
    whole: bool = Field(description="whether all candidates of the model were skipped")


class SearchFacts(FactsModel):
    """How candidates were searched."""

    preset: str
    rounds: Count
    budget: float | None = Field(description="maximum duration in seconds")
    left_out: list[SkippedFacts]


class EnvironmentFacts(FactsModel):
    """Versions and the machine."""

    python: str
    arboleda: str
    numpy: str
    scikit_learn: str
    platform: str
    cores: Count


class NumberText(FactsModel):
    """A formatted number in a sentence, such as 0.953."""

    number: str


class MessageFacts(FactsModel):
    """The code and the values of a sentence, from which a page writes it in another language."""

    code: str
    values: dict[str, str | int | NumberText]


class StudyTiming(FactsModel):
    """When the study started, and its duration in seconds."""

    started: str
    total_s: float


class StudyFacts(FactsModel):
    """The facts of a study, as in results.json.

    Strings are raw text of the user. Values that depend on the clock are under keys named timing.
    """

    schema_version: Version
    arboleda_version: str
    study: SetupFacts
    data: TableFacts
    split: SplitFacts
    cautions: list[CautionFacts] = Field(default=[])
    models: list[ModelFacts] = Field(description="best cross-validated mean first, failures last")
    search: SearchFacts | None = None
    selection: SelectionFacts | None = None
    comparison: ComparisonFacts | None = None
    costs: CostsFacts | None = None
    thresholds: ThresholdsFacts | None = Field(
        default=None, description="null unless there are two classes"
    )
    errors: ErrorsFacts | None = None
    calibration: CalibrationFacts | None
    importance: ImportanceFacts | None = None
    surrogate: SurrogateFacts | None = None
    learning_curve: LearningCurveFacts | None = None
    tree: TreeFacts | None
    environment: EnvironmentFacts
    timing: StudyTiming
    messages: dict[str, MessageFacts] = Field(
        default={}, description="by the sentence as it stands in the facts"
    )


class _SchemaWriter(GenerateJsonSchema):
    """A schema that is the same with all versions of pydantic, and without titles of fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def literal_schema(self, schema: Any) -> dict[str, Any]:
        written = super().literal_schema(schema)
        if "const" in written:
            written.pop("enum", None)
        return written


def format_schema(facts: type[BaseModel]) -> str:
    """Return the JSON schema of facts as the text of a file."""
    schema = facts.model_json_schema(by_alias=True, schema_generator=_SchemaWriter)
    return json.dumps({"$schema": DIALECT, **schema}, indent=2, ensure_ascii=False) + "\n"
