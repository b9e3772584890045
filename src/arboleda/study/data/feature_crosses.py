"""Columns computed from other columns, with the statistics that they learn from training rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder

__all__ = [
    "ARITHMETIC",
    "CrossColumn",
    "FeatureCross",
    "GroupColumn",
    "Groups",
    "Kind",
    "NumberColumn",
    "find_groups",
    "fit_cross",
    "make_target_encoder",
]

CROSS_FITTING_FOLDS = 5


def make_target_encoder(task: str, seed: int) -> TargetEncoder:
    """Return an encoder of categories by the target's mean per level (Micci-Barreca 2001).

    Means of few rows are shrunk towards the overall mean. `fit_transform` uses cross-fitting: each
    row gets the mean of the rows in other folds.

    Parameters
    ----------
    task : {"binary", "multiclass", "regression"}
    seed : int
        Seed of the folds.
    """
    kind = {"binary": "binary", "multiclass": "multiclass", "regression": "continuous"}[task]
    if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9):
        return TargetEncoder(target_type=kind, shuffle=True, random_state=seed)
    splitter = KFold if task == "regression" else StratifiedKFold
    folds = splitter(CROSS_FITTING_FOLDS, shuffle=True, random_state=seed)
    return TargetEncoder(target_type=kind, cv=folds)


Kind = Literal["sum", "difference", "product", "ratio", "mean", "sd", "distance", "count", "target"]

ARITHMETIC: tuple[Kind, ...] = ("sum", "difference", "product", "ratio")
_SIGNS = {"sum": "+", "difference": "\N{MINUS SIGN}", "product": "\N{MULTIPLICATION SIGN}"}


@dataclass(frozen=True)
class FeatureCross:
    """A column that could be made.

    Attributes
    ----------
    kind : str
        "sum", "difference", "product", "ratio" of two numbers; "mean", "sd" (standard deviation) of
        a number among the rows of a group, "distance" of a number from that mean; "count" of the
        group's rows; "target", the target's mean among them.
    numbers : tuple of int
        Columns that hold numbers.
    groups : tuple of int
        Columns of categories; rows are of one group if they share the levels of all.
    output : int
        Of "target" with more than two classes: of which class the share is meant.
    """

    kind: Kind
    numbers: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    output: int = 0

    @property
    def sources(self) -> tuple[int, ...]:
        """The columns that it is made of."""
        return self.numbers + self.groups

    def name(self, names: Sequence[str], labels: Sequence[str] = ()) -> str:
        """What it is, in words.

        Parameters
        ----------
        names : sequence of str
            Of all columns.
        labels : sequence of str, default=()
            Of the classes; none in a regression.

        Examples
        --------
        >>> Idea("ratio", (0, 1)).name(["price", "mileage"])
        'price / mileage'
        >>> Idea("mean", (0,), (2,)).name(["price", "mileage", "brand"])
        'mean of price within brand'
        """
        numbers = [names[j] for j in self.numbers]
        groups = " and ".join(names[j] for j in self.groups)
        if self.kind == "ratio":
            return " / ".join(numbers)
        if self.kind in _SIGNS:
            return f" {_SIGNS[self.kind]} ".join(numbers)
        if self.kind == "count":
            return f"number of rows within {groups}"
        if self.kind == "target":
            return f"{self._target(labels)} within {groups}"
        if self.kind == "distance":
            return f"{numbers[0]} less its mean within {groups}"
        what = "mean" if self.kind == "mean" else "standard deviation"
        return f"{what} of {numbers[0]} within {groups}"

    def _target(self, labels: Sequence[str]) -> str:
        if not labels:
            return "mean of the target"
        return f"share of {labels[1] if len(labels) == 2 else labels[self.output]}"


Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups among the rows that were learned from: the levels of a column, or pairs of levels.

    Attributes
    ----------
    columns : tuple of int
        One or two.
    levels : tuple of ndarray
        The codes that each column had, ascending.
    keys : ndarray of shape (n_groups,)
        Place of the first level, times the number of levels of the second, plus its place;
        ascending.
    """

    columns: tuple[int, ...]
    levels: tuple[Floats, ...]
    keys: Places

    def places(self, x: Floats) -> Places:
        """The number of each row's group; -1 where no row that was learned from is like it."""
        key, known = _compute_keys(x, self.columns, self.levels)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(known & (self.keys[at] == key), at, -1)


def find_groups(x: Floats, columns: tuple[int, ...]) -> Groups:
    """The groups of the rows of a matrix."""
    levels = tuple(np.unique(_get_codes(x, j)) for j in columns)
    return Groups(columns, levels, np.unique(_compute_keys(x, columns, levels)[0]))


def _compute_keys(
    x: Floats, columns: tuple[int, ...], levels: tuple[Floats, ...]
) -> tuple[Places, npt.NDArray[np.bool_]]:
    key, known = np.zeros(len(x), dtype=np.int64), np.ones(len(x), dtype=bool)
    for j, codes in zip(columns, levels, strict=True):
        own = _get_codes(x, j)
        at = np.minimum(np.searchsorted(codes, own), len(codes) - 1)
        key = key * len(codes) + at
        known &= codes[at] == own
    return key, known


