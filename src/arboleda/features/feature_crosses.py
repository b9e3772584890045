"""Feature crosses: columns computed from other columns, some with statistics of training rows."""

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
    """Definition of a column computed from other columns.

    Attributes
    ----------
    kind : str
        "sum", "difference", "product" or "ratio" of two numbers; "mean" or "sd" (standard
        deviation) of a number within a group of rows; "distance" of a number from that mean;
        "count" of the group's rows; "target", the mean of the target within the group.
    numbers : tuple of int
        Indices of numeric columns.
    groups : tuple of int
        Indices of categorical columns; rows with the same level in each form a group.
    output : int
        The class whose share "target" is, if there are more than two.
    """

    kind: Kind
    numbers: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    output: int = 0

    @property
    def sources(self) -> tuple[int, ...]:
        """The columns from which it is computed."""
        return self.numbers + self.groups

    @property
    def is_arithmetic(self) -> bool:
        """Whether it is computed from the two numbers of a row alone."""
        return self.kind in ARITHMETIC

    def describe(self, names: Sequence[str], labels: Sequence[str] = ()) -> str:
        """Describe it in words.

        Parameters
        ----------
        names : sequence of str
            Names of all columns.
        labels : sequence of str, default=()
            Labels of the classes; empty in a regression.

        Examples
        --------
        >>> FeatureCross("ratio", (0, 1)).describe(["price", "mileage"])
        'price / mileage'
        >>> FeatureCross("mean", (0,), (2,)).describe(["price", "mileage", "brand"])
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
            return f"{self._describe_target(labels)} within {groups}"
        if self.kind == "distance":
            return f"{numbers[0]} less its mean within {groups}"
        what = "mean" if self.kind == "mean" else "standard deviation"
        return f"{what} of {numbers[0]} within {groups}"

    def _describe_target(self, labels: Sequence[str]) -> str:
        if not labels:
            return "mean of the target"
        return f"share of {labels[1] if len(labels) == 2 else labels[self.output]}"


Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the training rows: the levels of a column, or the pairs of levels of two.

    Attributes
    ----------
    columns : tuple of int
        One or two.
    levels : tuple of ndarray
        The codes of each column in the training rows, ascending.
    keys : ndarray of shape (n_groups,)
        Index of the first level times the number of levels of the second column, plus the index
        of the second level; ascending.
    """

    columns: tuple[int, ...]
    levels: tuple[Floats, ...]
    keys: Places

    def locate(self, x: Floats) -> Places:
        """Return the index of each row's group; -1 for groups without a training row."""
        key, known = _compute_keys(x, self.columns, self.levels)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(known & (self.keys[at] == key), at, -1)


def find_groups(x: Floats, columns: tuple[int, ...]) -> Groups:
    """Find the groups of the rows of a matrix."""
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
    """Return the codes of a categorical column; missing values are a level of their own."""
    return np.where(np.isnan(x[:, column]), -1.0, x[:, column])


@dataclass(frozen=True)
class NumberColumn:
    """Arithmetic of two numbers; missing where either is missing or the result is not finite."""

    idea: FeatureCross

    def compute(self, x: Floats) -> Floats:
        """Compute the column, of shape (n_rows,)."""
        first, second = (x[:, j] for j in self.idea.numbers)
        operation = {
            "sum": np.add,
            "difference": np.subtract,
            "product": np.multiply,
            "ratio": np.divide,
        }[self.idea.kind]
        with np.errstate(all="ignore"):
            values: Floats = operation(first, second)
        values[~np.isfinite(values)] = np.nan
        return values


