"""Which rows are kept for the test, and the folds of the others."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    train_test_split,
)

from arboleda.study.errors import StudyError
from arboleda.study.schemes import Scheme
from arboleda.study.settings import Settings
from arboleda.study.target import Target

__all__ = ["Split", "make_split"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Row numbers of the table: ``train``, ``test``, and the folds (fit rows, score rows)."""

    train: Rows
    test: Rows
    folds: tuple[tuple[Rows, Rows], ...]


def make_split(target: Target, settings: Settings) -> Split:
    """Hold out rows for the test and cut the rest into folds, both by class if there are any.

    Raises
    ------
    StudyError
        If there are more classes than test rows, too few rows for the folds, or no class fills
        all folds.
    """
    y, scheme = target.y, settings.scheme
    stratify = None if target.task == "regression" else y
    rows = np.arange(len(y), dtype=np.int64)
    _check_sizes(target, settings)
    train, test = train_test_split(
        rows, test_size=settings.test_size, stratify=stratify, random_state=settings.seed
    )
    train, test = np.sort(train), np.sort(test)
    if scheme.folds > len(train):
        raise StudyError(
            f"{scheme.folds} folds need at least as many training rows, and there are "
            f"{len(train)}; choose fewer folds."
        )
    if stratify is None:
        splitter = _whole_folds(scheme, settings.seed)
        return Split(train, test, _numbered(train, splitter.split(train)))
    if np.bincount(y[train]).max() < scheme.folds:
        raise StudyError(
            f"No class of the target {target.name!r} has the {scheme.folds} training rows that "
            f"{scheme.folds} folds need; merge classes, add rows or choose fewer folds."
        )
    return Split(train, test, _stratified(train, y[train], scheme, settings.seed))


def _check_sizes(target: Target, settings: Settings) -> None:
    """Refuse shares that leave a side without rows, or a class without a row on each side."""
    n_rows, share = len(target.y), settings.test_size
    n_test = int(np.ceil(share * n_rows))
    least = max(len(target.labels), 2)
    if n_test < least and target.labels:
        raise StudyError(
            f"The target {target.name!r} has {len(target.labels)} classes in {n_rows} rows, too "
            f"few for every class to be tested by a share of {share:g}; merge classes, add rows or "
            "choose a larger test size."
        )
    if n_test < least or n_rows - n_test < least:
        raise StudyError(
            f"A test size of {share:g} leaves {n_rows - n_test} of {n_rows} rows to learn from and "
            f"{n_test} to test on; choose one that leaves at least {least} for each."
        )


def _whole_folds(scheme: Scheme, seed: int) -> KFold | RepeatedKFold:
    if scheme.kind == "repeated":
        return RepeatedKFold(n_splits=scheme.folds, n_repeats=scheme.repeats, random_state=seed)
    return KFold(scheme.folds, shuffle=True, random_state=seed)


def _stratified(
    train: Rows, y: npt.NDArray[np.int64], scheme: Scheme, seed: int
) -> tuple[tuple[Rows, Rows], ...]:
    splitter = StratifiedKFold(scheme.folds, shuffle=True, random_state=seed)
    if scheme.kind == "repeated":
        splitter = RepeatedStratifiedKFold(
            n_splits=scheme.folds, n_repeats=scheme.repeats, random_state=seed
        )
    with warnings.catch_warnings():
        # A class rarer than the folds is told to the user as a note on the data.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return _numbered(train, splitter.split(train, y))


def _numbered(
    train: Rows, parts: Iterable[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]
) -> tuple[tuple[Rows, Rows], ...]:
    """Places among the training rows as row numbers of the table."""
    return tuple((train[fit], train[score]) for fit, score in parts)
