"""What happens to the columns before a model sees them, learned anew on each fold's rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from arboleda.study.features import Features

__all__ = [
    "ONE_HOT_LEVELS",
    "PREPARATIONS",
    "Style",
    "make_preparation",
    "prepared_names",
    "prepared_sources",
]

Style = Literal["none", "native", "filled", "scaled"]

PREPARATIONS: dict[Style, str] = {
    "none": "none",
    "native": "one-hot; missing values native",
    "filled": "one-hot; median imputation",
    "scaled": "one-hot; median imputation; standardised",
}
# A categorical column with more levels than this among the rows at hand is target-encoded.
ONE_HOT_LEVELS = 30
# Levels rarer than this among the rows at hand share one column.
RARE = 5
CROSS_FITTING_FOLDS = 5


@dataclass(frozen=True)
class LevelCount:
    """Picks the categorical columns with many or few levels among the rows being learned from."""

    columns: tuple[int, ...]
    many: bool

    def __call__(self, x: npt.NDArray[np.float64]) -> list[int]:
        """Indices of the columns."""
        return [j for j in self.columns if (len(np.unique(x[:, j])) > ONE_HOT_LEVELS) == self.many]


def make_preparation(features: Features, style: Style, task: str, seed: int) -> Any:
    """A transformer from the feature matrix to what a model takes.

    "native" leaves numbers and their missing values as they are. "filled" puts the median in the
    place of missing ones and adds a column that tells where they were; "scaled" standardises
    besides. All turn
    categories into one column per level (rare ones pooled, unseen ones ignored), and a column of
    many levels into the target's mean per level, cross-fitted so that no row meets its own
    target (Micci-Barreca 2001). Missing categories are a level of their own.
    """
    if style == "none":
        return "passthrough"
    scale = style == "scaled"
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=RARE, sparse_output=False
    )
    by_target = _target_encoder(task, seed)
    few = LevelCount(features.categorical, many=False)
    many = LevelCount(features.categorical, many=True)
    return ColumnTransformer(
        [
            ("numeric", _numbers(style), list(features.numeric)),
            ("one_hot", one_hot, few),
            ("target", make_pipeline(by_target, StandardScaler()) if scale else by_target, many),
        ],
        sparse_threshold=0,
    )


def _numbers(style: Style) -> Any:
    if style == "native":
        return "passthrough"
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return imputer if style == "filled" else make_pipeline(imputer, StandardScaler())


def _target_encoder(task: str, seed: int) -> TargetEncoder:
    kind = {"binary": "binary", "multiclass": "multiclass", "regression": "continuous"}[task]
    if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9):
        return TargetEncoder(target_type=kind, shuffle=True, random_state=seed)
    splitter = KFold if task == "regression" else StratifiedKFold
    folds = splitter(CROSS_FITTING_FOLDS, shuffle=True, random_state=seed)
    return TargetEncoder(target_type=kind, cv=folds)


def prepared_names(
    preparation: ColumnTransformer, features: Features, labels: Sequence[str]
) -> list[str]:
    """What each column of a fitted "native" preparation means, in words of the table."""
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
    """Frequent levels in order, then the pooled rare ones: the order of the encoder's columns."""
    rare_codes = encoder.infrequent_categories_[position]
    rare = set() if rare_codes is None else set(rare_codes.tolist())
    frequent = [c for c in encoder.categories_[position].tolist() if c not in rare]
    levels = features.levels[j]
    texts = ["(missing)" if c < 0 else levels[int(c)] for c in frequent]
    if rare:
        texts.append("(rare levels)")
    return [f"{features.names[j]} = {text}" for text in texts]


def prepared_sources(preparation: ColumnTransformer, n_classes: int) -> list[int]:
    """The matrix's column that each column of a fitted "native" preparation comes from."""
    columns = {name: _indices(chosen) for name, _, chosen in preparation.transformers_}
    sources = list(columns["numeric"])
    if columns["one_hot"]:
        encoder = preparation.named_transformers_["one_hot"]
        for position, j in enumerate(columns["one_hot"]):
            sources += [j] * _n_levels(encoder, position)
    return sources + [
        j for j in columns["target"] for _ in range(n_classes if n_classes > 2 else 1)
    ]


def _n_levels(encoder: OneHotEncoder, position: int) -> int:
    """Columns of a category: one for each frequent level, and one for the rare ones."""
    rare = encoder.infrequent_categories_[position]
    n_levels = len(encoder.categories_[position])
    return n_levels if rare is None else n_levels - len(rare) + 1