@dataclass(frozen=True, eq=False)
class GroupColumn:
    """Statistic of each row's group, or the distance of a row's number from it.

    Attributes
    ----------
    idea : FeatureCross
    groups : Groups
    table : ndarray of shape (n_groups,)
        The statistic of each group.
    otherwise : float
        The statistic for rows of unseen groups.
    """

    idea: FeatureCross
    groups: Groups
    table: Floats
    otherwise: float

    def compute(self, x: Floats) -> Floats:
        """Compute the column, of shape (n_rows,)."""
        at = self.groups.locate(x)
        statistics = np.where(at < 0, self.otherwise, self.table[at])
        if self.idea.kind != "distance":
            return statistics
        with np.errstate(all="ignore"):
            distances: Floats = x[:, self.idea.numbers[0]] - statistics
        distances[~np.isfinite(distances)] = np.nan
        return distances


CrossColumn = NumberColumn | GroupColumn


def fit_cross(
    cross: FeatureCross, x: Floats, outputs: Floats, seed: int, groups: Groups | None = None
) -> tuple[CrossColumn, Floats]:
    """Fit a feature cross to rows; return it with its values for these rows.

    The mean of the target is cross-fitted: no value depends on its row's own target.

    Parameters
    ----------
    cross : FeatureCross
    x : ndarray of shape (n_rows, n_columns)
        At least as many rows as folds of cross-fitting.
    outputs : ndarray of shape (n_rows, n_outputs)
        The target: values, or indicators of each class (with two classes: of the second).
    seed : int
        Seed of the cross-fitting folds.
    groups : Groups, optional
        The groups of the cross in these rows, if they are known already.
    """
    if cross.is_arithmetic:
        column: CrossColumn = NumberColumn(cross)
        return column, column.compute(x)
    groups = find_groups(x, cross.groups) if groups is None else groups
    if cross.kind == "target":
        return _fit_target_means(cross, groups, x, outputs[:, cross.output], seed)
    places = groups.locate(x)
    if cross.kind == "count":
        counts = np.bincount(places, minlength=len(groups.keys)).astype(np.float64)
        column = GroupColumn(cross, groups, counts, 0.0)
    else:
        column = _fit_statistics(cross, groups, places, x[:, cross.numbers[0]])
    return column, column.compute(x)


def _fit_target_means(
    cross: FeatureCross, groups: Groups, x: Floats, target: Floats, seed: int
) -> tuple[CrossColumn, Floats]:
    encoder = make_target_encoder("regression", seed)
    encoded = encoder.fit_transform(groups.locate(x)[:, None], target)[:, 0]
    table = np.asarray(encoder.encodings_[0], dtype=np.float64)
    return GroupColumn(cross, groups, table, float(encoder.target_mean_)), encoded


def _fit_statistics(
    cross: FeatureCross, groups: Groups, places: Places, numbers: Floats
) -> GroupColumn:
    """Fit the mean or standard deviation of each group's finite numbers; without any, of all."""
    is_finite = np.isfinite(numbers)
    n_groups = len(groups.keys)
    # The last group has all rows; its statistic replaces those of groups without numbers.
    at = np.append(places[is_finite], np.full(is_finite.sum(), n_groups))
    table = _compute_group_statistics(cross.kind, np.tile(numbers[is_finite], 2), at, n_groups + 1)
    table = np.where(np.isnan(table), table[-1], table)
    return GroupColumn(cross, groups, table[:-1], float(table[-1]))


def _compute_group_statistics(kind: str, numbers: Floats, at: Places, n_groups: int) -> Floats:
    """Compute a statistic of each group; NaN for groups without numbers.

    Numbers are scaled by the largest of their group, so that their squares are finite.
    """
    counts = np.bincount(at, minlength=n_groups).astype(np.float64)
    counts[counts == 0] = np.nan
    unit = np.zeros(n_groups)
    np.maximum.at(unit, at, np.abs(numbers))
    unit[unit == 0] = 1.0
    scaled = numbers / unit[at]
    mean = np.bincount(at, scaled, minlength=n_groups) / counts
    if kind != "sd":
        return np.asarray(mean * unit)
    squares = np.bincount(at, (scaled - mean[at]) ** 2, minlength=n_groups)
    return np.asarray(np.sqrt(squares / counts) * unit)
