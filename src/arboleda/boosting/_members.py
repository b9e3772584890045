"""The members of an automatic model: models whose mean it is."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from arboleda._engine.boosting import fit_boosting
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.fit import BinnedDataset
from arboleda._engine.threads import resolve_n_jobs
from arboleda.boosting._auto import (
    MOST_ROUNDS,
    best_score,
    problems_of_members,
    ways_of_others,
    ways_to_grow,
)
from arboleda.boosting._rows import Problem, Rows

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting
    from arboleda.boosting._watch import Callback


def mean_of_members(
    model: Boosting, problem: Problem, coded: BinnedDataset, callbacks: Sequence[Callback]
) -> Ensemble:
    """Boost the members, each with the parameters of `model` but for what "auto" chooses."""
    parts = problems_of_members(problem, stratify=is_classifier(model), seed=model.seed_)
    ways = ways_to_grow(model, model._automatic_values, len(parts))
    tried = [_member(model, parts[0], way, 0, coded, callbacks) for way in ways]
    scores = [best_score(member.history_) for member in tried]
    members = [tried[int(np.argmax(scores))]]  # the first of equal ones
    ways = ways_of_others(ways, scores, parts[0].judging.numbers.size)
    for number, part in enumerate(parts[1:], start=1):
        way = ways[number % len(ways)]
        members.append(_member(model, part, way, number, coded, callbacks))
    if len(parts) == 1 and parts[0].rows.numbers.size < problem.rows.numbers.size:
        return _replayed(members[0], problem.rows, coded)
    return Ensemble.mean_of([member.ensemble_ for member in members])


def _member(
    model: Boosting,
    problem: Problem,
    way: Mapping[str, Any],
    number: int,
    coded: BinnedDataset,
    callbacks: Sequence[Callback],
) -> Boosting:
    member = copy.copy(model)
    member.__dict__.update(way, seed_=model.seed_ + number)
    setattr(member, model._rounds_parameter, MOST_ROUNDS)
    stopping = member._stopping(problem.rows.numbers.size, True)
    member._grow(replace(problem, stopping=stopping), coded, None, callbacks)
    return member


def _replayed(member: Boosting, rows: Rows, coded: BinnedDataset) -> Ensemble:
    """Find the values of the trees anew from more rows; their questions stay."""
    setattr(member, member._rounds_parameter, member.ensemble_.n_rounds)
    return fit_boosting(
        rows.coded(coded),
        member.loss_.native,
        member._options(rows.numbers.size, watched=False),
        refit_leaves=member.ensemble_,
        n_threads=resolve_n_jobs(member.n_jobs),
        seed=member.seed_,
    ).ensemble
