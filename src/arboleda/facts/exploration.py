"""Typed facts of an exploration of a table.

``exploration.schema.json`` is generated from these classes: ``python tools/write_schemas.py``.
"""

from typing import Annotated, Literal, get_args

from pydantic import Field

from arboleda.facts.model import Count, FactsModel, HistogramFacts, Positive, Probability
from arboleda.facts.study import ColumnFacts, MessageFacts, Sha256

__all__ = [
    "SCHEMA_VERSION",
    "BicFacts",
    "ClassSize",
    "ClustersFacts",
    "ColumnPair",
    "ColumnPartner",
    "ComponentsFacts",
    "ConflictsFacts",
    "CorrelationMatrix",
    "DuplicatesFacts",
    "EqualRows",
    "ExplorationFacts",
    "ExploredTableFacts",
    "ExploredTargetFacts",
    "IsomapFacts",
    "LibraryVersions",
    "Loading",
    "MapFacts",
    "MissingFacts",
    "MissingPattern",
    "MixturesFacts",
    "OutlierFacts",
    "OutliersFacts",
    "ProblemFacts",
    "ProfileFacts",
    "ProfileGroup",
    "RelationsFacts",
    "ScalingFacts",
    "TargetRelation",
    "TargetRelationsFacts",
    "TsneFacts",
    "UnequalTargets",
    "UnusualValue",
]

Version = Literal[1]
SCHEMA_VERSION: Version = get_args(Version)[0]

