"""Boosting loop for members of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from arboleda.adaboost._algorithms import Algorithm, BoostingProblem, Floats, Indices, RoundOutcome
from arboleda.adaboost._estimator_members import EstimatorMembers, MemberFitter, Round
from arboleda.adaboost._rounds import RoundRecords

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
