"""Gradient boosting in the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.shards import Shards
from arboleda._native import BinnedDataset, BoostingOptions, LossOptions

__all__ = [
    "Boosted",
    "BoostingOptions",
    "BoostingRows",
    "CustomLoss",
    "LossOptions",
    "fit_boosting",
]

Floats = npt.NDArray[np.float64]

# Called before the first round and after each with the number of rounds, the training and
# validation loss (NaN if not recorded), and the scores of the validation rows (rows, outputs) or
# None. Returns True to stop.
Callback = Callable[[int, float, float, Floats | None], bool]

# Takes targets (rows,) and scores, (rows,) or (rows, outputs), and returns the first and second
# derivatives of the losses with respect to the scores, both of the shape of the scores.
Derivatives = Callable[[Floats, Floats], Any]


@dataclass(frozen=True)
class CustomLoss:
    """A loss defined by its derivatives.

    Scores start from 0, and no losses are recorded.

    Parameters
    ----------
    derivatives : callable
        Takes the targets and the scores of the training rows, both (n,) or (n, n_outputs), and
        returns gradient and hessian, both in the shape of the scores, without sample weights.
    n_outputs : int
        Number of scores per row, and of trees per round.
    """

    derivatives: Derivatives
    n_outputs: int = 1


@dataclass(frozen=True)
class BoostingRows:
    """Training or validation rows.

    Parameters
    ----------
    table : BinnedDataset
    rows : ndarray of shape (n,)
        Row indices of the table, ascending and unique.
    target : ndarray of shape (table.n_rows,) or (table.n_rows, n_targets)
        Targets of all rows of the table: numbers, or classes as 0, 1, ..
    weight : ndarray of shape (table.n_rows,), or None
    offset : ndarray of shape (table.n_rows, n_outputs), or None
        Initial scores.
    query : ndarray of shape (table.n_rows,), or None
        Number of each row's query, for losses of rankings.
    """

    table: BinnedDataset
    rows: npt.NDArray[np.integer]
    target: Floats
    weight: Floats | None = None
    offset: Floats | None = None
    query: npt.NDArray[np.uint32] | None = None

    def native(self) -> _native.BoostingData:
        """Return the rows in the engine's format."""
        return _native.BoostingData(
            self.table,
            np.ascontiguousarray(self.rows, dtype=np.uint32),
            np.ascontiguousarray(self.target.T, dtype=np.float64).ravel(),
            None if self.weight is None else np.ascontiguousarray(self.weight, dtype=np.float64),
            None if self.offset is None else np.ascontiguousarray(self.offset.T).ravel(),
            self.query,
        )


class Boosted(NamedTuple):
    """A boosted ensemble with the losses of its rounds."""

    ensemble: Ensemble

    # Mean losses before the first new round and after each round; unrecorded losses are omitted.
    # "train_loss"; "validation_loss"; and, with uniform subsampling of the rows, "in_bag_loss" and
    # "out_of_bag_loss" of the round's sample and of the other rows.
    history: dict[str, Floats]

    best_round: int  # number of rounds with the smallest monitored loss; all if none is monitored

    # False if another shard was lost: ensemble and history are then those of the last whole round,
    # to be passed as ``resume`` and ``history``.
    is_complete: bool = True


