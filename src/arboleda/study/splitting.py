"""The split into training and test rows, the folds of the training rows, and subgroups."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    train_test_split,
)

from arboleda._utils.errors import StudyError
from arboleda.model_selection import BootstrapSplit
from arboleda.study.config.schemes import FOLDS, Scheme
from arboleda.study.config.settings import Settings
from arboleda.study.splitters import (
    check_times,
    encode_groups,
    hold_out_groups,
    hold_out_latest,
    make_group_folds,
    make_windows,
)
from arboleda.tables.table import Column, StudyTable
from arboleda.tables.target import StudyTarget

__all__ = ["Split", "Subgroups", "check_score_by", "find_subgroups", "make_split"]

Rows = npt.NDArray[np.int64]
Folds = tuple[tuple[Rows, Rows], ...]


@dataclass(frozen=True)
class Split:
    """Indices of the table's rows: ``train``, ``test``, and the folds (fit rows, score rows).

    Candidates are scored by ``folds``; with ``bags``, the last of them is fitted to all training
    rows and scored on the same. ``partition`` scores each row at most once, for uses that need one
    out-of-fold prediction per row. If rows are split by groups or times, ``groups`` has the group
    number of each row of the table, or ``times`` the rank of its time.
    """

    train: Rows
    test: Rows
    folds: Folds
    partition: Folds
    groups: Rows | None = None
    times: Rows | None = None
    bags: bool = False

    @property
    def ordered(self) -> bool:
        """Whether models are fitted to earlier rows than they are scored on."""
        return self.times is not None

    @property
    def held_out(self) -> Folds:
        """The folds whose scored rows are not training rows."""
        return self.folds[:-1] if self.bags else self.folds


def make_split(
    target: StudyTarget,
    settings: Settings,
    column: Column | None = None,
    n_train: int | None = None,
) -> Split:
    """Hold out rows for the test, and split the training rows into folds by the scheme.

    Parameters
    ----------
    target : StudyTarget
    settings : Settings
    column : Column, optional
        The groups or times of the rows, if the scheme needs them.
    n_train : int, optional
        The number of training rows, if the rows after them are a separate test table.

    Returns
    -------
    Split

    Raises
    ------
    StudyError
        If there are too few rows, classes, groups or times for the test or the folds.
    """
    if settings.cv.kind == "group" and column is not None:
        split = _split_by_groups(target, settings, column, n_train)
    elif settings.cv.kind == "time" and column is not None:
        split = _split_by_time(target, settings, column, n_train)
    else:
        train, test = _hold_out(target, settings, n_train)
        split = _split_at_random(target, settings, train, test)
    _check_classes(target, split, settings)
    return split


def _split_by_groups(
    target: StudyTarget, settings: Settings, column: Column, n_train: int | None
) -> Split:
    groups = encode_groups(column)
    if n_train is None:
        train, test = hold_out_groups(groups, settings.test_size, settings.random_state)
    else:
        train, test = _split_at_row(target, n_train)
    classes = None if target.strata is None else target.strata[train]
    indices = make_group_folds(
        groups[train], classes, settings.cv.folds, settings.random_state, column.name
    )
    folds = _to_table_rows(train, indices)
    return Split(train, test, folds, folds, groups=groups)


def _split_by_time(
    target: StudyTarget, settings: Settings, column: Column, n_train: int | None
) -> Split:
    check_times(column)
    if n_train is None:
        train, test = hold_out_latest(column, settings.test_size)
    else:
        train, test = _split_at_row(target, n_train)
    folds = make_windows(column, train, settings.cv.folds)
    earliest = target.y[folds[0][0]]
    if target.labels and earliest.min() == earliest.max():
        raise StudyError(
            f"The earliest of {settings.cv.folds + 1} windows of {column.name!r} "
            f"({len(earliest):,} rows) has only one class; choose fewer windows with --cv."
        )
    times = np.unique(column.values, return_inverse=True)[1].astype(np.int64)
    return Split(train, test, folds, folds, times=times)


def _split_at_random(target: StudyTarget, settings: Settings, train: Rows, test: Rows) -> Split:
    scheme, seed = settings.cv, settings.random_state
    draws = scheme.kind in ("loo", "bootstrap")
    plain = Scheme("kfold", FOLDS) if draws else replace(scheme, kind="kfold", repeats=1)
    partition = _make_random_folds(target, train, plain, seed)
    if scheme.kind == "loo":
        return Split(train, test, ((train, train),), partition)
    if scheme.kind == "bootstrap":
        bags = BootstrapSplit(scheme.folds, random_state=seed).split(train)
        return Split(
            train, test, (*_to_table_rows(train, bags), (train, train)), partition, bags=True
        )
    if scheme.kind == "repeated":
        folds = _make_random_folds(target, train, scheme, seed)
        return Split(train, test, folds, folds[: scheme.folds])
    return Split(train, test, partition, partition)


def _split_at_row(target: StudyTarget, n_train: int) -> tuple[Rows, Rows]:
    rows = np.arange(len(target.y), dtype=np.int64)
    return rows[:n_train], rows[n_train:]


def _hold_out(target: StudyTarget, settings: Settings, n_train: int | None) -> tuple[Rows, Rows]:
    if n_train is not None:
        return _split_at_row(target, n_train)
    _check_sizes(target, settings.test_size)
    train, test = train_test_split(
        np.arange(len(target.y), dtype=np.int64),
        test_size=settings.test_size,
        stratify=_choose_strata(target),
        random_state=settings.random_state,
    )
    return np.sort(train), np.sort(test)


def _check_sizes(target: StudyTarget, share: float) -> None:
    """Check that there are enough training and test rows for every class."""
    n_rows = len(target.y)
    n_test = int(np.ceil(share * n_rows))
    least = max(len(target.labels), 2)
    if n_test < least and target.labels:
        raise StudyError(
            f"The target {target.name!r} has {len(target.labels)} classes in {n_rows} rows, too "
            f"few to test every class with a test size of {share:g}; merge classes, add rows or "
            "choose a larger test size."
        )
    if n_test < least or n_rows - n_test < least:
        raise StudyError(
            f"A test size of {share:g} leaves {n_rows - n_test} of {n_rows} rows for training and "
            f"{n_test} for the test; choose one that leaves at least {least} for each."
        )


def _make_random_folds(target: StudyTarget, train: Rows, scheme: Scheme, seed: int) -> Folds:
    """Make random folds, stratified by class or by whether the event was observed."""
    n = scheme.folds
    if n > len(train):
        raise StudyError(
            f"{n} folds need at least as many training rows, and there are {len(train)}; choose "
            "fewer folds."
        )
    options = {"n_splits": n, "random_state": seed}
    repeated = scheme.kind == "repeated"
    strata = target.strata
    if strata is None:
        splitter = (
            RepeatedKFold(n_repeats=scheme.repeats, **options)
            if repeated
            else KFold(shuffle=True, **options)
        )
        return _to_table_rows(train, splitter.split(train))
    y = strata[train]
    if np.bincount(y).max() < n:
        raise StudyError(
            f"No class of the target {target.name!r} has the {n} training rows that {n} folds "
            "need; merge classes, add rows or choose fewer folds."
        )
    splitter = (
        RepeatedStratifiedKFold(n_repeats=scheme.repeats, **options)
        if repeated
        else StratifiedKFold(shuffle=True, **options)
    )
    with warnings.catch_warnings():
        # Notes on the data report classes with fewer rows than folds.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return _to_table_rows(train, splitter.split(train, y))


def _to_table_rows(
    train: Rows, parts: Iterable[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]
) -> Folds:
    """Convert indices of the training rows to indices of the table's rows."""
    return tuple((train[fit], train[score]) for fit, score in parts)


