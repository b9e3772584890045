"""Encoding of columns as a matrix, for trees and counting or for distances."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from arboleda.explore._explored_table import ExploredTable
from arboleda.study.data.table import Column

__all__ = ["CodedColumns", "code_columns", "prepare", "rescale_extremes"]

Floats = npt.NDArray[np.float64]
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
