"""The explored table, its target and roles, and its columns encoded as a matrix."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from arboleda._utils.errors import StudyError
from arboleda.reports.fact_messages import write_message
from arboleda.tables.features import Role, find_roles
from arboleda.tables.table import Column, Note, StudyTable
from arboleda.tables.target import MAX_CLASSES, decide_task, format_class

__all__ = [
    "CodedColumns",
    "ExploredTable",
    "ExploredTarget",
    "code_columns",
    "make_explored_table",
    "prepare",
    "rescale_extremes",
]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ExploredTarget:
    """The target: class numbers (an index into ``labels``) or values; NaN where missing."""

    name: str
    task: Literal["binary", "multiclass", "regression"]
    y: Floats
    labels: tuple[str, ...]
    why: str

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Mask of the rows with a target."""
        return ~np.isnan(self.y)

    @property
    def positive(self) -> str | None:
        """The positive class of a binary target: the last in sorted order."""
        return self.labels[1] if self.task == "binary" else None


@dataclass(frozen=True)
class ExploredTable:
    """The table without infinite values, the roles of its columns, and the target."""

    table: StudyTable
    roles: Mapping[str, Role]
    goal: ExploredTarget | None
    seed: int

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns that are neither the target nor excluded."""
        return tuple(c for c in self.table.columns if self.roles[c.name].role == "feature")

    def is_categorical(self, column: Column) -> bool:
        """Return whether the column holds texts, which are compared as categories."""
        return column.kind == "string"

    def sample(self, most: int, stream: int) -> npt.NDArray[np.int64]:
        """Draw at most ``most`` row numbers without replacement, in ascending order.

        ``stream`` makes the samples of different parts independent.
        """
        n_rows = self.table.n_rows
        if n_rows <= most:
            return np.arange(n_rows)
        return np.sort(np.random.default_rng([self.seed, stream]).permutation(n_rows)[:most])


def make_explored_table(table: StudyTable, target: str | None, seed: int) -> ExploredTable:
    """Infer the roles of all columns from all rows.

    Raises
    ------
    StudyError
        If the target column does not exist, has only one value or has too many classes.
    """
    finite = _replace_infinities(table)
    goal = None if target is None else _make_target(finite, target)
    return ExploredTable(finite, find_roles(finite, target, np.arange(finite.n_rows)), goal, seed)


def _replace_infinities(table: StudyTable) -> StudyTable:
    """Replace infinite values by missing ones, with a note."""
    columns, notes = [], list(table.notes)
    for column in table.columns:
        infinite = np.isinf(column.values)
        if not infinite.any():
            columns.append(column)
            continue
        columns.append(replace(column, values=np.where(infinite, np.nan, column.values)))
        first = int(infinite.argmax()) + 1
        text = write_message("infinite", count=int(infinite.sum()), first=first)
        notes.append(Note("warning", column.name, text))
    return replace(table, columns=tuple(columns), notes=tuple(notes))


def _make_target(table: StudyTable, name: str) -> ExploredTarget:
    column = table.column(name)
    known = ~column.missing
    if not known.any():
        raise StudyError(
            f"The target column {name!r} is missing in every row; choose another target, or "
            "explore without one."
        )
    present = replace(column, values=column.values[known])
    classify, why = (False, "regression: the target holds dates")
    if column.kind != "datetime":
        classify, why = decide_task(present, None)
    distinct, codes = np.unique(present.values, return_inverse=True)
    if len(distinct) == 1:
        raise StudyError(
            f"The target column {name!r} has only one distinct value; choose another target, or "
            "explore without one."
        )
    if not classify:
        # The reasons of a study mention its option --task, which exploring does not have.
        return ExploredTarget(name, "regression", column.values, (), why.partition(" (--task")[0])
    if len(distinct) > MAX_CLASSES:
        raise StudyError(
            f"The target {name!r} has {len(distinct):,} classes; the maximum is "
            f"{MAX_CLASSES}: merge classes, or explore without a target."
        )
    y = np.full(table.n_rows, np.nan)
    y[known] = codes
    labels = tuple(format_class(column, value) for value in distinct)
    task: Literal["binary", "multiclass"] = "binary" if len(labels) == 2 else "multiclass"
    return ExploredTarget(name, task, y, labels, why.partition(" (--task")[0])


Rows = npt.NDArray[np.int64]

# Maximum number of codes per category; rarer levels share the last code.
MOST_LEVELS = 1000
# Maximum number of one-hot columns in total and per category.
MOST_ONE_HOT, LEVELS_OF_ONE = 1000, 12


@dataclass(frozen=True)
class CodedColumns:
    """The encoded features of some rows.

    ``x`` holds numbers, or codes in the columns listed in ``categorical``; NaN means missing.
    Dates are days since 1970.
    """

    x: Floats
    names: tuple[str, ...]
    categorical: tuple[int, ...]


def code_columns(subject: ExploredTable, rows: Rows) -> CodedColumns:
    """Encode the features as one matrix of numbers and codes."""
    features = subject.features
    places = tuple(j for j, c in enumerate(features) if subject.is_categorical(c))
    x = np.empty((len(rows), len(features)))
    for j, column in enumerate(features):
        if j in places:
            x[:, j] = _pool_levels(column)[rows]
        else:
            x[:, j] = column.values[rows]
            if column.kind == "datetime":
                x[:, j] /= 86400.0
    return CodedColumns(x, tuple(c.name for c in features), places)


def _pool_levels(column: Column) -> Floats:
    """Return codes by descending frequency, limited to `MOST_LEVELS` distinct codes."""
    distinct, codes, counts = np.unique(
        column.values[~column.missing], return_inverse=True, return_counts=True
    )
    rank = np.empty(len(distinct))
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(distinct))
    pooled = np.full(len(column.values), np.nan)
    pooled[~column.missing] = np.minimum(rank, MOST_LEVELS - 1)[codes]
    return pooled


def prepare(coded: CodedColumns) -> tuple[Floats, list[str]]:
    """Impute and standardise numeric columns and one-hot encode categories.

    A one-hot column has a variance of at most a quarter, hence a category has at most the weight
    of a number. The rarest levels share a column; missing is a separate level.

    Returns
    -------
    matrix : ndarray of shape (n_rows, n_prepared)
    sources : list of str
        The column of the table that each prepared column comes from.
    """
    numeric = np.setdiff1d(np.arange(len(coded.names)), coded.categorical).tolist()
    x = coded.x.copy()
    x[:, numeric] = rescale_extremes(x[:, numeric])
    x[:, coded.categorical] = np.nan_to_num(x[:, coded.categorical], nan=-1.0)
    most = int(np.clip(MOST_ONE_HOT // max(1, len(coded.categorical)), 2, LEVELS_OF_ONE))
    one_hot = OneHotEncoder(max_categories=most, sparse_output=False, handle_unknown="ignore")
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    transformer = ColumnTransformer(
        [
            ("numeric", make_pipeline(fill, StandardScaler()), numeric),
            ("categories", one_hot, list(coded.categorical)),
        ],
        sparse_threshold=0,
    )
    matrix: Floats = transformer.fit_transform(x)
    sources = [coded.names[j] for j in numeric]
    if coded.categorical:
        fitted = transformer.named_transformers_["categories"]
        for j, levels, rare in zip(
            coded.categorical, fitted.categories_, fitted.infrequent_categories_, strict=True
        ):
            n_columns = len(levels) if rare is None else len(levels) - len(rare) + 1
            sources += [coded.names[j]] * n_columns
    return matrix, sources


def rescale_extremes(x: Floats) -> Floats:
    """Divide columns by a power of two if the squares of their values overflow or underflow."""
    with np.errstate(invalid="ignore"):
        largest = np.max(np.abs(x), axis=0, initial=0.0, where=~np.isnan(x))
    _, exponent = np.frexp(largest)
    scaled: Floats = np.ldexp(x, np.where(np.abs(exponent) > 400, -exponent, 0))
    return scaled