Correlation = Annotated[float, Field(ge=-1.0, le=1.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
RowNumbers = Annotated[list[Positive], Field(description="numbers of some of the rows, from 1")]
TargetValue = str | int | float


class ExploredTableFacts(FactsModel):
    """The table, and its size."""

    name: str
    stem: str
    sha256: Sha256
    n_rows: Count
    n_columns: Count
    n_missing_cells: Count


class ClassSize(FactsModel):
    """The number of rows of a class."""

    label: str
    n_rows: Count


class ExploredTargetFacts(FactsModel):
    """The target."""

    name: str
    task: Literal["binary", "multiclass", "regression"]
    why: str
    n_known: Count
    positive_class: str | None
    classes: list[ClassSize] | None


class ProblemFacts(FactsModel):
    """A caution about the table or a column."""

    level: Literal["info", "warning"]
    code: Literal[
        "reading",
        "constant",
        "empty",
        "identifier",
        "text",
        "mostly_missing",
        "dominant",
        "many_levels",
        "dates",
        "one_to_one",
        "near_copy",
        "tells_target",
        "target_missing",
        "rare_class",
    ]
    column: str | None
    text: str


class MissingPattern(FactsModel):
    """Rows in which the same columns are missing."""

    columns: list[str] = Field(description="at most 24 of them")
    n_columns: Count
    n_rows: Count


class MissingFacts(FactsModel):
    """Missing values."""

    n_complete_rows: Count
    n_columns: Count = Field(description="columns with a missing value")
    n_patterns: Count = Field(
        description="number of patterns of missing columns, except complete rows"
    )
    patterns: list[MissingPattern] = Field(description="the most frequent first")


class EqualRows(FactsModel):
    """A group of equal rows."""

    n_rows: Count
    rows: RowNumbers


class UnequalTargets(FactsModel):
    """A group of rows that agree in all features and differ in the target."""

    n_rows: Count
    rows: RowNumbers
    targets: list[TargetValue]


class ConflictsFacts(FactsModel):
    """Rows that agree in all features and differ in the target."""

    n_groups: Count
    n_rows: Count
    groups: list[UnequalTargets]


class DuplicatesFacts(FactsModel):
    """Equal rows."""

    n_repeats: Count = Field(description="rows that repeat an earlier row")
    n_groups: Count
    groups: list[EqualRows]
    conflicts: ConflictsFacts | None


class ColumnPartner(FactsModel):
    """A numeric column and the one most correlated with it."""

    name: str
    partner: str
    correlation: Correlation


class ColumnPair(FactsModel):
    """The correlation of two columns."""

    columns: Annotated[list[str], Field(min_length=2, max_length=2)]
    correlation: Correlation


class CorrelationMatrix(FactsModel):
    """The correlations of all pairs of some columns."""

    columns: list[str]
    values: list[list[Correlation | None]]


class RelationsFacts(FactsModel):
    """Pearson's correlations of the numeric columns."""

    n_rows: Count
    n_columns: Count
    n_compared: Count
    partners: list[ColumnPartner]
    pairs: list[ColumnPair] = Field(description="the strongest first")
    matrix: CorrelationMatrix


class TargetRelation(FactsModel):
    """The relation of a column with the target."""

    name: str
    correlation: Correlation | None
    information: NotNegative = Field(description="mutual information in nats, corrected for chance")
    share: Probability = Field(description="share of the entropy")


class TargetRelationsFacts(FactsModel):
    """The relations of the columns with the target."""

    n_rows: Count
    entropy: NotNegative = Field(
        description="entropy of the target, in nats; of its deciles for a quantity"
    )
    columns: list[TargetRelation] = Field(description="the most informative first")


class ProfileGroup(FactsModel):
    """The target in the rows with one value, or an interval of values."""

    label: str | None = Field(description="null: rows without a value")
    n_rows: Positive
    shares: list[float] | None = Field(description="shares of the classes")
    mean: float | None = Field(description="mean of a quantity")


class ProfileFacts(FactsModel):
    """The target by the values of a column."""

    name: str
    groups: list[ProfileGroup]


class MapFacts(FactsModel):
    """Points by row, with the longer side scaled to 1."""

    rows: list[Positive]
    x: list[float]
    y: list[float]
    targets: list[int | float | None] | None = Field(
        description="class indices, or values; null if missing"
    )


class Loading(FactsModel):
    """The share of a column in a component."""

    name: str
    share: float


class ComponentsFacts(FactsModel):
    """Principal components."""

    n_rows: Count
    n_prepared: Count
    explained: list[float] = Field(description="share of the variance by component")
    n_kept: Count
    loadings: list[list[Loading]]
    map: MapFacts


class BicFacts(FactsModel):
    """The BIC of Gaussian mixtures, by the number of components; null if one collapsed."""

    full: list[float | None]
    diag: list[float | None]


class MixturesFacts(FactsModel):
    """Gaussian mixtures."""

    n_components: Count
    bic: BicFacts


class ClustersFacts(FactsModel):
    """Clusters by k-means; lists run over k."""

    n_rows: Count
    n_components: Count
    k: list[Count]
    inertia: list[float]
    silhouette: list[float | None]
    n_silhouette_rows: Count
    mixtures: MixturesFacts


class TsneFacts(FactsModel):
    """A map by t-SNE."""

    n_rows: Count
    perplexity: int | float
    map: MapFacts


class IsomapFacts(FactsModel):
    """A map by Isomap."""

    n_rows: Count
    n_neighbors: Count
    map: MapFacts


class ScalingFacts(FactsModel):
    """A map by multidimensional scaling."""

    n_rows: Count
    stress: NotNegative = Field(
        description="Kruskal's stress-1 of the map: 0 if all distances are preserved"
    )
    map: MapFacts


class UnusualValue(FactsModel):
    """A value that few rows have."""

    column: str
    value: str | bool | int | float | None
    share: Probability


class OutlierFacts(FactsModel):
    """A row with a high outlier score."""

    row: Positive
    score: float
    target: TargetValue | None
    unusual: list[UnusualValue]


class OutliersFacts(FactsModel):
    """Outliers by proximity in a random forest."""

    n_rows: Count
    n_trees: Count
    n_suspicious: Count = Field(description="rows with a score above 10")
    histogram: HistogramFacts | None
    rows: list[OutlierFacts]


class LibraryVersions(FactsModel):
    """Versions of the libraries."""

    python: str
    arboleda: str
    numpy: str
    scikit_learn: str


class ExplorationFacts(FactsModel):
    """The facts of an exploration.

    Strings are raw text of the user. Parts that cannot be computed for the table are null.
    """

    schema_version: Version
    arboleda_version: str
    table: ExploredTableFacts
    seed: Count
    target: ExploredTargetFacts | None
    columns: list[ColumnFacts]
    cautions: list[ProblemFacts]
    missing: MissingFacts
    duplicates: DuplicatesFacts
    relations: RelationsFacts | None
    target_relations: TargetRelationsFacts | None
    profiles: list[ProfileFacts] | None = Field(
        description="the target by the most informative columns"
    )
    components: ComponentsFacts | None
    clusters: ClustersFacts | None
    tsne: TsneFacts | None
    isomap: IsomapFacts | None
    mds: ScalingFacts | None
    no_structure: str | None = Field(
        description="reason why there are no components, clusters and maps"
    )
    outliers: OutliersFacts | None
    environment: LibraryVersions
    messages: dict[str, MessageFacts] = Field(
        default={}, description="by the sentence as it stands in the facts"
    )
