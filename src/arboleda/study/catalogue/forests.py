"""Bagging and its kin: many trees, each of another part of the rows, the columns or the labels."""

from typing import Any

from arboleda.bagging import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from arboleda.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.costs import trees_cost
from arboleda.study.catalogue.model import Model, Params, Setting, Size, both_tasks
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["FORESTS"]

# More trees change the third digit of a score, and cost in proportion.
TREES = 200
# What a first look at a forest has at least.
FEWEST_TREES = 30


def _bagging_grid(setting: Setting) -> list[dict[str, Any]]:
    """All columns for every tree, or half of them."""
    return [{"max_features": 1.0}, {"max_features": 0.5}]


def _subspace_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"max_features": share} for share in (0.25, 0.5, 0.75)]


def _patches_grid(setting: Setting) -> list[dict[str, Any]]:
    """Half of the rows for every tree, none of them twice, and some of the columns."""
    return [{"max_samples": 0.5, "max_features": share} for share in (0.25, 0.5, 0.75)]


def _switching_grid(setting: Setting) -> list[dict[str, Any]]:
    """The share of labels that are switched: little, or as much as leaves most of them right.

    A tenth of the labels can be switched uniformly whatever the sizes of the classes; in proportion
    to them only if no class is rare.
    """
    return [{"p": 0.1, "scheme": "uniform"}, {"p": "auto"}]


def _classifier_grid(setting: Setting) -> list[dict[str, Any]]:
    return _forest_grid(("sqrt", 0.4))


def _regressor_grid(setting: Setting) -> list[dict[str, Any]]:
    return _forest_grid((1 / 3, 1.0))


def _forest_grid(max_features: tuple[str | float, ...]) -> list[dict[str, Any]]:
    """Few columns at a node or many, each with full-grown leaves and with larger ones."""
    return [
        {"max_features": features, "min_samples_leaf": leaf}
        for features in max_features
        for leaf in (1, 5)
    ]


def _options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"n_estimators": TREES, "random_state": setting.seed, "n_jobs": 1, **params}


def _bagging_options(setting: Setting, params: Params, tree: Any) -> dict[str, Any]:
    """Those of the trees are told by the least rows of a leaf."""
    rest = {k: v for k, v in params.items() if k != "min_samples_leaf"}
    leaf = params.get("min_samples_leaf", 1)
    return {"estimator": tree(min_samples_leaf=leaf), **_options(setting, rest)}


def _patches_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"bootstrap": False, **_options(setting, params)}


def _fewer_trees(params: Params, share: float) -> dict[str, Any]:
    return {**params, "n_estimators": max(FEWEST_TREES, round(TREES * share))}


def _columns_of_a_node(size: Size, params: Params) -> float:
    share = params["max_features"]
    return size.columns**-0.5 if share == "sqrt" else float(share)


_FOREST: dict[str, Any] = {
    "style": "native",
    "engine": "arboleda",
    "fidelity": _fewer_trees,
    "cost": trees_cost(TREES, _columns_of_a_node),
}

FORESTS: tuple[Model, ...] = (
    *both_tasks(
        "bagging",
        "Bagged trees",
        lambda s, p: BaggingClassifier(**_bagging_options(s, p, DecisionTreeClassifier)),
        _bagging_grid,
        lambda s, p: BaggingRegressor(**_bagging_options(s, p, DecisionTreeRegressor)),
        _bagging_grid,
        **_FOREST,
        space=spaces.subspaces,
    ),
    *both_tasks(
        "random_subspaces",
        "Random subspaces",
        lambda s, p: RandomSubspaceClassifier(**_options(s, p)),
        _subspace_grid,
        lambda s, p: RandomSubspaceRegressor(**_options(s, p)),
        _subspace_grid,
        **_FOREST,
        core=False,
        space=spaces.subspaces,
    ),
    *both_tasks(
        "random_patches",
        "Random patches",
        lambda s, p: BaggingClassifier(**_patches_options(s, p)),
        _patches_grid,
        lambda s, p: BaggingRegressor(**_patches_options(s, p)),
        _patches_grid,
        **_FOREST,
        core=False,
    ),
    Model(
        "class_switching",
        "Class switching",
        "classification",
        lambda s, p: ClassSwitchingClassifier(**_options(s, p)),
        _switching_grid,
        style="native",
        engine="arboleda",
        fidelity=_fewer_trees,
        cost=trees_cost(TREES),
        core=False,
    ),
    *both_tasks(
        "random_forest",
        "Random forest",
        lambda s, p: RandomForestClassifier(**_options(s, p)),
        _classifier_grid,
        lambda s, p: RandomForestRegressor(**_options(s, p)),
        _regressor_grid,
        **_FOREST,
        space=spaces.forest,
    ),
    *both_tasks(
        "extra_trees",
        "Extremely randomised trees",
        lambda s, p: ExtraTreesClassifier(**_options(s, p)),
        _classifier_grid,
        lambda s, p: ExtraTreesRegressor(**_options(s, p)),
        _regressor_grid,
        **_FOREST,
        space=spaces.forest,
    ),
)
