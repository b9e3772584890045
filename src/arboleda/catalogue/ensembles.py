"""Bagging, forests and AdaBoost as entries of the catalogue."""

from typing import Any

from sklearn.naive_bayes import BernoulliNB

from arboleda.adaboost import AdaBoostClassifier, AdaBoostRegressor, SchapireBoostingClassifier
from arboleda.bagging import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from arboleda.catalogue import spaces
from arboleda.catalogue.model import (
    Grid,
    Model,
    Params,
    Setting,
    Size,
    Task,
    make_estimator_pair,
    make_product_grid,
    make_seeded_options,
    make_task_pair,
)
from arboleda.catalogue.spaces import make_boosting_cost, make_trees_cost
from arboleda.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["ADABOOST", "FORESTS"]

# More trees change only the third digit of a score, at proportional cost.
TREES = 200
# The minimum number of trees at low fidelity.
MIN_TREES = 30


# All columns for every tree, or half of them.
_BAGGING_GRID = make_product_grid(max_features=(1.0, 0.5))


def _make_switching_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of the fraction of switched labels: a tenth, or the default of the method.

    Uniform switching of a tenth of the labels is possible for all class sizes; switching in
    proportion to class sizes only if no class is rare.
    """
    return [{"p": 0.1, "scheme": "uniform"}, {"p": "auto"}]


_FOREST_CLASSIFIER_GRID = make_product_grid(max_features=("sqrt", 0.4), min_samples_leaf=(1, 5))
_FOREST_REGRESSOR_GRID = make_product_grid(max_features=(1 / 3, 1.0), min_samples_leaf=(1, 5))


def _make_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"n_estimators": TREES, **make_seeded_options(setting, params)}


def _make_bagging_options(setting: Setting, params: Params, tree: Any) -> dict[str, Any]:
    """Make the options of bagging, with those of the trees in ``estimator``."""
    rest = {k: v for k, v in params.items() if k != "min_samples_leaf"}
    leaf = params.get("min_samples_leaf", 1)
    return {"estimator": tree(min_samples_leaf=leaf), **_make_options(setting, rest)}


def _make_patches_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"bootstrap": False, **_make_options(setting, params)}


def _reduce_trees(params: Params, share: float) -> dict[str, Any]:
    return {**params, "n_estimators": max(MIN_TREES, round(TREES * share))}


def _compute_node_share(size: Size, params: Params) -> float:
    share = params["max_features"]
    return size.columns**-0.5 if share == "sqrt" else float(share)


_FOREST: dict[str, Any] = {
    "style": "native",
    "engine": "arboleda",
    "fidelity": _reduce_trees,
    "cost": make_trees_cost(TREES, _compute_node_share),
}

FORESTS: tuple[Model, ...] = (
    *make_task_pair(
        "bagging",
        "Bagged trees",
        lambda s, p: BaggingClassifier(**_make_bagging_options(s, p, DecisionTreeClassifier)),
        _BAGGING_GRID,
        lambda s, p: BaggingRegressor(**_make_bagging_options(s, p, DecisionTreeRegressor)),
        _BAGGING_GRID,
        **_FOREST,
        space=spaces.make_subspaces_space,
    ),
    *make_estimator_pair(
        "random_subspaces",
        "Random subspaces",
        (RandomSubspaceClassifier, RandomSubspaceRegressor),
        _make_options,
        make_product_grid(max_features=(0.25, 0.5, 0.75)),
        **_FOREST,
        core=False,
        space=spaces.make_subspaces_space,
    ),
    *make_estimator_pair(
        "random_patches",
        "Random patches",
        (BaggingClassifier, BaggingRegressor),
        _make_patches_options,
        # Half of the rows and some columns for every tree.
        make_product_grid(max_samples=(0.5,), max_features=(0.25, 0.5, 0.75)),
        **_FOREST,
        core=False,
    ),
    Model(
        "class_switching",
        "Class switching",
        "classification",
        lambda s, p: ClassSwitchingClassifier(**_make_options(s, p)),
        _make_switching_grid,
        style="native",
        engine="arboleda",
        fidelity=_reduce_trees,
        cost=make_trees_cost(TREES),
        core=False,
    ),
    *make_task_pair(
        "random_forest",
        "Random forest",
        lambda s, p: RandomForestClassifier(**_make_options(s, p)),
        _FOREST_CLASSIFIER_GRID,
        lambda s, p: RandomForestRegressor(**_make_options(s, p)),
        _FOREST_REGRESSOR_GRID,
        **_FOREST,
        space=spaces.make_forest_space,
    ),
    *make_task_pair(
        "extra_trees",
        "Extremely randomised trees",
        lambda s, p: ExtraTreesClassifier(**_make_options(s, p)),
        _FOREST_CLASSIFIER_GRID,
        lambda s, p: ExtraTreesRegressor(**_make_options(s, p)),
        _FOREST_REGRESSOR_GRID,
        **_FOREST,
        space=spaces.make_forest_space,
    ),
)


# AdaBoost uses small trees, and late rounds change little.
ROUNDS = 200


def _make_adaboost_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of AdaBoost: stumps with two learning rates, and trees of depth 3."""
    steps = ((1, 1.0), (1, 0.3), (3, 0.1))
    return [{"max_depth": depth, "learning_rate": rate} for depth, rate in steps]