def fit_boosting(
    training: BoostingRows,
    loss: LossOptions | CustomLoss,
    options: BoostingOptions,
    *,
    validation: BoostingRows | None = None,
    resume: Ensemble | None = None,
    refit_leaves: Ensemble | None = None,
    callback: Callback | None = None,
    n_threads: int,
    seed: int,
    shards: Shards | None = None,
    first_row: int = 0,
    history: dict[str, Floats] | None = None,
) -> Boosted:
    """Fit a gradient boosting ensemble on the training rows.

    With ``patience`` among the options, the ensemble is truncated to its best round by the
    validation loss, or by the training loss if there are no validation rows.

    Parameters
    ----------
    training : BoostingRows
    loss : LossOptions or CustomLoss
    options : BoostingOptions
        ``n_rounds`` is the total number of rounds, including those of ``resume``.
    validation : BoostingRows or None
        Other rows of the same table object, with the targets, weights and offsets of ``training``;
        or rows of a table that was binned like that one.
    resume : Ensemble or None
        Rounds to continue: the result equals that of an uninterrupted fit, bit for bit.
    refit_leaves : Ensemble or None
        Trees grown before, without DART: their splits are kept, and their values are refitted on
        the training rows, round by round. On the original rows they do not change.
    callback : callable or None
        Called before the first round and after each. Of shards, all stop if that of one says so.
    n_threads : int
        The result does not depend on it.
    seed : int
    shards : Shards or None
        The connection to the other shards of the table, each of which calls this function with its
        own rows and the same options: all return the ensemble of one fit of the whole table.
    first_row : int
        Number in the whole table of row 0 of the shard's table.
    history : dict of ndarray, or None
        The history of ``resume``: then the result continues it, and early stopping counts rounds
        as if the fit had never been interrupted.

    Raises
    ------
    ShardLostError
        If another shard is lost before the first round.
    ValueError
        If a custom loss returns invalid derivatives, or an option does not support shards.
    """
    native_loss: _native.LossOptions | _native.CustomLoss = (
        _native.CustomLoss(_make_checked_derivatives(loss.derivatives, training), loss.n_outputs)
        if isinstance(loss, CustomLoss)
        else loss
    )
    ensemble, losses, best_round, is_complete = _native.fit_boosting(
        training.native(),
        native_loss,
        options,
        None if validation is None else validation.native(),
        None if resume is None else resume._native,
        None if refit_leaves is None else refit_leaves._native,
        None if callback is None else _transpose_scores(callback),
        n_threads,
        seed,
        shards,
        first_row,
        history,
    )
    return Boosted(Ensemble(ensemble), losses, best_round, is_complete)


def _transpose_scores(callback: Callback) -> Callable[[int, float, float, Floats | None], bool]:
    """Wrap a callback to transpose the engine's scores (outputs, rows)."""

    def call(n_rounds: int, train: float, validation: float, scores: Floats | None) -> bool:
        by_row = None if scores is None else np.ascontiguousarray(scores.T)
        return bool(callback(n_rounds, train, validation, by_row))

    return call


def _make_checked_derivatives(
    derivatives: Derivatives, training: BoostingRows
) -> Callable[[Floats], tuple[Floats, Floats]]:
    """Wrap a custom loss to take scores (outputs, rows) and check its results."""
    rows = np.asarray(training.rows)
    if training.weight is not None:
        rows = rows[training.weight[rows] > 0.0]
    target = np.asarray(training.target, dtype=np.float64)[rows]

    def compute(scores: Floats) -> tuple[Floats, Floats]:
        if not rows.size:  # of this shard
            return scores, scores
        by_row = scores[0] if len(scores) == 1 else np.ascontiguousarray(scores.T)
        result = derivatives(target, by_row)
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise ValueError(
                f"the loss returned {type(result).__name__}: it must return a pair, the gradient "
                "and the hessian of every row"
            )
        gradient, hessian = (
            _check_derivative(name, part, by_row.shape, rows)
            for name, part in zip(("gradient", "hessian"), result, strict=True)
        )
        return gradient, hessian

    return compute


def _check_derivative(
    name: str, part: npt.ArrayLike, shape: tuple[int, ...], rows: npt.NDArray[np.integer]
) -> Floats:
    """Check the gradient or hessian and return it as (outputs, rows)."""
    try:
        values = np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the loss returned a {name} that is not an array of numbers") from error
    if values.shape != shape:
        raise ValueError(
            f"the loss returned a {name} of shape {values.shape} for scores of shape {shape}: it "
            "must have one value per score"
        )
    bad = ~np.isfinite(values)
    if name == "hessian":
        bad |= values < 0.0
    if bad.any():
        place = tuple(np.argwhere(bad)[0].tolist())
        needed = "finite and non-negative" if name == "hessian" else "finite"
        raise ValueError(
            f"the loss returned the {name} {values[place]} for row {rows[place[0]]}: it must be "
            f"{needed}; bound the scores within the loss, or decrease the learning rate"
        )
    return np.ascontiguousarray(np.atleast_2d(values.T))
