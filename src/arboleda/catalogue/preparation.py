"""Preprocessing of columns, fitted to each fold's training rows, and a cache of prepared rows."""

import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

from arboleda._engine.shared_binning import (
    SharedBinning,
    get_reading_options,
    supports_shared_binning,
)
from arboleda.catalogue.columnwise import CROSS_FITTED, fit_transform_in_parts
from arboleda.features.cross_search import CrossedColumns
from arboleda.features.feature_crosses import make_target_encoder
from arboleda.tables.features import ONE_HOT_LEVELS, Features
from arboleda.tables.target import n_scores
from arboleda.tables.timed_target import convert_to_numbers

__all__ = [
    "PREPARATIONS",
    "Prepared",
    "PreparedRows",
    "Style",
    "count_prepared_columns",
    "describe_preparation",
    "find_prepared_sources",
    "make_preparation",
    "name_prepared_columns",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

Style = Literal["none", "native", "filled", "scaled", "ranked", "crossed"]

PREPARATIONS: dict[Style, str] = {
    "none": "none",
    "native": "one-hot; missing values native",
    "filled": "one-hot; median imputation",
    "scaled": "one-hot; median imputation; standardised",
    "ranked": "one-hot; median imputation; ranks as normal scores",
    "crossed": "original columns and feature crosses",
}


def describe_preparation(style: Style, *, has_categories: bool, has_gaps: bool) -> str:
    """Describe what a style does to a table with, or without, categories and missing values.

    Examples
    --------
    >>> describe_preparation("scaled", has_categories=False, has_gaps=True)
    'median imputation; standardised'
    >>> describe_preparation("native", has_categories=False, has_gaps=False)
    'none'
    """
    absent = set() if has_categories else {"one-hot"}
    if not has_gaps:
        absent |= {"median imputation", "missing values native"}
    parts = [part for part in PREPARATIONS[style].split("; ") if part not in absent]
    return "; ".join(parts) or PREPARATIONS["none"]


def count_prepared_columns(features: Features, style: Style) -> int:
    """Return about how many columns a style makes of the features, for the estimates of costs.

    For trees, and where categories stay as they are, that is one for each feature.
    """
    if style not in ("filled", "scaled", "ranked"):
        return len(features.names)
    levels = [len(texts) for texts in features.levels.values()]
    return len(features.numeric) + sum(n if n <= ONE_HOT_LEVELS else 1 for n in levels)


# Levels with fewer training rows than this share one column.
RARE = 5
# Quantiles for ranks: the minimum, the rows of the table per quantile, and the maximum. With twenty
# rows per quantile, a fold's training rows outnumber the quantiles.
LEAST_RANKS, ROWS_PER_RANK, MOST_RANKS = 10, 20, 1_000
# Maximum rows from which the quantiles are computed.
RANKED_ROWS = 100_000


@dataclass(frozen=True)
class LevelCount:
    """Selector of the categorical columns with many, or few, levels in the training rows."""

    columns: tuple[int, ...]
    many: bool

    def __call__(self, x: Floats) -> list[int]:
        """Return the indices of the selected columns."""
        return self.select(x, slice(None))

    def select(self, x: Floats, rows: Rows | slice) -> list[int]:
        """Return the indices of the columns that are selected by some of the rows."""
        levels = {j: len(np.unique(x[rows, j])) for j in self.columns}
        return [j for j, count in levels.items() if (count > ONE_HOT_LEVELS) == self.many]


def make_preparation(features: Features, style: Style, task: str, seed: int) -> Any:
    """Make the transformer of the feature matrix to a model's input.

    "native" leaves numbers and their missing values unchanged. "filled" imputes the median and adds
    missing indicators; "scaled" also standardizes, and "ranked" replaces each number by the normal
    quantile of its rank. These styles one-hot encode categories (rare levels pooled, unseen ones
    ignored), and target-encode columns of many levels, cross-fitted so that no row uses its own
    target (Micci-Barreca 2001). Missing categories are a level of their own. "crossed" leaves all
    columns unchanged, categories too, and adds generated columns.
    """
    if style == "none":
        return "passthrough"
    if style == "crossed":
        return CrossedColumns(features.names, features.categorical, task, seed)
    scale = style in ("scaled", "ranked")
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=RARE, sparse_output=False
    )
    by_target = make_target_encoder(task, seed)
    few = LevelCount(features.categorical, many=False)
    many = LevelCount(features.categorical, many=True)
    return ColumnTransformer(
        [
            (
                "numeric",
                _make_number_preparation(style, len(features.x), seed),
                list(features.numeric),
            ),
            ("one_hot", one_hot, few),
            (
                CROSS_FITTED,
                make_pipeline(by_target, StandardScaler()) if scale else by_target,
                many,
            ),
        ],
        sparse_threshold=0,
    )


