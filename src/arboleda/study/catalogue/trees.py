"""Single trees."""

from typing import Any

from arboleda.study.catalogue import spaces
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


def _pruned_grid(setting: Setting) -> list[dict[str, Any]]:
    """The smallest tree within one standard error of the best, or the best."""
    return [{"rule": "1se"}, {"rule": "min"}]


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
        space=spaces.cart,
    ),
    # Its own cross-validation along the path chooses the size: what is left is how careful to be.
    *both_tasks(
        "pruned_tree",
        "Pruned tree (cost-complexity)",
        lambda s, p: PrunedTreeClassifier(**_options(s, p)),
        _pruned_grid,
        lambda s, p: PrunedTreeRegressor(**_options(s, p)),
        _pruned_grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=trees_cost(11),
    ),
    # A quarter of the rows it is fitted to says what to prune.
    *both_tasks(
        "reduced_error_tree",
        "Pruned tree (reduced error)",
        lambda s, p: PrunedTreeClassifier(pruning="reduced_error", **_options(s, p)),
        no_parameters,
        lambda s, p: PrunedTreeRegressor(pruning="reduced_error", **_options(s, p)),
        no_parameters,
        style="native",
        engine="arboleda",
        core=False,
        cost=trees_cost(1),
    ),
)
