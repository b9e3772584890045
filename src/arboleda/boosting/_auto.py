"""``max_iter="auto"`` and ``n_estimators="auto"``: what is chosen for who sets nothing.

The rows are dealt out to folds. For each fold a model is boosted on the other rows, in small steps,
until the fold no longer improves, and goes back to its best round; the mean of these models' raw
scores is the model. So every row has its say in the trees of all models but one, and in how many
rounds that one has, and the mean varies less than each of its members: Breiman (1996), "Bagging
predictors"; Parmanto, Munro and Doyle (1996), "Improving committee diagnosis with resampling
techniques", whose committees are cross-validated like this one. Codes are made once, for bins look
at no target, and all folds share them.

The numbers below come from the study in benchmarks/quality, which says what each of them is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.boosting._rows import Problem, kfold_splits

Floats = npt.NDArray[np.float64]

# Rounds that a member may have; none of the study's came near.
MOST_ROUNDS = 5000

# Folds, by the largest number of rows that they are for. More rows need a mean less, and more time.
MEMBERS = ((50_000, 5), (500_000, 3))

# With more rows than that one model stops by a tenth of them; its trees are then replayed on all
# rows: the questions stay, the values of the leaves are found anew.
_FOLDS_OF_ONE = 10

# By the name of the parameter: what it is worth where it was left at its default.
HISTOGRAM_VALUES: Mapping[str, Any] = {
    "early_stopping": True,
    "n_iter_no_change": 50,
    "tol": 0.0,
    "learning_rate": 0.05,
    "max_features": 0.5,
}

# Ways to grow that members take in turns, for the mean of unlike models is better. All are tried on
# the first fold; where the first way is clearly better there, it is the way of all members.
STYLES: tuple[Mapping[str, Any], ...] = ({}, {"extra_trees": True})

EXACT_VALUES: Mapping[str, Any] = {
    "n_iter_no_change": 50,
    "tol": 0.0,
    "learning_rate": 0.05,
}


def n_members(n_rows: int) -> int:
    """Return the number of models whose mean is taken."""
    return next((number for most, number in MEMBERS if n_rows <= most), 1)


def ways_to_grow(model: Any, values: Mapping[str, Any], n_members: int) -> list[dict[str, Any]]:
    """Return values of the parameters that were left at their defaults, one dict for each style.

    What was set is kept: a style that only changes such parameters is none of its own. One member
    has one style, the first.
    """
    defaults = type(model)().get_params()
    given = model.get_params(deep=False)
    ways: list[dict[str, Any]] = []
    for style in STYLES if n_members > 1 else STYLES[:1]:
        way = {
            name: value
            for name, value in {**values, **style}.items()
            if name in given and given[name] == defaults[name]
        }
        if way not in ways:
            ways.append(way)
    return ways


def ways_of_others(
    ways: list[dict[str, Any]], scores: list[float], n_judges: int
) -> list[dict[str, Any]]:
    """Return the ways that members take in turns, given the scores on the first fold.

    The first way alone if it is clearly better than the others: by more than 1/sqrt(n) of its score
    for n rows that judged, about two standard errors where losses of single rows vary as much as
    they amount to and are alike for both ways. Else the better ways come first.
    """
    if len(ways) > 1 and scores[0] - max(scores[1:]) > abs(scores[0]) / math.sqrt(n_judges):
        return ways[:1]
    order = sorted(range(len(ways)), key=lambda i: -scores[i])  # stable: the first of equal ones
    return [ways[i] for i in order]


def best_score(history: Mapping[str, Floats]) -> float:
    """Return the best score by the rows that judged; 0 where nothing was recorded."""
    if "validation_score" in history:
        return float(np.nanmax(history["validation_score"]))
    if "validation_loss" in history:
        return -float(np.nanmin(history["validation_loss"]))
    return 0.0


def problems_of_members(problem: Problem, *, stratify: bool, seed: int) -> list[Problem]:
    """Rows to learn from and to judge by, for each member.

    Parameters
    ----------
    problem : Problem
        With validation rows of its own there is one member, which is judged by them.
    stratify : bool
        Whether the target holds classes.
    seed : int
        Of the dealing.
    """
    rows = problem.rows
    if problem.validation is not None:
        return [problem]
    number = n_members(rows.numbers.size)
    n_folds = number if number > 1 else _FOLDS_OF_ONE
    parts = []
    if rows.numbers.size >= n_folds:
        parts = kfold_splits(rows, n_folds, stratify=stratify, seed=seed)
    if not parts:  # few rows, or as many classes: none can be set aside
        return [Problem(rows, rows, None)]
    return [Problem(learn, judge, None) for learn, judge in parts[:number]]
