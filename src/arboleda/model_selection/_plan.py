"""Which candidates of a grid are one fit.

Boosting adds round to round and never looks back: a model of 100 rounds is the first third of one
of 300, byte for byte. Candidates that differ in the number of rounds alone are a family.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Integral, Number
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from arboleda.boosting._boosting import Boosting
from arboleda.boosting._gradient_boosting_classifier import GradientBoostingClassifier
from arboleda.boosting._gradient_boosting_regressor import GradientBoostingRegressor
from arboleda.boosting._hist_gradient_boosting_classifier import HistGradientBoostingClassifier
from arboleda.boosting._hist_gradient_boosting_regressor import HistGradientBoostingRegressor

Parameters = dict[str, Any]

_OURS = (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)


@dataclass(frozen=True)
class Family:
    """Candidates that are one fit.

    Parameters
    ----------
    model : Boosting
        Not fitted; its number of rounds is the largest of the family.
    rounds : tuple of int
        Numbers of rounds, ascending, each once.
    reading : hashable
        Families of the same reading read a table alike.
    """

    model: Boosting
    rounds: tuple[int, ...]
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
    rounds : int
    """

    place: int
    parameters: Parameters
    family: int
    rounds: int


@dataclass(frozen=True)
class Plan:
    """A grid as fits.

    Parameters
    ----------
    families : list of Family
        Those that take longest first.
    candidates : list of Candidate
        Family by family, the fewest rounds of a family first.
    """

    families: list[Family]
    candidates: list[Candidate]


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
    if type(estimator) not in _OURS:
        return None
    grid: list[Parameters] = list(ParameterGrid(param_grid))
    models = [clone(estimator).set_params(**clone(found, safe=False)) for found in grid]
    if not all(grid) or not all(_is_sum_of_rounds(model, n_rows) for model in models):
        return None
    members: dict[Hashable, list[int]] = {}
    for place, (parameters, model) in enumerate(zip(grid, models, strict=True)):
        members.setdefault(_family_key(parameters, model), []).append(place)
    families: list[Family] = []
    candidates: list[Candidate] = []
    for places in sorted(members.values(), key=lambda found: -max(_work(models[i]) for i in found)):
        by_rounds = sorted(places, key=lambda place: _rounds(models[place]))
        largest = by_rounds[-1]
        # Elsewhere it is the estimator's own, for all.
        asked = ("categorical_features", "category_encoding")
        reading = tuple(_key_of(grid[largest].get(name, _OURS)) for name in asked)
        rounds = sorted({_rounds(models[place]) for place in places})
        candidates += [
            Candidate(place, grid[place], len(families), _rounds(models[place]))
            for place in by_rounds
        ]
        families.append(Family(models[largest], tuple(rounds), reading))
    return Plan(families, candidates)


def _is_sum_of_rounds(model: Boosting, n_rows: int) -> bool:
    """Whether fitting is rounds on the rows given and nothing else: no stopping, no callbacks."""
    if not isinstance(getattr(model, model._rounds_parameter), Integral):
        return False
    if model.warm_start or model.callbacks or model.verbose:
        return False
    if getattr(model, "init", None) not in (None, "zero"):
        return False
    try:
        return model._stopping(n_rows, validation_given=False) is None
    except ValueError:  # parameters that do not go together: its fit will say so
        return False


def _rounds(model: Boosting) -> int:
    return int(getattr(model, model._rounds_parameter))


def _family_key(parameters: Parameters, model: Boosting) -> Hashable:
    """Parameters but for the number of rounds.

    That is a parameter like any other where later rounds change the trees of earlier ones (DART),
    and where it is no legal number: such a candidate fails by itself.
    """
    free = model.drop_rate == 0.0 and _rounds(model) >= 1
    return frozenset(
        (name, _key_of(value))
        for name, value in parameters.items()
        if not (free and name == model._rounds_parameter)
    )


def _key_of(value: Any) -> Hashable:
    """Numbers and text are the same if they are equal, other objects only if they are one."""
    plain = value is None or isinstance(value, Number | str)
    return (type(value), value) if plain else id(value)


def _work(model: Any) -> float:
    """How long a fit takes beside others: its rounds, and how large their trees may grow."""
    leaves = [2.0**20]
    if isinstance(model.max_leaf_nodes, Integral):
        leaves.append(float(model.max_leaf_nodes))
    if isinstance(model.max_depth, Integral):
        leaves.append(2.0 ** min(int(model.max_depth), 20))
    return _rounds(model) * min(leaves)
