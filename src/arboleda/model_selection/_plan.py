"""Grouping of the candidates of a grid into shared fits.

Boosting adds rounds and a forest adds trees without changing the earlier ones: a model of 100 is
the first third of a model of 300, byte for byte. Candidates that differ only in the number of these
stages are a family.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Integral, Number
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from arboleda.model_selection._stages import Stages, find_stages

Parameters = dict[str, Any]

_NOT_GIVEN = object()


@dataclass(frozen=True)
class Family:
    """Candidates that share one fit.

    Parameters
    ----------
    model : estimator
        Unfitted model with the largest number of stages of the family.
    numbers : tuple of int
        Distinct numbers of stages, ascending.
    reading : hashable
        Key of the options for reading a table; families with equal keys share tables.
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
        Index in the grid.
    parameters : dict
    family : int
        Index of the family.
    number : int
        Number of stages.
    """

    place: int
    parameters: Parameters
    family: int
    number: int


@dataclass(frozen=True)
class Plan:
    """The fits of a grid.

    Parameters
    ----------
    families : list of Family
        In descending order of the estimated time.
    candidates : list of Candidate
        Ordered by family, then by ascending number of stages.
    stages : Stages
        Kind of stages of all families.
    """

    families: list[Family]
    candidates: list[Candidate]
    stages: Stages


def make_plan(estimator: Any, param_grid: Any, n_rows: int) -> Plan | None:
    """Group the candidates of a grid into families; return None if fits cannot be shared.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dicts
    n_rows : int
        Number of rows of the table; a fold has fewer.

    Returns
    -------
    plan : Plan or None

    Raises
    ------
    ValueError
        If the grid names a parameter that the estimator does not have.
    """
    stages = find_stages(estimator)
    if stages is None:
        return None
    grid: list[Parameters] = list(ParameterGrid(param_grid))
    models = [clone(estimator).set_params(**clone(found, safe=False)) for found in grid]
    if not all(grid) or not all(stages.is_staged(model, n_rows) for model in models):
        return None
    members: dict[Hashable, list[int]] = {}
    for place, (parameters, model) in enumerate(zip(grid, models, strict=True)):
        members.setdefault(_family_key(stages, parameters, model), []).append(place)
    families: list[Family] = []
    candidates: list[Candidate] = []
    count = [_get_n_stages(stages, model) for model in models]
    work = [count[place] * _estimate_tree_size(model) for place, model in enumerate(models)]
    for places in sorted(members.values(), key=lambda found: -max(work[i] for i in found)):
        by_number = sorted(places, key=lambda place: count[place])
        largest = by_number[-1]
        # Options that are not in the grid are the same for all families.
        options = ("categorical_features", "category_encoding")
        reading = tuple(_make_key(grid[largest].get(name, _NOT_GIVEN)) for name in options)
        candidates += [
            Candidate(place, grid[place], len(families), count[place]) for place in by_number
        ]
        numbers = tuple(sorted({count[place] for place in places}))
        families.append(Family(models[largest], numbers, reading))
    return Plan(families, candidates, stages)


def _get_n_stages(stages: Stages, model: Any) -> int:
    return int(getattr(model, stages.get_parameter(model)))


def _family_key(stages: Stages, parameters: Parameters, model: Any) -> Hashable:
    """Return a key of the parameters without the number of stages.

    The number is part of the key if later stages change earlier ones, or if it is invalid, for
    which the fit of the candidate fails.
    """
    is_shared = stages.keeps_earlier_stages(model) and _get_n_stages(stages, model) >= 1
    return frozenset(
        (name, _make_key(value))
        for name, value in parameters.items()
        if not (is_shared and name == stages.get_parameter(model))
    )


def _make_key(value: Any) -> Hashable:
    """Return a key that compares numbers and text by value, and other objects by identity."""
    is_plain = value is None or isinstance(value, Number | str)
    return (type(value), value) if is_plain else id(value)


def _estimate_tree_size(model: Any) -> float:
    """Estimate the relative size of the trees of a model."""
    leaves = [2.0**20]
    if isinstance(model.max_leaf_nodes, Integral):
        leaves.append(float(model.max_leaf_nodes))
    if isinstance(model.max_depth, Integral):
        leaves.append(2.0 ** min(int(model.max_depth), 20))
    return min(leaves)
