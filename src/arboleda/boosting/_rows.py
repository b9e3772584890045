"""Training rows and validation rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._base.folds import fold_splits, hold_out, keep_every_class
from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.boosting import Boosted, BoostingRows
from arboleda._engine.columns import get_missing_code
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.fit import BinnedDataset
from arboleda._engine.shared_binning import SharedBinning
from arboleda._engine.table import DenseTable, SparseTable
from arboleda._utils.errors import ShardLostError
from arboleda.boosting._round_monitor import Stopping

Floats = npt.NDArray[np.float64]
RowNumbers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class TrainingRows:
    """Some rows of a table, with the targets and weights of the whole table.

    Parameters
    ----------
    X : array-like
        The table as passed by the caller.
    table : DenseTable or SparseTable
        The same table, checked.
    target : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Numbers, or classes as 0, 1, ..
    weight : ndarray of shape (n_samples,), or None
    numbers : ndarray
        Row indices, ascending, without rows of weight 0.
    offset : ndarray of shape (n_samples, n_outputs), or None
        Raw scores of an initial model.
    query : ndarray of shape (n_samples,), or None
        Number of each row's query, for losses of rankings.
    shards : AllShards
        The shards among which the rows of the whole table are divided; these are those of one.
    first_row : int
        Number of this shard's first row in the whole table.
    """

    X: Any
    table: DenseTable | SparseTable
    target: Floats
    weight: Floats | None
    numbers: RowNumbers
    offset: Floats | None = None
    query: npt.NDArray[np.uint32] | None = None
    shards: AllShards = ALONE
    first_row: int = 0

    @classmethod
    def of_weight(
        cls,
        X: Any,
        table: DenseTable | SparseTable,
        target: Floats,
        weight: Floats | None,
        shards: AllShards = ALONE,
        first_row: int = 0,
    ) -> TrainingRows:
        """Return the rows of nonzero weight; the targets of the others are replaced."""
        numbers: RowNumbers = np.arange(table.n_rows, dtype=np.uint32)
        if weight is not None:
            numbers = np.flatnonzero(weight)
            used = (weight > 0.0).reshape(-1, *[1] * (target.ndim - 1))
            target = np.where(used, target, shards.join(target[numbers[:1]])[0])
        return cls(X, table, target, weight, numbers, shards=shards, first_row=first_row)

    @property
    def n_rows(self) -> int:
        """Number of these rows in all shards."""
        return self.shards.count(self.numbers.size)

    @property
    def n_targets(self) -> int:
        """Number of targets of a row."""
        return 1 if self.target.ndim == 1 else int(self.target.shape[1])

    def find_missing_columns(self) -> npt.NDArray[np.int64]:
        """Return the categorical columns that have missing values, in this table of all shards."""
        if not isinstance(self.table, DenseTable):
            return np.empty(0, dtype=np.int64)
        flags = [
            bool(n_levels and (column == get_missing_code(n_levels)).any())
            for column, n_levels in zip(self.table.columns, self.table.n_levels, strict=True)
        ]
        return np.flatnonzero(self.shards.is_any(np.array(flags, dtype=bool))).astype(np.int64)

    @property
    def targets(self) -> Floats:
        """Targets of these rows."""
        return self.target[self.numbers]

    @property
    def weights(self) -> Floats | None:
        """Weights of these rows."""
        return None if self.weight is None else self.weight[self.numbers]

    def coded(self, table: BinnedDataset) -> BoostingRows:
        """Return these rows for the engine, given their binned table."""
        return BoostingRows(table, self.numbers, self.target, self.weight, self.offset, self.query)


class FinishedRounds(NamedTuple):
    """What an interrupted fit had finished; a fit that resumes it gives the same model.

    ``are_reported``: whether the callbacks of this process have been called for them.
    """

    ensemble: Ensemble
    history: dict[str, Floats]
    are_reported: bool = False


class RoundKeeping(NamedTuple):
    """Where a fit in shards keeps its rounds; ``every`` is the same in all shards.

    ``keep`` is called in the first shard after every so many rounds, with their number and them.
    """

    every: int
    keep: Callable[[int, FinishedRounds], None]


@dataclass(frozen=True)
class FitProblem:
    """The data of a fit and its early stopping rule.

    Parameters
    ----------
    rows : Rows
        Training rows.
    validation : Rows or None
        Validation rows.
    stopping : Stopping or None
        Early stopping rule.
    finished : FinishedRounds or None
        Rounds of an interrupted fit to the same rows with the same parameters.
    keeping : RoundKeeping or None
        Where rounds are kept.
    """

    rows: TrainingRows
    validation: TrainingRows | None
    stopping: Stopping | None
    finished: FinishedRounds | None = None
    keeping: RoundKeeping | None = None

    @property
    def scored_rows(self) -> TrainingRows:
        """Rows whose score is used for early stopping: validation rows, else training rows."""
        return self.rows if self.validation is None else self.validation


def check_complete(boosted: Boosted, history: dict[str, Floats] | None = None) -> None:
    """Raise an error, with the finished rounds, if another shard was lost meanwhile.

    ``history`` is that of the rounds, if it has more than the losses.

    Raises
    ------
    ShardLostError
        Its attribute `rounds` is a `FinishedRounds`.
    """
    if not boosted.is_complete:
        error = ShardLostError(
            f"another shard was lost after {boosted.ensemble.n_rounds} rounds of this fit"
        )
        error.rounds = FinishedRounds(boosted.ensemble, history or boosted.history)
        raise error


@contextmanager
def without_rounds() -> Iterator[None]:
    """Remove the rounds from the error of a lost shard: those of one of several models."""
    try:
        yield
    except ShardLostError as error:
        error.rounds = None
        raise


def holdout_split(
    rows: TrainingRows, fraction: float, *, stratify: bool, seed: int
) -> tuple[TrainingRows, TrainingRows]:
    """Split rows at random into training and validation rows.

    Parameters
    ----------
    rows : Rows
    fraction : float or int
        Share or number of validation rows.
    stratify : bool
        Whether the target holds classes: the same share of every class is held out, and at least
        one row of it stays in the training rows.
    seed : int
        Seed of the random split.

    Returns
    -------
    train, validation : Rows

    Raises
    ------
    ValueError
        If either side would be empty.
    """
    numbers = rows.numbers.astype(np.intp)
    train: RowNumbers
    validation: RowNumbers
    shards = rows.shards
    train, validation = hold_out(
        fraction, rows.target, numbers, stratify=stratify, seed=seed, shards=shards
    )
    if stratify:
        train, validation = keep_every_class(train, validation, rows.target, shards)
    n_train, n_validation = shards.add(np.array([train.size, validation.size])).tolist()
    if not (n_train and n_validation):
        raise ValueError(
            f"validation_fraction={fraction} of n_samples={n_train + n_validation} leaves "
            f"{n_train} training rows and {n_validation} validation rows: change it, give more "
            "rows, or pass validation rows as X_val and y_val"
        )
    # In the format of the engine, which then needs no copy.
    return (
        replace(rows, numbers=train.astype(np.uint32)),
        replace(rows, numbers=validation.astype(np.uint32)),
    )


def draw_rows(rows: TrainingRows, n_most: int, seed: int) -> TrainingRows:
    """Return at most ``n_most`` of the rows of all shards, drawn at random."""
    n_rows, shards = rows.n_rows, rows.shards
    numbers = rows.numbers.astype(np.intp)
    if n_rows > n_most:
        random_state = np.random.RandomState(seed)
        drawn = shards.choose_first(lambda: random_state.choice(n_rows, n_most, replace=False))
        own = np.sort(drawn) - shards.count_before(numbers.size)
        numbers = numbers[own[(own >= 0) & (own < numbers.size)]]
    return replace(rows, numbers=numbers)


def kfold_splits(
    rows: TrainingRows, n_folds: int, *, stratify: bool, seed: int
) -> list[tuple[TrainingRows, TrainingRows]]:
    """Split rows into training and validation rows for each of some random folds.

    Parameters
    ----------
    rows : Rows
        At least as many as folds.
    n_folds : int
    stratify : bool
        Whether the target holds classes: folds are stratified, and every class stays in the
        training rows.
    seed : int
        Seed of the random folds.

    Returns
    -------
    splits : list of (Rows, Rows)
        Training and validation rows; folds without validation rows are left out.
    """
    splits = []
    numbers, shards = rows.numbers.astype(np.intp), rows.shards
    for split in fold_splits(
        n_folds, rows.target, numbers, stratify=stratify, seed=seed, shards=shards
    ):
        train, validation = keep_every_class(*split, rows.target, shards) if stratify else split
        if shards.count(validation.size):
            splits.append((replace(rows, numbers=train), replace(rows, numbers=validation)))
    return splits


def bin_rows(
    rows: TrainingRows,
    max_bins: int | None,
    n_threads: int,
    learned: BinnedDataset | None = None,
) -> BinnedDataset:
    """Return the binned table; bins are learned from the training rows only.

    Without ``max_bins`` every distinct value has its own code, and thresholds are computed from the
    rows of each node.
    """
    if max_bins is not None and learned is not None:
        return rows.table.code_like(learned, n_threads)
    all_rows = max_bins is None or rows.numbers.size == rows.table.n_rows
    chosen = None if all_rows else rows.numbers.astype(np.uint32)
    if isinstance(rows.X, SharedBinning):
        return rows.X.code(rows.table, n_threads, max_bins, chosen)
    return rows.table.code(n_threads, max_bins, chosen)