def _check_classes(target: StudyTarget, split: Split, settings: Settings) -> None:
    """Check that the training rows have all classes of the test, and at least two.

    Of times to an event, every fit and every scored part need rows with the event.
    """
    if target.task == "survival":
        _check_events(target, split)
    if not target.labels:
        return
    known = np.bincount(target.y[split.train], minlength=len(target.labels)) > 0
    tested = np.bincount(target.y[split.test], minlength=len(target.labels)) > 0
    unknown = np.flatnonzero(tested & ~known)
    if unknown.size:
        where = {"group": "the groups held out for the test", "time": "the latest rows"}.get(
            settings.cv.kind, "the test"
        )
        where = "the test" if settings.test is not None else where
        raise StudyError(
            f"The class {target.labels[int(unknown[0])]!r} of the target {target.name!r} occurs in "
            f"{where} alone, so no model can learn it; merge it with another class, or choose "
            "another seed, test size or test."
        )
    if known.sum() < 2:
        raise StudyError(
            f"The training rows have only one class of the target {target.name!r}; choose another "
            "seed, test size or test."
        )


def _choose_strata(target: StudyTarget) -> Rows | None:
    """Return classes to stratify a test by; None if one of them has a single row."""
    strata = target.strata
    if strata is None or target.labels:
        return strata
    counts = np.bincount(strata)
    return strata if counts[counts > 0].min() > 1 else None


