"""Which rows are kept for the test, and the folds of the others."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from arboleda.study.errors import StudyError
from arboleda.study.target import Target

__all__ = ["FOLDS", "TEST_SIZE", "Split", "make_split"]

FOLDS = 5
TEST_SIZE = 0.2
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Row numbers of the table: ``train``, ``test``, and the folds (fit rows, score rows)."""

    train: Rows
    test: Rows
    folds: tuple[tuple[Rows, Rows], ...]


def make_split(target: Target, seed: int) -> Split:
    """Hold out a fifth of the rows and cut the rest into five folds, both by class if any.

    Raises
    ------
    StudyError
        If there are more classes than test rows, or no class fills all folds.
    """
    y = target.y
    stratify = None if target.task == "regression" else y
    rows = np.arange(len(y), dtype=np.int64)
    if stratify is not None and int(np.ceil(TEST_SIZE * len(y))) < len(target.labels):
        raise StudyError(
            f"The target {target.name!r} has {len(target.labels)} classes in {len(y)} rows, too "
            "few for every class to be tested; merge classes or add rows."
        )
    train, test = train_test_split(rows, test_size=TEST_SIZE, stratify=stratify, random_state=seed)
    train, test = np.sort(train), np.sort(test)
    if stratify is None:
        parts = KFold(FOLDS, shuffle=True, random_state=seed).split(train)
        return Split(train, test, tuple((train[fit], train[score]) for fit, score in parts))
    if np.bincount(y[train]).min() < FOLDS:
        _refuse_unless_fillable(target, y[train])
    return Split(train, test, _stratified(train, y[train], seed))


def _refuse_unless_fillable(target: Target, y: npt.NDArray[np.int64]) -> None:
    if np.bincount(y).max() < FOLDS:
        raise StudyError(
            f"No class of the target {target.name!r} has the {FOLDS} training rows that "
            f"{FOLDS} folds need; merge classes or add rows."
        )


def _stratified(train: Rows, y: npt.NDArray[np.int64], seed: int) -> tuple[tuple[Rows, Rows], ...]:
    import warnings

    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A class rarer than the folds is told to the user as a note on the data.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return tuple((train[fit], train[score]) for fit, score in splitter.split(train, y))
