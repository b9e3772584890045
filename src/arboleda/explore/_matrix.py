"""Columns as one matrix: as they are for trees and counting, prepared for distances."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from arboleda.explore._subject import Subject
from arboleda.study.data.table import Column

__all__ = ["CodedColumns", "code_columns", "of_moderate_size", "prepare"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

# Rarer levels of a category share a code: trees and counts take no more than some ten thousand.
MOST_LEVELS = 1000
# One-hot columns of all categories together, and of one of them.
MOST_ONE_HOT, LEVELS_OF_ONE = 1000, 12


@dataclass(frozen=True)
class CodedColumns:
    """The features in some rows.

    ``x`` holds numbers, and codes in the columns listed in ``categorical``; NaN where missing.
    Dates are days since 1970.
    """

    x: Floats
    names: tuple[str, ...]
    categorical: tuple[int, ...]


def code_columns(subject: Subject, rows: Rows) -> CodedColumns:
    """Numbers and codes of the features, side by side."""
    features = subject.features
    places = tuple(j for j, c in enumerate(features) if subject.is_categorical(c))
    x = np.empty((len(rows), len(features)))
    for j, column in enumerate(features):
        if j in places:
            x[:, j] = _pooled(column)[rows]
        else:
            x[:, j] = column.values[rows]
            if column.kind == "datetime":
                x[:, j] /= 86400.0
    return CodedColumns(x, tuple(c.name for c in features), places)


def _pooled(column: Column) -> Floats:
    """Codes by falling frequency; those beyond the limit are one."""
    distinct, codes, counts = np.unique(
        column.values[~column.missing], return_inverse=True, return_counts=True
    )
    rank = np.empty(len(distinct))
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(distinct))
    pooled = np.full(len(column.values), np.nan)
    pooled[~column.missing] = np.minimum(rank, MOST_LEVELS - 1)[codes]
    return pooled


def prepare(coded: CodedColumns) -> tuple[Floats, list[str]]:
    """Numbers filled with the median and standardised, categories as one column per level.

    A one-hot column has a variance of at most a quarter, so that a category weighs at most as much
    as a number. The rarest levels share a column; a missing category is a level of its own.

    Returns
    -------
    matrix : ndarray of shape (n_rows, n_prepared)
    sources : list of str
        The column of the table that each prepared column comes from.
    """
    numeric = np.setdiff1d(np.arange(len(coded.names)), coded.categorical).tolist()
    x = coded.x.copy()
    x[:, numeric] = of_moderate_size(x[:, numeric])
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


def of_moderate_size(x: Floats) -> Floats:
    """Divide columns of values whose squares leave double precision by a power of two."""
    with np.errstate(invalid="ignore"):
        largest = np.max(np.abs(x), axis=0, initial=0.0, where=~np.isnan(x))
    _, exponent = np.frexp(largest)
    scaled: Floats = np.ldexp(x, np.where(np.abs(exponent) > 400, -exponent, 0))
    return scaled
