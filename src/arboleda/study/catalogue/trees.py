"""Single trees."""

from typing import Any

from arboleda.study.catalogue.costs import trees_cost
from arboleda.study.catalogue.model import Model, Params, Setting, both_tasks, no_parameters
from arboleda.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)

__all__ = ["TREES"]


def _cart_grid(setting: Setting) -> list[dict[str, Any]]:
    by_depth = [
        {"max_depth": depth, "min_samples_leaf": leaf, "max_leaf_nodes": None}
        for depth in (3, 5, 8, 12, None)
        for leaf in (1, 5, 20)
    ]
    by_leaves = [
        {"max_depth": None, "min_samples_leaf": 5, "max_leaf_nodes": leaves}
        for leaves in (8, 32, 128)
    ]
    return by_depth + by_leaves


def _options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"random_state": setting.seed, "n_jobs": 1, **params}


TREES: tuple[Model, ...] = (
    *both_tasks(
        "cart",
        "Decision tree (CART)",
        lambda s, p: DecisionTreeClassifier(**_options(s, p)),
        _cart_grid,
        lambda s, p: DecisionTreeRegressor(**_options(s, p)),
        _cart_grid,
        style="native",
        engine="arboleda",
        cost=trees_cost(1),
    ),
    # Its own cross-validation along the path chooses the size: there is nothing left to tune.
    *both_tasks(
        "pruned_tree",
        "Pruned tree (1-SE rule)",
        lambda s, p: PrunedTreeClassifier(**_options(s, p)),
        no_parameters,
        lambda s, p: PrunedTreeRegressor(**_options(s, p)),
        no_parameters,
        style="native",
        engine="arboleda",
        core=False,
        cost=trees_cost(6),
    ),
)