# With more classes, members must be stronger.
_DEPTH_GRID = make_product_grid(max_depth=(1, 3, 6))
_ADABOOST_REGRESSOR_GRID = make_product_grid(max_depth=(4, 10))


def _split_params(params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split parameters into those of the members and those of boosting."""
    of_tree = {k: v for k, v in params.items() if k in ("max_depth", "min_samples_leaf")}
    return of_tree, {k: v for k, v in params.items() if k not in of_tree}


def _make_adaboost_classifier(
    algorithm: Any, setting: Setting, params: Params, *, regress: bool = False
) -> Any:
    of_tree, of_rounds = _split_params(params)
    tree = DecisionTreeRegressor if regress else DecisionTreeClassifier
    return AdaBoostClassifier(
        tree(**of_tree),
        algorithm=algorithm,
        random_state=setting.seed,
        n_jobs=1,
        **{"n_estimators": ROUNDS, **of_rounds},
    )


def _make_adaboost_regressor(algorithm: Any, setting: Setting, params: Params) -> Any:
    of_tree, of_rounds = _split_params(params)
    return AdaBoostRegressor(
        DecisionTreeRegressor(**of_tree),
        algorithm=algorithm,
        random_state=setting.seed,
        n_jobs=1,
        **{"n_estimators": ROUNDS // 2, **of_rounds},
    )


# A member's cost grows with its depth.
_cost = make_boosting_cost(
    lambda params: params.get("n_estimators", ROUNDS) * params.get("max_depth", 1),
    1.8e-8,
    leaf_rows=0,
)


def _make_adaboost_model(
    key: str,
    name: str,
    algorithm: str,
    grid: Grid = _DEPTH_GRID,
    *,
    task: Task = "classification",
    regress: bool = False,
) -> Model:
    """Make the entry of a classification algorithm; ``regress`` if its members are regressors."""
    return Model(
        key=key,
        name=name,
        task=task,
        make=lambda s, p: _make_adaboost_classifier(algorithm, s, p, regress=regress),
        grid=grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=_cost,
    )


ADABOOST: tuple[Model, ...] = (
    # AdaBoost.MH for any number of classes: members predict a confidence for each class.
    *make_task_pair(
        "adaboost",
        "AdaBoost",
        lambda s, p: _make_adaboost_classifier("MH", s, p),
        _make_adaboost_grid,
        lambda s, p: _make_adaboost_regressor("R2", s, p),
        _ADABOOST_REGRESSOR_GRID,
        style="native",
        engine="arboleda",
        cost=_cost,
    ),
    _make_adaboost_model("discrete_adaboost", "AdaBoost, discrete", "discrete", task="binary"),
    _make_adaboost_model("adaboost_m1", "AdaBoost.M1", "M1"),
    _make_adaboost_model("adaboost_m2", "AdaBoost.M2", "M2"),
    _make_adaboost_model("adaboost_mr", "AdaBoost.MR", "MR"),
    _make_adaboost_model("samme", "SAMME", "SAMME"),
    _make_adaboost_model("real_adaboost", "Real AdaBoost", "real"),
    _make_adaboost_model("gentle_adaboost", "Gentle AdaBoost", "gentle", regress=True),
    _make_adaboost_model("logitboost", "LogitBoost", "logit", regress=True),
    Model(
        key="adaboost_r",
        name="AdaBoost.R",
        task="regression",
        make=lambda s, p: _make_adaboost_regressor("R", s, p),
        grid=_ADABOOST_REGRESSOR_GRID,
        style="native",
        engine="arboleda",
        core=False,
        cost=_cost,
    ),
    # Naive Bayes on columns that are binarized at their means is a weak learner.
    Model(
        key="schapire_boosting",
        name="Schapire's boosting by majorities of three",
        task="binary",
        make=lambda s, p: SchapireBoostingClassifier(
            BernoulliNB(), depth=p["levels"], random_state=s.seed
        ),
        grid=make_product_grid(levels=(1, 2)),
        engine="arboleda",
        core=False,
    ),
)