class MedianImputer(SimpleImputer):  # type: ignore[misc]
    """An imputer of medians that fits faster; once fitted, it is scikit-learn's `SimpleImputer`.

    scikit-learn sorts a masked copy of all columns: ten times the memory and the time of selecting
    the median of one column after the other.
    """

    def fit(self, X: Floats, y: object = None) -> SimpleImputer:
        """Fit scikit-learn's imputer to two rows that have the medians, and the gaps, of all."""
        has_gaps = np.isnan(X).any(axis=0)
        medians = np.array([_compute_median(column) for column in X.T])
        two_rows = np.vstack([medians, np.where(has_gaps, np.nan, medians)])
        # Between two huge values a median can leave float64.
        super().fit(X if np.isinf(medians).any() else two_rows)
        self.__class__ = SimpleImputer
        return self


def _compute_median(column: Floats) -> float:
    known = column[~np.isnan(column)]
    with np.errstate(over="ignore"):
        return float(np.median(known)) if len(known) else np.nan


def _make_number_preparation(style: Style, n_rows: int, seed: int) -> Any:
    if style == "native":
        return "passthrough"
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    if style == "filled":
        return imputer
    ranks = QuantileTransformer(
        n_quantiles=min(MOST_RANKS, max(LEAST_RANKS, n_rows // ROWS_PER_RANK)),
        output_distribution="normal",
        subsample=RANKED_ROWS,
        random_state=seed,
    )
    return make_pipeline(imputer, ranks if style == "ranked" else StandardScaler())


def name_prepared_columns(
    preparation: ColumnTransformer | CrossedColumns, features: Features, labels: Sequence[str]
) -> list[str]:
    """Return the name of each column of a fitted preparation.

    The preparation is "native" or "crossed".
    """
    if isinstance(preparation, CrossedColumns):
        generated = [cross.describe(features.names, labels) for cross in preparation.crosses_]
        return [*features.names, *generated]
    columns = {name: _to_indices(chosen) for name, _, chosen in preparation.transformers_}
    names = [features.names[j] for j in columns["numeric"]]
    if columns["one_hot"]:
        encoder = preparation.named_transformers_["one_hot"]
        for position, j in enumerate(columns["one_hot"]):
            names.extend(_name_levels(encoder, position, features, j))
    for j in columns["target"]:
        if len(labels) > 2:
            names.extend(f"share of {label} in {features.names[j]}" for label in labels)
        else:
            what = f"share of {labels[1]}" if labels else "mean of the target"
            names.append(f"{what} in {features.names[j]}")
    return names


def _to_indices(chosen: Any) -> list[int]:
    return [int(j) for j in chosen]


def _name_levels(encoder: OneHotEncoder, position: int, features: Features, j: int) -> list[str]:
    """Return the names of the encoder's columns: the frequent levels, then the rare ones."""
    rare_codes = encoder.infrequent_categories_[position]
    rare = set() if rare_codes is None else set(rare_codes.tolist())
    frequent = [c for c in encoder.categories_[position].tolist() if c not in rare]
    levels = features.levels[j]
    texts = ["(missing)" if c < 0 else levels[int(c)] for c in frequent]
    if rare:
        texts.append("(rare levels)")
    return [f"{features.names[j]} = {text}" for text in texts]


def find_prepared_sources(
    preparation: ColumnTransformer | CrossedColumns, n_classes: int
) -> list[tuple[int, ...]]:
    """Return, for each column of a fitted preparation, the matrix's columns that it uses.

    The preparation is "native" or "crossed".
    """
    if isinstance(preparation, CrossedColumns):
        own: list[tuple[int, ...]] = [(j,) for j in range(preparation.n_features_in_)]
        return own + [cross.sources for cross in preparation.crosses_]
    columns = {name: _to_indices(chosen) for name, _, chosen in preparation.transformers_}
    sources: list[tuple[int, ...]] = [(j,) for j in columns["numeric"]]
    if columns["one_hot"]:
        encoder = preparation.named_transformers_["one_hot"]
        for position, j in enumerate(columns["one_hot"]):
            sources += [(j,)] * _count_level_columns(encoder, position)
    return sources + [(j,) for j in columns["target"] for _ in range(n_scores(n_classes))]


def _count_level_columns(encoder: OneHotEncoder, position: int) -> int:
    """Count the encoder's columns of a category: one per frequent level, one for rare ones."""
    rare = encoder.infrequent_categories_[position]
    n_levels = len(encoder.categories_[position])
    return n_levels if rare is None else n_levels - len(rare) + 1


# Maximum bytes of the cache. Larger tables are preprocessed for every fit, which takes little time
# compared with the fit.
MAX_CACHE_BYTES = 256 * 2**20
# Maximum bytes of transformed rows to score. Where all take more, they are transformed in parts
# while they are predicted, because one-hot columns multiply their memory.
MAX_SCORED_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Prepared:
    """Training rows and rows to score, transformed by the fitted ``preparation``.

    ``scored`` is None where the rows are many; ``iter_scored`` yields them in any case. ``fit_s``
    and ``score_s`` are the seconds of fitting and of transforming all rows of ``scored``.
    """

    preparation: Any
    fitted: Floats
    scored: Floats | None
    fit_s: float
    score_s: float
    _source: tuple[Floats, Rows] = field(repr=False)
    _codes: dict[Any, SharedBinning] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, without binned copies."""
        return int(self.fitted.nbytes) + (0 if self.scored is None else int(self.scored.nbytes))

    def iter_scored(self) -> Iterator[Floats]:
        """Yield the transformed rows to score, in parts that take little memory."""
        if self.scored is not None:
            yield self.scored
            return
        x, rows = self._source
        size = _count_rows_a_part(self.fitted)
        for start in range(0, len(rows), size):
            part = x[rows[start : start + size]]
            yield part if self.preparation == "passthrough" else self.preparation.transform(part)

    def get_training_rows(self, model: Any) -> Any:
        """Return X for ``fit`` of a model: the rows, or their bins if it can share them."""
        if not supports_shared_binning(model):
            return self.fitted
        key = get_reading_options(model)
        if key not in self._codes:
            self._codes[key] = SharedBinning(self.fitted, None, model)
        return self._codes[key]


class PreparedRows:
    """A least-recently-used cache of preprocessed rows for the fits of one process.

    A copy that is sent to another process starts empty.
    """

    def __init__(self, room: int = MAX_CACHE_BYTES) -> None:
        self._room = room
        self._kept: OrderedDict[tuple[str, bytes], Prepared] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._room,)

    def prepare(
        self, style: str, preparation: Any, x: Floats, y: npt.NDArray[Any], fit: Rows, score: Rows
    ) -> Prepared:
        """Return rows transformed by a clone of the ``preparation``, fitted to some of them.

        Parameters
        ----------
        style : str
            Name of the preparation, its key in the cache.
        preparation : transformer
        x, y : ndarray
            All rows.
        fit, score : ndarray
            Indices of the training rows, and of the rows to score.
        """
        key = style, blake2b(fit.tobytes() + b"|" + score.tobytes()).digest()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        self._make_room(x.itemsize * x.shape[1] * (len(fit) + len(score)))
        prepared = _transform_rows(preparation, x, y, fit, score)
        if prepared.nbytes <= self._room:
            self._make_room(prepared.nbytes)
            self._kept[key] = prepared
        return prepared

    def _make_room(self, n_bytes: int) -> None:
        while self._kept and n_bytes + sum(p.nbytes for p in self._kept.values()) > self._room:
            self._kept.popitem(last=False)


def _transform_rows(
    preparation: Any, x: Floats, y: npt.NDArray[Any], fit: Rows, score: Rows
) -> Prepared:
    started = time.perf_counter()
    transforms = preparation != "passthrough"
    if y.dtype.names is not None:
        numbers = np.zeros(len(y))
        numbers[fit] = convert_to_numbers(y[fit])
        y = numbers
    if not transforms:
        fit_rows = x[fit]
    else:
        preparation = clone(preparation)
        imputers = _find_imputers(preparation)
        for imputer in imputers:
            imputer.__class__ = MedianImputer
        if len(fit) > _count_rows_a_part(x) and isinstance(preparation, ColumnTransformer):
            fit_rows = fit_transform_in_parts(preparation, x, y, fit)
        else:
            fit_rows = preparation.fit_transform(x[fit], y[fit])
        # What they were cloned from is saved with the preparation.
        for imputer in imputers:
            imputer.__class__ = SimpleImputer
    fit_rows.flags.writeable = False  # other fits read them, too
    fitted = time.perf_counter()
    scored_rows = None
    if len(score) <= _count_rows_a_part(fit_rows):
        scored_rows = preparation.transform(x[score]) if transforms else x[score]
        scored_rows.flags.writeable = False
    seconds = time.perf_counter() - fitted
    return Prepared(preparation, fit_rows, scored_rows, fitted - started, seconds, (x, score))


def _find_imputers(preparation: Any) -> list[SimpleImputer]:
    """Return the unfitted imputers of an unfitted preparation."""
    found = []
    for _, transformer, _ in getattr(preparation, "transformers", ()):
        steps = transformer if isinstance(transformer, Pipeline) else [transformer]
        found += [step for step in steps if isinstance(step, SimpleImputer)]
    return found


def _count_rows_a_part(rows: Floats) -> int:
    return max(1, MAX_SCORED_BYTES // max(1, int(rows.itemsize * rows.shape[1])))
