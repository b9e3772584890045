"""Losses and scores of each round, early stopping, progress output and callbacks."""

from __future__ import annotations

import copy
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.all_shards import AllShards
from arboleda._utils.errors import ModelFormatError, ShardLostError
from arboleda.persist import SavedArray

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting
    from arboleda.boosting._rows import FitProblem
    from arboleda.persist.fields import Sections

Floats = npt.NDArray[np.float64]
NAMES = ("in_bag_loss", "out_of_bag_loss", "train_loss", "validation_loss", "validation_score")

_EMPTY: Floats = np.empty(0)


def join_histories(
    before: Mapping[str, Floats], seen: Mapping[str, Floats], n_before: int, n_rounds: int
) -> dict[str, Floats]:
    """Join the histories of an earlier fit and of the one that continued it.

    Parameters
    ----------
    before : mapping of str to ndarray
        The earlier history; entry i is recorded after i rounds.
    seen : mapping of str to ndarray
        The new history; its first entry is recorded after ``n_before`` rounds. Arrays are empty
        where nothing was recorded.
    n_before : int
        Rounds of the earlier fit that were kept.
    n_rounds : int
        Total number of rounds.

    Returns
    -------
    history : dict
        NaN where only one of the fits recorded a quantity.

    Notes
    -----
    Both fits record the state after ``n_before`` rounds: the earlier one on the rows drawn for its
    last round, the continuing one on the rows drawn for its first round. The earlier record is
    kept, as in scikit-learn: the history is that of a single uninterrupted fit.
    """
    history = {}
    for name in NAMES:
        old, new = before.get(name, _EMPTY)[: n_before + 1], seen.get(name, _EMPTY)
        if old.size + new.size:
            history[name] = np.full(n_rounds + 1, np.nan)
            if new.size:
                history[name][n_before:] = new
            recorded = np.flatnonzero(~np.isnan(old))
            history[name][recorded] = old[recorded]
    return history


def get_scores(
    history: Mapping[str, Floats], n_rounds: int, *, has_scorer: bool, has_validation: bool
) -> Floats:
    """Return the first ``n_rounds`` scores that early stopping uses; NaN if not recorded."""
    if has_scorer:
        scores = history.get("validation_score", _EMPTY)
    else:
        scores = -history.get("validation_loss" if has_validation else "train_loss", _EMPTY)
    return scores[:n_rounds] if scores.size else np.full(n_rounds, np.nan)


