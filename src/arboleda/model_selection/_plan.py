"""Which candidates of a grid are one fit.

Boosting adds round to round, a forest tree to tree, and neither looks back: a model of 100 is the
first third of one of 300, byte for byte. Candidates that differ in the number of such stages alone
are a family.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Integral, Number
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from arboleda.model_selection._stages import Stages, stages_of

Parameters = dict[str, Any]

_NOT_GIVEN = object()


@dataclass(frozen=True)
class Family:
    """Candidates that are one fit.

    Parameters
    ----------
    model : estimator
        Not fitted; its number of stages is the largest of the family.
    numbers : tuple of int
        Numbers of stages, ascending, each once.
    reading : hashable
        Families of the same reading read a table alike.
    """

    model: Any
    numbers: tuple[int, ...]
    reading: Hashable


@dataclass(frozen=True)
class Candidate:
    """One combination of parameters.

    Parameters
    ----------
    place : int
        Its place in the grid.
    parameters : dict
    family : int
    number : int
        Of stages.
    """

    place: int
    parameters: Parameters
    family: int
    number: int


@dataclass(frozen=True)
class Plan:
    """A grid as fits.

    Parameters
    ----------
    families : list of Family
        Those that take longest first.
    candidates : list of Candidate
        Family by family, the fewest stages of a family first.
    stages : Stages
        Of all families.
    """

    families: list[Family]
    candidates: list[Candidate]
    stages: Stages


def plan_of(estimator: Any, param_grid: Any, n_rows: int) -> Plan | None:
    """Group the candidates of a grid into families; None where scikit-learn has to fit each.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dicts
    n_rows : int
        Rows of the table; those of a fold are fewer.

    Raises
    ------
    ValueError
        If the estimator has no parameter of a name in the grid.
    """
    stages = stages_of(estimator)
    if stages is None:
        return None
    grid: list[Parameters] = list(ParameterGrid(param_grid))
    models = [clone(estimator).set_params(**clone(found, safe=False)) for found in grid]
    if not all(grid) or not all(stages.are_all(model, n_rows) for model in models):
        return None
    members: dict[Hashable, list[int]] = {}
    for place, (parameters, model) in enumerate(zip(grid, models, strict=True)):
        members.setdefault(_family_key(stages, parameters, model), []).append(place)
    families: list[Family] = []
    candidates: list[Candidate] = []
    count = [_number(stages, model) for model in models]
    work = [count[place] * _size(model) for place, model in enumerate(models)]
    for places in sorted(members.values(), key=lambda found: -max(work[i] for i in found)):
        by_number = sorted(places, key=lambda place: count[place])
        largest = by_number[-1]
        # Elsewhere it is the estimator's own, for all.
        asked = ("categorical_features", "category_encoding")
        reading = tuple(_key_of(grid[largest].get(name, _NOT_GIVEN)) for name in asked)
        candidates += [
            Candidate(place, grid[place], len(families), count[place]) for place in by_number
        ]
        numbers = tuple(sorted({count[place] for place in places}))
        families.append(Family(models[largest], numbers, reading))
    return Plan(families, candidates, stages)


def _number(stages: Stages, model: Any) -> int:
    return int(getattr(model, stages.parameter(model)))


def _family_key(stages: Stages, parameters: Parameters, model: Any) -> Hashable:
    """Parameters but for the number of stages.

    That is a parameter like any other where later stages change earlier ones, and where it is no
    legal number: such a candidate fails by itself.
    """
    free = stages.are_kept(model) and _number(stages, model) >= 1
    return frozenset(
        (name, _key_of(value))
        for name, value in parameters.items()
        if not (free and name == stages.parameter(model))
    )


def _key_of(value: Any) -> Hashable:
    """Numbers and text are the same if they are equal, other objects only if they are one."""
    plain = value is None or isinstance(value, Number | str)
    return (type(value), value) if plain else id(value)


def _size(model: Any) -> float:
    """How large a tree of a model may grow, beside those of others."""
    leaves = [2.0**20]
    if isinstance(model.max_leaf_nodes, Integral):
        leaves.append(float(model.max_leaf_nodes))
    if isinstance(model.max_depth, Integral):
        leaves.append(2.0 ** min(int(model.max_depth), 20))
    return min(leaves)
