"""Boosting loop for members of any kind, which are clones fitted one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from arboleda._base.members import checked_table, resolve_row_count, rows_of, takes_weight
from arboleda.adaboost._algorithms import (
    Algorithm,
    BoostingProblem,
    Floats,
    Indices,
    MemberTask,
    RoundOutcome,
)
from arboleda.adaboost._rounds import RoundRecords, trim_weights
from arboleda.bagging import set_random_states

Round = tuple[Any, ...]  # members of the round


@dataclass(frozen=True)
class MemberFitter:
    """Fitter of clones of an estimator, on weighted rows or on rows drawn by weight.

    Parameters
    ----------
    template : estimator
    X : array, frame or sparse matrix
        Training rows.
    trimming : float or None
        Share of the total weight that the left-out rows of least weight may have.
    random : RandomState
        Source of the random seeds of the members and of the drawn rows.
    """

    template: Any
    X: Any
    trimming: float | None
    random: np.random.RandomState

    def fit_round(self, tasks: Sequence[MemberTask]) -> Round:
        """Fit the members of one round."""
        return tuple(self._fit_member(task) for task in tasks)

    def _fit_member(self, task: MemberTask) -> Any:
        member = clone(self.template)
        set_random_states(member, self.random)
        weight = task.weight
        if self.trimming:
            weight = trim_weights(weight, self.trimming)
        target = task.target
        if takes_weight(self.template):
            return member.fit(self.X, target, sample_weight=weight)
        n_rows = resolve_row_count(self.X)
        drawn = self.random.choice(n_rows, size=n_rows, p=weight / weight.sum())
        try:
            return member.fit(rows_of(self.X, drawn), target[drawn])
        except ValueError as error:
            if len(np.unique(target[drawn])) == 1 and len(np.unique(target)) > 1:
                raise ValueError(
                    f"{type(member).__name__} failed on rows of a single class ({error}): its fit "
                    "takes no sample_weight, so rows are drawn by weight. Use an estimator that "
                    "takes sample_weight, or that accepts a single class, such as a tree."
                ) from error
            raise


@dataclass(frozen=True, eq=False)
class EstimatorMembers:
    """Fitted members of each round, with their votes.

    ``max_votes`` holds the largest vote of each round for a training row, multiplied by the
    absolute weight of the round.
    """

    algorithm: Algorithm
    labels: npt.NDArray[Any]
    members: Sequence[Round]
    rounds: RoundRecords
    max_votes: Floats

    def __len__(self) -> int:
        return len(self.members)

    def checked(self, ensemble: Any, X: Any) -> Any:
        """Validate a table for the members."""
        return checked_table(ensemble, X, reset=False)

    def estimators(self, algorithm: Algorithm) -> Any:
        """Return the fitted members, as an array if rounds have several members."""
        if all(len(members) == 1 for members in self.members):
            return [members[0] for members in self.members]
        return np.array(self.members, dtype=object)

    def sums(self, X: Any, n_threads: int) -> Floats:
        """Compute the sums of the weighted votes; members use their own threads."""
        sums = np.zeros((resolve_row_count(X), 1))
        for so_far in self.staged_sums(X, n_threads):
            sums = so_far
        return sums

    def staged_sums(self, X: Any, n_threads: int) -> Iterator[Floats]:
        """Yield the sums of the weighted votes after each round."""
        sums: Any = 0.0
        for members, weight in zip(self.members, self.rounds.weight, strict=True):
            sums = sums + weight * self.algorithm.compute_votes(members, X, self.labels)
            yield sums

    def first(self, n_rounds: int) -> EstimatorMembers:
        """Return the members of the first rounds."""
        kept = self.rounds.first(n_rounds)
        members, max_votes = self.members[:n_rounds], self.max_votes[:n_rounds]
        return EstimatorMembers(self.algorithm, self.labels, members, kept, max_votes)

    @property
    def importances(self) -> Floats:
        """Mean feature importances of the members, weighted as their votes."""
        shares = np.array(
            [
                np.mean([member.feature_importances_ for member in members], axis=0)
                for members in self.members
            ]
        )
        # "MH" gives negative weights to members that are wrong more often than right.
        weight = np.abs(self.rounds.weight)
        if not weight.any():
            return np.zeros(shares.shape[1])
        importances: Floats = weight @ shares / weight.sum()
        return importances


OnDegenerate = Literal["stop", "reset"]
# Receives the number of rounds, and the members and outcome of the last; True stops boosting.
Watch = Callable[[int, Round, RoundOutcome], bool]

# Number of consecutive useless members after which boosting stops in spite of redrawn weights.
MOST_RESETS = 25


def boost(
    algorithm: Algorithm,
    problem: BoostingProblem,
    fitter: MemberFitter,
    n_rounds: int,
    on_degenerate: OnDegenerate,
    watch: Watch,
) -> tuple[EstimatorMembers, float | None]:
    """Run boosting rounds.

    Parameters
    ----------
    algorithm : Algorithm
    problem : BoostingProblem
        Targets and weights of the rows of the fitter.
    fitter : MemberFitter
    n_rounds : int
        Maximum number of rounds.
    on_degenerate : {"stop", "reset"}
        What to do after a member without error, or no better than random guessing (which is not
        kept): stop, or restart with the weights of a bootstrap sample.
    watch : callable
        Called after each round.

    Returns
    -------
    members : EstimatorMembers
    useless : float or None
        Error of the useless member that ended boosting, if any.
    """
    members: list[Round] = []
    rounds: list[tuple[float, float, float, float]] = []
    max_votes: list[float] = []
    useless_error: float | None = None
    state, reset, n_useless = algorithm.start(problem), False, 0
    while len(members) < n_rounds:
        fitted = fitter.fit_round(algorithm.make_tasks(problem, state))
        votes = algorithm.compute_votes(fitted, fitter.X, problem.labels)
        outcome = _take_step(algorithm, problem, state, votes)
        useless = algorithm.is_useless(outcome, votes)
        if not useless:
            n_useless = 0
            members.append(fitted)
            if outcome.error <= 0.0 and on_degenerate == "stop":
                # Its weight is infinite in theory: it outvotes the others.
                before = sum(weight for weight, *_ in rounds)
                outcome = algorithm.weigh_last_without_error(outcome, before)
            rounds.append((outcome.weight, outcome.error, outcome.normalizer, float(reset)))
            max_votes.append(float(np.abs(votes).max()) * abs(outcome.weight))
            if watch(len(members), fitted, outcome):
                break
        state, reset = outcome.state, False
        if useless or (algorithm.needs_error and outcome.error <= 0.0):
            n_useless += useless
            if on_degenerate == "stop" or n_useless > MOST_RESETS:
                useless_error = outcome.error if useless else None
                break
            state, reset = _start_from_bootstrap(algorithm, problem, fitter.random), True
    return EstimatorMembers(
        algorithm, problem.labels, members, RoundRecords.of(rounds), np.array(max_votes)
    ), useless_error


def _take_step(
    algorithm: Algorithm, problem: BoostingProblem, state: Floats, votes: Floats
) -> RoundOutcome:
    with np.errstate(over="ignore", invalid="ignore"):
        outcome = algorithm.step(problem, state, votes)
    if not (np.isfinite(outcome.normalizer) and np.isfinite(outcome.state).all()):
        raise ValueError("The row weights overflow: lower learning_rate.")
    return outcome


def _start_from_bootstrap(
    algorithm: Algorithm, problem: BoostingProblem, random: np.random.RandomState
) -> Floats:
    """Restart with the weights of a bootstrap sample: Bauer and Kohavi (1999), section 4.2."""
    able = np.flatnonzero(problem.weight)
    drawn: Indices = random.choice(able, size=len(able))
    share = problem.weight * np.bincount(drawn, minlength=len(problem.weight))
    return algorithm.start(BoostingProblem(problem.target, problem.labels, share / share.sum()))
