"""The rounds of boosting with members of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from arboleda.adaboost._algorithms import Algorithm, Floats, Indices, Outcome, Problem
from arboleda.adaboost._any_members import AnyMembers, Round, Teacher
from arboleda.adaboost._rounds import Rounds

OnDegenerate = Literal["stop", "reset"]
# Told the number of rounds made, and of the last one its members and outcome; True ends boosting.
Watch = Callable[[int, Round, Outcome], bool]

# So many useless members one after the other end boosting in spite of drawn weights.
MOST_RESETS = 25


def boosted(
    algorithm: Algorithm,
    problem: Problem,
    teacher: Teacher,
    n_rounds: int,
    on_degenerate: OnDegenerate,
    watch: Watch,
) -> tuple[AnyMembers, float | None]:
    """Boost.

    Parameters
    ----------
    algorithm : Algorithm
    problem : Problem
        The rows that the teacher has.
    teacher : Teacher
    n_rounds : int
        Rounds at most.
    on_degenerate : {"stop", "reset"}
        What follows a member without error, or one no better than guessing, which is not kept: the
        end, or weights that count how often rows are in a bootstrap sample.
    watch : callable
        Called after each round.

    Returns
    -------
    members : AnyMembers
    useless : float or None
        Error of the member whose uselessness ended boosting.
    """
    members: list[Round] = []
    rounds: list[tuple[float, float, float, float]] = []
    reach: list[float] = []
    useless_error: float | None = None
    state, reset, n_useless = algorithm.start(problem), False, 0
    while len(members) < n_rounds:
        taught = teacher.taught(algorithm.lessons(problem, state))
        votes = algorithm.votes(taught, teacher.X, problem.labels)
        outcome = _stepped(algorithm, problem, state, votes)
        useless = algorithm.is_useless(outcome, votes)
        if not useless:
            n_useless = 0
            members.append(taught)
            if outcome.error <= 0.0 and on_degenerate == "stop":
                # In theory it weighs infinitely much: it outvotes the others.
                before = sum(weight for weight, *_ in rounds)
                outcome = algorithm.last_without_error(outcome, before)
            rounds.append((outcome.weight, outcome.error, outcome.normalizer, float(reset)))
            reach.append(float(np.abs(votes).max()) * abs(outcome.weight))
            if watch(len(members), taught, outcome):
                break
        state, reset = outcome.state, False
        if useless or (algorithm.needs_error and outcome.error <= 0.0):
            n_useless += useless
            if on_degenerate == "stop" or n_useless > MOST_RESETS:
                useless_error = outcome.error if useless else None
                break
            state, reset = _drawn_start(algorithm, problem, teacher.random), True
    return AnyMembers(
        algorithm, problem.labels, members, Rounds.of(rounds), np.array(reach)
    ), useless_error


def _stepped(algorithm: Algorithm, problem: Problem, state: Floats, votes: Floats) -> Outcome:
    with np.errstate(over="ignore", invalid="ignore"):
        outcome = algorithm.step(problem, state, votes)
    if not (np.isfinite(outcome.normalizer) and np.isfinite(outcome.state).all()):
        raise ValueError("the weights of the rows overflow: lower learning_rate")
    return outcome


def _drawn_start(algorithm: Algorithm, problem: Problem, random: np.random.RandomState) -> Floats:
    """Weights of the first round, of a bootstrap sample. Bauer and Kohavi (1999), section 4.2."""
    able = np.flatnonzero(problem.weight)
    drawn: Indices = random.choice(able, size=len(able))
    share = problem.weight * np.bincount(drawn, minlength=len(problem.weight))
    return algorithm.start(Problem(problem.target, problem.labels, share / share.sum()))
