"""Gradient boosting by the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.ensemble import Ensemble
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

# Told before the first round and after each: rounds so far, training and validation loss (NaN where
# not recorded), scores of the validation rows (rows, outputs) or None. True: stop now.
Callback = Callable[[int, float, float, Floats | None], bool]

# Targets (rows,) and scores, (rows,) or (rows, outputs), to a pair: first and second derivatives
# of the rows' losses by their scores, both in the shape of the scores. What it returns is checked.
Derivatives = Callable[[Floats, Floats], Any]


@dataclass(frozen=True)
class CustomLoss:
    """A loss that is known by its derivatives alone.

    Scores start from 0, and no losses are recorded.

    Parameters
    ----------
    derivatives : callable
        Takes the targets (n,) and the scores, (n,) or (n, n_outputs), of the training rows and
        returns gradient and hessian, both in the shape of the scores, without sample weights.
    n_outputs : int
        Scores of a row, and trees of a round.
    """

    derivatives: Derivatives
    n_outputs: int = 1


@dataclass(frozen=True)
class BoostingRows:
    """Rows to learn from or to judge by.

    Parameters
    ----------
    table : BinnedDataset
    rows : ndarray of shape (n,)
        Which rows of the table, ascending, each once.
    target : ndarray of shape (table.n_rows,)
        Of all rows of the table: numbers, or classes as 0, 1, ..
    weight : ndarray of shape (table.n_rows,), or None
    offset : ndarray of shape (table.n_rows, n_outputs), or None
        Scores to which those of the trees are added.
    """

    table: BinnedDataset
    rows: npt.NDArray[np.integer]
    target: Floats
    weight: Floats | None = None
    offset: Floats | None = None

    def native(self) -> _native.BoostingData:
        """Return them as the engine reads them."""
        return _native.BoostingData(
            self.table,
            np.ascontiguousarray(self.rows, dtype=np.uint32),
            np.ascontiguousarray(self.target, dtype=np.float64),
            None if self.weight is None else np.ascontiguousarray(self.weight, dtype=np.float64),
            None if self.offset is None else np.ascontiguousarray(self.offset.T).ravel(),
        )


class Boosted(NamedTuple):
    """A boosted ensemble, and what was seen on the way."""

    ensemble: Ensemble

    # Mean losses: the first before any new round, then one after each; what was not recorded is not
    # there. "train_loss"; "validation_loss"; and, where trees are grown on uniform samples of the
    # rows, "in_bag_loss" and "out_of_bag_loss" of the round's sample and of the other rows.
    history: dict[str, Floats]

    best_round: int  # rounds whose watched loss was the smallest; all where none was watched


def fit_boosting(
    training: BoostingRows,
    loss: LossOptions | CustomLoss,
    options: BoostingOptions,
    *,
    validation: BoostingRows | None = None,
    resume: Ensemble | None = None,
    replayed: Ensemble | None = None,
    callback: Callback | None = None,
    n_threads: int,
    seed: int,
) -> Boosted:
    """Boost trees on the training rows.

    With ``patience`` among the options the ensemble goes back to its best round by the validation
    loss, or by the training loss where there are no validation rows.

    Parameters
    ----------
    training : BoostingRows
    loss : LossOptions or CustomLoss
    options : BoostingOptions
        ``n_rounds`` counts the rounds of the whole ensemble, those of ``resume`` included.
    validation : BoostingRows or None
        Other rows of the same table object, whose targets, weights and offsets are then those of
        ``training``; or rows of a table that was coded like that one.
    resume : Ensemble or None
        Rounds to continue: the result is that of a fit which never stopped, bit for bit.
    replayed : Ensemble or None
        Trees that were grown before, without DART: they keep their questions, and their values are
        found anew from the training rows, round by round. On the rows of that fit they come out as
        they were.
    callback : callable or None
        Told before the first round and after each.
    n_threads : int
        Has no influence on the result.
    seed : int

    Raises
    ------
    ValueError
        If a custom loss returns what cannot be derivatives.
    """
    native_loss: _native.LossOptions | _native.CustomLoss = (
        _native.CustomLoss(_checked(loss.derivatives, training), loss.n_outputs)
        if isinstance(loss, CustomLoss)
        else loss
    )
    ensemble, history, best_round = _native.fit_boosting(
        training.native(),
        native_loss,
        options,
        None if validation is None else validation.native(),
        None if resume is None else resume._native,
        None if replayed is None else replayed._native,
        None if callback is None else _by_row(callback),
        n_threads,
        seed,
    )
    return Boosted(Ensemble(ensemble), history, best_round)


def _by_row(callback: Callback) -> Callable[[int, float, float, Floats | None], bool]:
    """Turn scores (outputs, rows) of the engine's into those of a callback."""

    def told(n_rounds: int, train: float, validation: float, scores: Floats | None) -> bool:
        by_row = None if scores is None else np.ascontiguousarray(scores.T)
        return bool(callback(n_rounds, train, validation, by_row))

    return told


def _checked(
    derivatives: Derivatives, training: BoostingRows
) -> Callable[[Floats], tuple[Floats, Floats]]:
    """Ask a custom loss about scores (outputs, rows) and check what it says."""
    rows = np.asarray(training.rows)
    if training.weight is not None:
        rows = rows[training.weight[rows] > 0.0]
    target = np.asarray(training.target, dtype=np.float64)[rows]

    def asked(scores: Floats) -> tuple[Floats, Floats]:
        by_row = scores[0] if len(scores) == 1 else np.ascontiguousarray(scores.T)
        answer = derivatives(target, by_row)
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise ValueError(
                f"the loss returned {type(answer).__name__}: it must return a pair, the gradient "
                "and the hessian of every row"
            )
        gradient, hessian = (
            _checked_part(name, part, by_row.shape, rows)
            for name, part in zip(("gradient", "hessian"), answer, strict=True)
        )
        return gradient, hessian

    return asked


def _checked_part(
    name: str, part: npt.ArrayLike, shape: tuple[int, ...], rows: npt.NDArray[np.integer]
) -> Floats:
    """Return one kind of derivatives as (outputs, rows)."""
    try:
        values = np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the loss returned a {name} that is no array of numbers") from error
    if values.shape != shape:
        raise ValueError(
            f"the loss returned a {name} of shape {values.shape} for scores of shape {shape}: it "
            "must have one entry for each score"
        )
    bad = ~np.isfinite(values)
    if name == "hessian":
        bad |= values < 0.0
    if bad.any():
        place = tuple(np.argwhere(bad)[0].tolist())
        needed = "finite and not negative" if name == "hessian" else "finite"
        raise ValueError(
            f"the loss returned the {name} {values[place]} for row {rows[place[0]]}: it must be "
            f"{needed}; bound the scores within the loss, or lower the learning rate"
        )
    return np.ascontiguousarray(np.atleast_2d(values.T))