class HistoryField:
    """Field of model files for a history: each array is a section of its own."""

    _array = SavedArray(np.float64)

    def encode(self, name: str, value: Mapping[str, Floats], sections: Sections) -> Any:
        """Return the names of the sections."""
        return {
            part: self._array.encode(f"{name}.{part}", array, sections)
            for part, array in sorted(value.items())
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> dict[str, Floats]:
        """Check and return the history."""
        if not isinstance(stored, dict) or not stored.keys() <= set(NAMES):
            raise ModelFormatError(f"{name} is not a boosting history")
        return {
            part: self._array.decode(f"{name}.{part}", stored[part], sections)
            for part in sorted(stored)
        }


StoppingRule = Callable[[Sequence[float], int, float], bool]


@dataclass(frozen=True)
class BoostingRound:
    """Progress of a fit, passed to callbacks after each round.

    Attributes
    ----------
    iteration : int
        Number of rounds so far, including those of an earlier fit that is continued.
    n_iterations : int
        Maximum number of rounds.
    train_loss, validation_loss : float or None
        Mean losses of the training and validation rows; None if they are not computed.
    validation_score : float or None
        Score of the validation rows according to ``scoring``; higher is better. With
        ``scoring="loss"`` it is the negative loss.
    """

    iteration: int
    n_iterations: int
    train_loss: float | None
    validation_loss: float | None
    validation_score: float | None


Callback = Callable[[BoostingRound], Any]

# Scores raw scores of shape (n_scored_rows, n_outputs); higher is better.
EnsembleScorer = Callable[[Floats], float]


@dataclass(frozen=True)
class Stopping:
    """An early stopping rule on the scores so far, with its patience and its tolerance."""

    rule: StoppingRule
    n_iter_no_change: int
    tol: float


def has_no_recent_improvement(scores: Sequence[float], n_iter_no_change: int, tol: float) -> bool:
    """Return whether none of the last scores beats the one before them by more than ``tol``.

    This is the rule of scikit-learn's histogram-based gradient boosting.
    """
    if len(scores) <= n_iter_no_change:
        return False
    reference = scores[-n_iter_no_change - 1]
    return not any(score > reference + tol for score in scores[-n_iter_no_change:])


def is_last_not_better(scores: Sequence[float], n_iter_no_change: int, tol: float) -> bool:
    """Return whether the last score does not beat any of the recent scores by ``tol``.

    This is the rule of scikit-learn's gradient boosting; it ignores the score before the first
    round.
    """
    recent = scores[max(1, len(scores) - n_iter_no_change - 1) : -1]
    if len(recent) < n_iter_no_change:
        return False
    return not any(scores[-1] - tol > score for score in recent)


def find_best_index(scores: Sequence[float] | Floats) -> int:
    """Return the index of the best score, the first one in case of ties; NaN is the worst.

    Parameters
    ----------
    scores : sequence of float
        Higher is better.

    Returns
    -------
    index : int
    """
    return int(np.argmax(np.nan_to_num(scores, nan=-np.inf, posinf=np.inf, neginf=-np.inf)))


def make_ensemble_scorer(
    estimator: Any, scorer: Any, X: Any, y: Any, weight: Floats | None
) -> EnsembleScorer:
    """Return a function that applies a scikit-learn scorer to raw scores for X.

    The scorer is called with a copy of the estimator that returns these raw scores.
    """

    def score(raw: Floats) -> float:
        proxy = copy.copy(estimator)
        vars(proxy)["_raw_scores"] = lambda X: raw
        weights = {} if weight is None else {"sample_weight": weight}
        return float(scorer(proxy, X, y, **weights))

    return score


def score_all_shards(scorer: EnsembleScorer, shards: AllShards) -> EnsembleScorer:
    """Return a scorer of the rows of all shards that each calls with the raw scores of its own.

    The first one computes the score.
    """

    def score(raw: Floats) -> float:
        parts = shards.gather(raw)  # of which those without rows have no columns
        return shards.choose_first(lambda: score_all(parts))

    def score_all(parts: Sequence[Floats]) -> float:
        with shards.naming("scoring"):
            return scorer(np.concatenate([part for part in parts if len(part)]))

    return score


def list_finished_rounds(
    history: Mapping[str, Floats], scores: Floats, n_earlier: int, n_rounds: int
) -> list[BoostingRound]:
    """Return the rounds of an interrupted fit but the last one, as callbacks are called with them.

    Parameters
    ----------
    history : mapping of str to ndarray
        Losses before its first round and after each.
    scores : ndarray
        Scores of the same rounds, without the last one.
    n_earlier : int
        Rounds of an earlier fit that it continued.
    n_rounds : int
        Maximum number of rounds.
    """
    recorded = [history.get("train_loss", _EMPTY), history.get("validation_loss", _EMPTY), scores]
    columns = [part if part.size else np.full(len(scores), np.nan) for part in recorded]
    return [
        BoostingRound(n_earlier + i, n_rounds, *(_get_number(part[i]) for part in columns))
        for i in range(1, len(scores))
    ]


def _get_number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


class RoundMonitor:
    """Callback of the engine that records the score of each round and may stop the fit.

    The engine calls it before the first round and after each round.

    Parameters
    ----------
    n_rounds : int
        Maximum number of rounds, including ``n_before``.
    n_before : int
        Rounds from which the fit goes on.
    n_earlier : int
        Those of an earlier fit; the others, to the last of which the rule may not have been
        applied, are of this one, which was interrupted.
    stopping : Stopping or None
    scorer : EnsembleScorer or None
        None: the score is the negative validation loss, or training loss without validation rows.
    scores : ndarray of shape (n_before,)
        Scores before the first round and after each but the last; NaN where not recorded.
    callbacks : sequence of callables
    missed : sequence of BoostingRound, or None
        Rounds after which these callbacks were not called, without the last one: they are called
        for them first. None: they were called after all of them.
    shards : AllShards
    verbose : int
        0: silent; 1: output after rounds 1 to 10, 20 to 100, 200 ..; 2: after every round.
    """

    def __init__(
        self,
        *,
        n_rounds: int,
        n_before: int,
        n_earlier: int,
        stopping: Stopping | None,
        scorer: EnsembleScorer | None,
        scores: Floats,
        callbacks: Sequence[Callback],
        missed: Sequence[BoostingRound] | None,
        shards: AllShards,
        verbose: int,
    ) -> None:
        self._n_earlier = n_earlier
        self._n_rounds = n_rounds
        self._n_before = n_before
        self._stopping = stopping
        self._scorer = scorer
        # The rule uses the scores after the last gap.
        gaps = np.flatnonzero(np.isnan(scores))
        self._scores = scores[gaps[-1] + 1 if gaps.size else 0 :].tolist()
        self._first = n_before - len(self._scores)  # number of rounds at the first score
        self._callbacks = callbacks
        self._missed = missed
        self._shards = shards
        self._verbose = verbose
        self._start_time = time.monotonic()

    @property
    def scores(self) -> Floats:
        """Scores of this fit, starting with the one before its first round."""
        return np.array(self._scores[self._n_earlier - self._first :])

    @property
    def best_round(self) -> int:
        """Smallest number of rounds with the best score."""
        return self._first + find_best_index(self._scores)

    def __call__(
        self, n_done: int, train_loss: float, validation_loss: float, raw: Floats | None
    ) -> bool:
        """Record a round; return True to stop boosting.

        Parameters
        ----------
        n_done : int
            Number of rounds so far; ``n_before`` in the call before the first one.
        train_loss, validation_loss : float
            NaN if they are not computed.
        raw : ndarray of shape (n_scored_rows, n_outputs), or None
            Raw scores of the validation rows.

        Returns
        -------
        stop : bool
        """
        train, validation = _get_number(train_loss), _get_number(validation_loss)
        try:
            score = self._compute_score(train, validation, raw)
        except ShardLostError:
            return False  # the next sum over the shards fails, too, and ends the rounds
        if score is not None:
            self._scores.append(score)
        progress = BoostingRound(n_done, self._n_rounds, train, validation, score)
        if n_done == self._n_before:
            self._check_first_score(score)
            if self._n_before == self._n_earlier:
                return False
            missed = () if self._missed is None else (*self._missed, progress)
            return any(map(self._call_back, missed)) or self._applies_rule()
        self._print_progress(n_done, train, validation, score)
        return self._call_back(progress) or self._applies_rule()

    def _call_back(self, progress: BoostingRound) -> bool:
        """Call all callbacks; return whether one of them stops the fit."""
        with self._shards.naming("a callback"):
            stops = [bool(callback(progress)) for callback in self._callbacks]
        return any(stops)

    def _applies_rule(self) -> bool:
        stopping = self._stopping
        return stopping is not None and stopping.rule(
            self._scores, stopping.n_iter_no_change, stopping.tol
        )

    def _check_first_score(self, score: float | None) -> None:
        """Raise an error if the loss of the initial prediction overflows."""
        uses_loss = self._stopping is not None and self._scorer is None
        if uses_loss and (score is None or not np.isfinite(score)):
            raise ValueError(
                "the loss overflows float64, so early stopping cannot compare rounds: divide y by "
                "a constant, such as its largest absolute value, and multiply predictions by it"
            )

    def _compute_score(
        self, train: float | None, validation: float | None, raw: Floats | None
    ) -> float | None:
        if self._scorer is not None and raw is not None:
            return self._scorer(raw)
        loss = train if validation is None else validation
        return None if loss is None else -loss

    def _print_progress(
        self, n_done: int, train: float | None, validation: float | None, score: float | None
    ) -> None:
        step = 1 if self._verbose > 1 else 10 ** (len(str(n_done)) - 1)
        if not self._verbose or (n_done % step and n_done != self._n_rounds):
            return
        parts = [f"round {n_done:>{len(str(self._n_rounds))}} of {self._n_rounds}"]
        if train is not None:
            parts.append(f"training loss {train:.5f}")
        if validation is not None:
            parts.append(f"validation loss {validation:.5f}")
        if score is not None and self._scorer is not None:
            parts.append(f"score {score:.5f}")
        elapsed = time.monotonic() - self._start_time
        left = elapsed / (n_done - self._n_before) * (self._n_rounds - n_done)
        sys.stdout.write(f"{', '.join(parts)}, {elapsed:.1f} s, at most {left:.1f} s left\n")
        sys.stdout.flush()


class PausingMonitor:
    """Callback of the engine that stops a fit after every so many rounds, for it to be continued.

    Parameters
    ----------
    monitor : RoundMonitor or None
        Called before; when it stops the fit, that is no pause.
    n_before : int
        Rounds from which this part of the fit goes on.
    every : int
    """

    def __init__(self, monitor: RoundMonitor | None, n_before: int, every: int) -> None:
        self._monitor = monitor
        self._n_before = n_before
        self._every = every
        self.is_paused = False

    def __call__(
        self, n_done: int, train_loss: float, validation_loss: float, raw: Floats | None
    ) -> bool:
        """Record a round; return True to stop boosting."""
        if self._monitor is not None and self._monitor(n_done, train_loss, validation_loss, raw):
            self.is_paused = False
            return True
        self.is_paused = n_done > self._n_before and n_done % self._every == 0
        return self.is_paused


# Frames between this function and the caller of `fit`.
_STACK_LEVEL = 5


def warn_if_no_trees(model: Boosting, problem: FitProblem, *, own_rows: bool) -> None:
    """Warn if no round improved on the initial prediction.

    With few validation rows this often happens by chance.

    Parameters
    ----------
    model : Boosting
        A fitted model.
    problem : Problem
        The rows that it was fitted to.
    own_rows : bool
        Whether the validation rows were passed to `fit`.
    """
    if model.ensemble_.n_rounds > 0:
        return
    parameter = model._rounds_parameter
    has_switch = hasattr(model, "early_stopping")
    n_folds = model._n_validation_folds
    remedies = ["lower learning_rate"]
    if model._is_automatic:
        n_rows = problem.rows.n_rows
        scored = (
            f"{n_rows:,} rows" if problem.validation is None else _describe_validation_rows(problem)
        )
        has_rounds = parameter in model.get_params()
        remedies = [f"set {parameter} to a number" if has_rounds else "give more rows"]
    elif own_rows:
        scored = _describe_validation_rows(problem)
        remedies.insert(0, "give more rows as X_val and y_val")
    elif n_folds:
        scored = f"{n_folds} folds of {problem.rows.n_rows:,} rows"
    elif problem.validation is None:
        scored = f"{problem.rows.n_rows:,} training rows"
    else:
        scored = _describe_validation_rows(problem)
        remedies.insert(0, "raise validation_fraction")
        if "validation_folds" in model.get_params():
            remedies.insert(1, "set validation_folds=5 (validates on all rows)")
    if not model._is_automatic:
        off = "early_stopping=False" if has_switch else "n_iter_no_change=None"
        remedies.append(f"set {off}")
    if problem.rows.shards.number > 0:  # the first shard warns
        return
    *others, last = remedies
    choice = f"{', '.join(others)}, or {last}" if others else last
    warnings.warn(
        "early stopping kept no tree, and the model returns its initial prediction: no round "
        f"was better on the {scored}. If the columns do predict the target, {choice}",
        stacklevel=_STACK_LEVEL + model._n_outer_calls,
    )


def _describe_validation_rows(problem: FitProblem) -> str:
    n_rows = problem.scored_rows.n_rows
    return f"{n_rows:,} validation row{'' if n_rows == 1 else 's'}"
