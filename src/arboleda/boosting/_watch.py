"""What happens after each round: judging, stopping, progress lines, callbacks."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
StoppingRule = Callable[[Sequence[float], int, float], bool]


@dataclass(frozen=True)
class BoostingRound:
    """What a callback is told after a round.

    Attributes
    ----------
    iteration : int
        Rounds made so far, those of an earlier fit that is continued included.
    n_iterations : int
        Rounds that will be made at most.
    train_loss, validation_loss : float or None
        Mean losses of the training and validation rows; None where they are not computed.
    validation_score : float or None
        What ``scoring`` says of the validation rows; higher is better. With ``scoring="loss"`` it
        is the negative loss.
    """

    iteration: int
    n_iterations: int
    train_loss: float | None
    validation_loss: float | None
    validation_score: float | None


Callback = Callable[[BoostingRound], Any]


Judge = Callable[[Floats], float]  # of raw scores (n_judging_rows, n_outputs); higher is better


@dataclass(frozen=True)
class Stopping:
    """When to stop: a rule on the scores so far, the rounds it is patient for, its tolerance."""

    rule: StoppingRule
    n_iter_no_change: int
    tol: float


def none_better(scores: Sequence[float], n_iter_no_change: int, tol: float) -> bool:
    """Whether none of the last scores is better than the one before them by more than ``tol``.

    The rule of scikit-learn's histogram-based gradient boosting.
    """
    if len(scores) <= n_iter_no_change:
        return False
    before = scores[-n_iter_no_change - 1]
    return not any(score > before + tol for score in scores[-n_iter_no_change:])


def last_not_better(scores: Sequence[float], n_iter_no_change: int, tol: float) -> bool:
    """Whether the last score is not better by ``tol`` than any of those of the rounds before it.

    The rule of scikit-learn's gradient boosting; the score before the first round has no say.
    """
    recent = scores[max(1, len(scores) - n_iter_no_change - 1) : -1]
    if len(recent) < n_iter_no_change:
        return False
    return not any(scores[-1] - tol > score for score in recent)


def place_of_best(scores: Sequence[float] | Floats) -> int:
    """Where the best score stands, the first of equals; any is better than one that is no number.

    Parameters
    ----------
    scores : sequence of float
        Higher is better.
    """
    return int(np.argmax(np.nan_to_num(scores, nan=-np.inf, posinf=np.inf, neginf=-np.inf)))


def judge_with(estimator: Any, scorer: Any, X: Any, y: Any, weight: Floats | None) -> Judge:
    """Let a scikit-learn scorer judge raw scores as if the estimator had made them for X.

    The scorer asks a copy of the estimator, whose raw scores are the given ones.
    """

    def judge(raw: Floats) -> float:
        stand_in = copy.copy(estimator)
        vars(stand_in)["_raw_scores"] = lambda X: raw
        weights = {} if weight is None else {"sample_weight": weight}
        return float(scorer(stand_in, X, y, **weights))

    return judge


class Watcher:
    """Called by the engine before the first round and after each: keeps score, and may stop it.

    Parameters
    ----------
    n_rounds : int
        Rounds at the end, those before included.
    n_before : int
        Rounds of an earlier fit that is continued.
    stopping : Stopping or None
    judge : Judge or None
        None: the negative validation loss, or the training loss where no rows judge.
    scores : ndarray
        Those of the earlier fit, one more than rounds; or none.
    callbacks : sequence of callables
    verbose : int
        0: silent; 1: at rounds 1 to 10, 20 to 100, 200 ..; 2: every round.
    """

    def __init__(
        self,
        *,
        n_rounds: int,
        n_before: int,
        stopping: Stopping | None,
        judge: Judge | None,
        scores: Floats,
        callbacks: Sequence[Callback],
        verbose: int,
    ) -> None:
        self._n_rounds = n_rounds
        self._n_before = n_before
        self._stopping = stopping
        self._judge = judge
        known = scores[:n_before]
        # The rule looks back as far as scores reach without a gap.
        gaps = np.flatnonzero(np.isnan(known))
        self._scores = known[gaps[-1] + 1 if gaps.size else 0 :].tolist() if known.size else []
        self._first = n_before - len(self._scores)  # rounds behind the first of the scores
        self._callbacks = callbacks
        self._verbose = verbose
        self._began = time.monotonic()

    @property
    def is_needed(self) -> bool:
        """Whether anything is to be done after a round."""
        return bool(self._stopping or self._callbacks or self._verbose)

    @property
    def seen(self) -> Floats:
        """Scores of this fit, that before its first round first."""
        return np.array(self._scores[self._n_before - self._first :])

    @property
    def best_round(self) -> int:
        """Rounds of the model with the best score, the fewest of them."""
        return self._first + place_of_best(self._scores)

    def __call__(
        self, n_done: int, train_loss: float, validation_loss: float, raw: Floats | None
    ) -> bool:
        """Take note of a round; True stops boosting.

        Parameters
        ----------
        n_done : int
            Rounds so far; ``n_before`` in the call before the first one.
        train_loss, validation_loss : float
            NaN where they are not computed.
        raw : ndarray of shape (n_judging_rows, n_outputs), or None
            Scores of the rows that judge.
        """
        train = None if np.isnan(train_loss) else train_loss
        validation = None if np.isnan(validation_loss) else validation_loss
        score = self._score(train, validation, raw)
        if score is not None:
            self._scores.append(score)
        if n_done == self._n_before:
            return False
        self._report(n_done, train, validation, score)
        told = BoostingRound(n_done, self._n_rounds, train, validation, score)
        wishes = [bool(callback(told)) for callback in self._callbacks]
        rule = self._stopping
        return any(wishes) or (
            rule is not None and rule.rule(self._scores, rule.n_iter_no_change, rule.tol)
        )

    def _score(
        self, train: float | None, validation: float | None, raw: Floats | None
    ) -> float | None:
        if self._judge is not None and raw is not None:
            return self._judge(raw)
        loss = train if validation is None else validation
        return None if loss is None else -loss

    def _report(
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
        if score is not None and self._judge is not None:
            parts.append(f"score {score:.5f}")
        passed = time.monotonic() - self._began
        left = passed / (n_done - self._n_before) * (self._n_rounds - n_done)
        sys.stdout.write(f"{', '.join(parts)}, {passed:.1f} s, at most {left:.1f} s left\n")
        sys.stdout.flush()
