"""The preprocessing of columns for models, which is fitted to each fold's training rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

from arboleda.study.data.feature_crosses import CrossedColumns
from arboleda.study.data.features import Features
from arboleda.study.data.target import n_scores
from arboleda.study.data.target_encoding import target_encoder

__all__ = [
    "ONE_HOT_LEVELS",
    "PREPARATIONS",
    "Style",
    "make_preparation",
    "prepared_names",
    "prepared_sources",
]

Style = Literal["none", "native", "filled", "scaled", "ranked", "crossed"]

PREPARATIONS: dict[Style, str] = {
    "none": "none",
    "native": "one-hot; missing values native",
    "filled": "one-hot; median imputation",
    "scaled": "one-hot; median imputation; standardised",
    "ranked": "one-hot; median imputation; ranks as normal scores",
    "crossed": "columns made of others beside its own",
}
# A categorical column with more levels than this in the training rows is target-encoded.
ONE_HOT_LEVELS = 30
# Levels rarer than this in the training rows share one column.
RARE = 5
# Numbers of quantiles for ranks: one per twenty rows of the table, so that a part of the rows has
# more rows than quantiles.
LEAST_RANKS, ROWS_PER_RANK, MOST_RANKS = 10, 20, 1_000
# Maximum rows from which the quantiles are computed.
RANKED_ROWS = 100_000


@dataclass(frozen=True)
class LevelCount:
    """Selects the categorical columns with many or few levels in the training rows."""

    columns: tuple[int, ...]
    many: bool

    def __call__(self, x: npt.NDArray[np.float64]) -> list[int]:
        """Return the indices of the selected columns."""
        return [j for j in self.columns if (len(np.unique(x[:, j])) > ONE_HOT_LEVELS) == self.many]


def make_preparation(features: Features, style: Style, task: str, seed: int) -> Any:
    """Make a transformer from the feature matrix to a model's input.

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
    by_target = target_encoder(task, seed)
    few = LevelCount(features.categorical, many=False)
    many = LevelCount(features.categorical, many=True)
    return ColumnTransformer(
        [
            ("numeric", _numbers(style, len(features.x), seed), list(features.numeric)),
            ("one_hot", one_hot, few),
            ("target", make_pipeline(by_target, StandardScaler()) if scale else by_target, many),
        ],
        sparse_threshold=0,
    )


def _numbers(style: Style, n_rows: int, seed: int) -> Any:
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


def prepared_names(
    preparation: ColumnTransformer | CrossedColumns, features: Features, labels: Sequence[str]
) -> list[str]:
    """Return a description of each column of a fitted preparation.

    The preparation is "native" or "crossed".
    """
    if isinstance(preparation, CrossedColumns):
        made = [idea.name(features.names, labels) for idea in preparation.crosses_]
        return [*features.names, *made]
    columns = {name: _indices(chosen) for name, _, chosen in preparation.transformers_}
    names = [features.names[j] for j in columns["numeric"]]
    if columns["one_hot"]:
        encoder = preparation.named_transformers_["one_hot"]
        for position, j in enumerate(columns["one_hot"]):
            names.extend(_level_names(encoder, position, features, j))
    for j in columns["target"]:
        if len(labels) > 2:
            names.extend(f"share of {label} in {features.names[j]}" for label in labels)
        else:
            what = f"share of {labels[1]}" if labels else "mean of the target"
            names.append(f"{what} in {features.names[j]}")
    return names


def _indices(chosen: Any) -> list[int]:
    return [int(j) for j in chosen]


def _level_names(encoder: OneHotEncoder, position: int, features: Features, j: int) -> list[str]:
    """Return the names of the encoder's columns: frequent levels, then pooled rare ones."""
    rare_codes = encoder.infrequent_categories_[position]
    rare = set() if rare_codes is None else set(rare_codes.tolist())
    frequent = [c for c in encoder.categories_[position].tolist() if c not in rare]
    levels = features.levels[j]
    texts = ["(missing)" if c < 0 else levels[int(c)] for c in frequent]
    if rare:
        texts.append("(rare levels)")
    return [f"{features.names[j]} = {text}" for text in texts]


def prepared_sources(
    preparation: ColumnTransformer | CrossedColumns, n_classes: int
) -> list[tuple[int, ...]]:
    """Return the matrix's columns from which each column of a fitted preparation comes.

    The preparation is "native" or "crossed".
    """
    if isinstance(preparation, CrossedColumns):
        own: list[tuple[int, ...]] = [(j,) for j in range(preparation.n_features_in_)]
        return own + [idea.sources for idea in preparation.crosses_]
    columns = {name: _indices(chosen) for name, _, chosen in preparation.transformers_}
    sources: list[tuple[int, ...]] = [(j,) for j in columns["numeric"]]
    if columns["one_hot"]:
        encoder = preparation.named_transformers_["one_hot"]
        for position, j in enumerate(columns["one_hot"]):
            sources += [(j,)] * _n_levels(encoder, position)
    return sources + [(j,) for j in columns["target"] for _ in range(n_scores(n_classes))]


def _n_levels(encoder: OneHotEncoder, position: int) -> int:
    """Columns of a category: one for each frequent level, and one for the rare ones."""
    rare = encoder.infrequent_categories_[position]
    n_levels = len(encoder.categories_[position])
    return n_levels if rare is None else n_levels - len(rare) + 1