def _get_codes(x: Floats, column: int) -> Floats:
    """A column of categories, where missing ones are a level of their own."""
    return np.where(np.isnan(x[:, column]), -1.0, x[:, column])


@dataclass(frozen=True)
class NumberColumn:
    """Two numbers in one; missing where either is, or where the result is no finite number."""

    idea: FeatureCross

    def values(self, x: Floats) -> Floats:
        """The column, of shape (n_rows,)."""
        first, second = (x[:, j] for j in self.idea.numbers)
        operation = {
            "sum": np.add,
            "difference": np.subtract,
            "product": np.multiply,
            "ratio": np.divide,
        }[self.idea.kind]
        with np.errstate(all="ignore"):
            found: Floats = operation(first, second)
        found[~np.isfinite(found)] = np.nan
        return found


@dataclass(frozen=True, eq=False)
class GroupColumn:
    """A number for each group, or how far a row is from its group's.

    Attributes
    ----------
    idea : Idea
    groups : Groups
    table : ndarray of shape (n_groups,)
    otherwise : float
        For rows of no group that was learned from.
    """

    idea: FeatureCross
    groups: Groups
    table: Floats
    otherwise: float

    def values(self, x: Floats) -> Floats:
        """The column, of shape (n_rows,)."""
        at = self.groups.places(x)
        found = np.where(at < 0, self.otherwise, self.table[at])
        if self.idea.kind != "distance":
            return found
        with np.errstate(all="ignore"):
            away: Floats = x[:, self.idea.numbers[0]] - found
        away[~np.isfinite(away)] = np.nan
        return away


CrossColumn = NumberColumn | GroupColumn


def fit_cross(
    idea: FeatureCross, x: Floats, outputs: Floats, seed: int, groups: Groups | None = None
) -> tuple[CrossColumn, Floats]:
    """Learn a column from rows; what it is for these rows themselves.

    The mean of the target is cross-fitted: no row's value depends on its own target.

    Parameters
    ----------
    idea : Idea
    x : ndarray of shape (n_rows, n_columns)
        At least as many rows as parts that are cross-fitted.
    outputs : ndarray of shape (n_rows, n_outputs)
        The target: values, or of each class (of two: of the second) whether a row is of it.
    seed : int
        Of the parts that are cross-fitted.
    groups : Groups, optional
        Those of the idea among these rows, if they are known.
    """
    if idea.kind in ARITHMETIC:
        made: CrossColumn = NumberColumn(idea)
        return made, made.values(x)
    groups = find_groups(x, idea.groups) if groups is None else groups
    if idea.kind == "target":
        return _fit_target_means(idea, groups, x, outputs[:, idea.output], seed)
    places = groups.places(x)
    if idea.kind == "count":
        counts = np.bincount(places, minlength=len(groups.keys)).astype(np.float64)
        made = GroupColumn(idea, groups, counts, 0.0)
    else:
        made = _fit_statistics(idea, groups, places, x[:, idea.numbers[0]])
    return made, made.values(x)


def _fit_target_means(
    idea: FeatureCross, groups: Groups, x: Floats, target: Floats, seed: int
) -> tuple[CrossColumn, Floats]:
    encoder = make_target_encoder("regression", seed)
    encoded = encoder.fit_transform(groups.places(x)[:, None], target)[:, 0]
    table = np.asarray(encoder.encodings_[0], dtype=np.float64)
    return GroupColumn(idea, groups, table, float(encoder.target_mean_)), encoded


def _fit_statistics(
    idea: FeatureCross, groups: Groups, places: Places, numbers: Floats
) -> GroupColumn:
    """Mean or standard deviation of the finite numbers of each group; without any, of all."""
    sound = np.isfinite(numbers)
    n_groups = len(groups.keys)
    # All of them are the last group, for those that lack numbers.
    at = np.append(places[sound], np.full(sound.sum(), n_groups))
    table = _compute_group_statistics(idea.kind, np.tile(numbers[sound], 2), at, n_groups + 1)
    table = np.where(np.isnan(table), table[-1], table)
    return GroupColumn(idea, groups, table[:-1], float(table[-1]))


def _compute_group_statistics(kind: str, numbers: Floats, at: Places, n_groups: int) -> Floats:
    """In units of the largest number of each group, whose squares are finite; NaN without any."""
    counts = np.bincount(at, minlength=n_groups).astype(np.float64)
    counts[counts == 0] = np.nan
    unit = np.zeros(n_groups)
    np.maximum.at(unit, at, np.abs(numbers))
    unit[unit == 0] = 1.0
    scaled = numbers / unit[at]
    mean = np.bincount(at, scaled, minlength=n_groups) / counts
    if kind != "sd":
        return np.asarray(mean * unit)
    away = np.bincount(at, (scaled - mean[at]) ** 2, minlength=n_groups)
    return np.asarray(np.sqrt(away / counts) * unit)