def _check_events(target: StudyTarget, split: Split) -> None:
    happened = target.y["event"]
    parts = [part for fold in split.folds for part in fold]
    if any(not happened[rows].any() for rows in (split.train, split.test, *parts)):
        raise StudyError(
            f"Only {int(happened.sum())} of {len(happened):,} rows have the event of "
            f"{target.second!r}, too few for each fold and the test to have one; choose fewer "
            "folds with --cv, or add rows."
        )


# Maximum groups by value; less frequent values are pooled.
MOST_VALUES = 20
# Maximum distinct numbers that are grouped by value; others are grouped by quartiles.
MOST_NUMBERS = 10

# Indices of the test rows of each group, by the name of the group.
Subgroups = Mapping[str, npt.NDArray[np.int64]]


def check_score_by(table: StudyTable, target: str, by: Sequence[str]) -> None:
    """Check that the columns of subgroups exist and are not the target.

    Raises
    ------
    StudyError
        If a column cannot be used.
    """
    for name in by:
        if name == target:
            raise StudyError(
                f"The column {name[:60]!r} is the target, which has metrics per class; name "
                "another one with --score-by."
            )
        table.column(name)


def find_subgroups(column: Column, rows: npt.NDArray[np.int64]) -> Subgroups:
    """Group rows by the values of a column.

    Each text and boolean forms a group, and each number if they are few; rare texts are pooled.
    Other numbers and dates form four groups, cut at the quartiles. Rows with a missing value form
    a group, too.

    Parameters
    ----------
    column : Column
    rows : ndarray of int
        Rows of the table.

    Returns
    -------
    parts : dict of str to ndarray
        Indices into ``rows`` by the name of the group.
    """
    values, missing = column.values[rows], column.missing[rows]
    known = np.flatnonzero(~missing)
    distinct = np.unique(values[known])
    if column.kind in ("string", "boolean") or (
        column.kind == "numeric" and len(distinct) <= MOST_NUMBERS
    ):
        parts = _group_by_value(column, values, known)
    else:
        parts = _group_by_quartile(column, values, known)
    if missing.any():
        parts["(missing)"] = np.flatnonzero(missing)
    return parts


def _group_by_value(
    column: Column, values: npt.NDArray[np.float64], known: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[np.int64]]:
    distinct, counts = np.unique(values[known], return_counts=True)
    if len(distinct) > MOST_VALUES:
        frequent = np.argsort(-counts, kind="stable")[: MOST_VALUES - 1]
        listed = distinct[np.sort(frequent)]
    else:
        listed = distinct
    parts = {_format_value(column, value): known[values[known] == value] for value in listed}
    if len(listed) < len(distinct):
        name = f"({len(distinct) - len(listed)} other values)"
        parts[name] = known[~np.isin(values[known], listed)]
    return parts


def _group_by_quartile(
    column: Column, values: npt.NDArray[np.float64], known: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[np.int64]]:
    if not known.size:
        return {}
    here = values[known]
    cuts = np.unique(np.quantile(here, [0.25, 0.5, 0.75], method="lower"))
    place = np.searchsorted(cuts, here, side="left")
    texts = [_format_value(column, cut) for cut in cuts]
    names = [f"up to {texts[0]}"]
    names += [f"above {low} up to {high}" for low, high in pairwise(texts)]
    names.append(f"above {texts[-1]}")
    parts = {name: known[place == k] for k, name in enumerate(names)}
    return {name: rows for name, rows in parts.items() if rows.size}


def _format_value(column: Column, value: float) -> str:
    if column.kind == "string":
        return column.levels[int(value)]
    if column.kind == "boolean":
        return "true" if value else "false"
    if column.kind == "datetime":
        try:
            return (
                datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00")
            )
        except (OverflowError, ValueError, OSError):
            return f"{value:g} s"
    return f"{value:.6g}"
