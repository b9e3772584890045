"""Bagging, forests and AdaBoost."""

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
from arboleda.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.model import Grid, Model, Params, Setting, Size, Task, both_tasks
from arboleda.study.catalogue.spaces import boosting_cost, trees_cost
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["ADABOOST", "FORESTS"]

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


def _forest_regressor_grid(setting: Setting) -> list[dict[str, Any]]:
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
        _forest_regressor_grid,
        **_FOREST,
        space=spaces.forest,
    ),
    *both_tasks(
        "extra_trees",
        "Extremely randomised trees",
        lambda s, p: ExtraTreesClassifier(**_options(s, p)),
        _classifier_grid,
        lambda s, p: ExtraTreesRegressor(**_options(s, p)),
        _forest_regressor_grid,
        **_FOREST,
        space=spaces.forest,
    ),
)


# AdaBoost's trees are small, and late rounds change little.
ROUNDS = 200


def _steps_grid(setting: Setting) -> list[dict[str, Any]]:
    """Stumps with whole steps and with small ones, and trees of three questions in a row."""
    steps = ((1, 1.0), (1, 0.3), (3, 0.1))
    return [{"max_depth": depth, "learning_rate": rate} for depth, rate in steps]


def _depth_grid(setting: Setting) -> list[dict[str, Any]]:
    """Small trees: what each member must be better than guessing by grows with the classes."""
    return [{"max_depth": depth} for depth in (1, 3, 6)]


def _adaboost_regressor_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"max_depth": 4}, {"max_depth": 10}]


def _split(params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the members, and those of the boosting."""
    of_tree = {k: v for k, v in params.items() if k in ("max_depth", "min_samples_leaf")}
    return of_tree, {k: v for k, v in params.items() if k not in of_tree}


def _classifier(algorithm: Any, setting: Setting, params: Params, *, regress: bool = False) -> Any:
    of_tree, of_rounds = _split(params)
    tree = DecisionTreeRegressor if regress else DecisionTreeClassifier
    return AdaBoostClassifier(
        tree(**of_tree),
        algorithm=algorithm,
        random_state=setting.seed,
        n_jobs=1,
        **{"n_estimators": ROUNDS, **of_rounds},
    )


def _regressor(algorithm: Any, setting: Setting, params: Params) -> Any:
    of_tree, of_rounds = _split(params)
    return AdaBoostRegressor(
        DecisionTreeRegressor(**of_tree),
        algorithm=algorithm,
        random_state=setting.seed,
        n_jobs=1,
        **{"n_estimators": ROUNDS // 2, **of_rounds},
    )


# A member's cost grows with its depth; a member of R2 learns from a bag, one by one.
_cost = boosting_cost(
    lambda params: params.get("n_estimators", ROUNDS) * params.get("max_depth", 1),
    1.8e-8,
    leaf_rows=0,
)


def _entry(
    key: str,
    name: str,
    algorithm: str,
    grid: Grid = _depth_grid,
    *,
    task: Task = "classification",
    regress: bool = False,
) -> Model:
    """One algorithm for classes; ``regress`` where its members are regressions."""
    return Model(
        key=key,
        name=name,
        task=task,
        make=lambda s, p: _classifier(algorithm, s, p, regress=regress),
        grid=grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=_cost,
    )


ADABOOST: tuple[Model, ...] = (
    # AdaBoost.MH: members that say how sure they are of each class, of any number of classes.
    *both_tasks(
        "adaboost",
        "AdaBoost",
        lambda s, p: _classifier("MH", s, p),
        _steps_grid,
        lambda s, p: _regressor("R2", s, p),
        _adaboost_regressor_grid,
        style="native",
        engine="arboleda",
        cost=_cost,
    ),
    _entry("discrete_adaboost", "AdaBoost, discrete", "discrete", task="binary"),
    _entry("adaboost_m1", "AdaBoost.M1", "M1"),
    _entry("adaboost_m2", "AdaBoost.M2", "M2"),
    _entry("adaboost_mr", "AdaBoost.MR", "MR"),
    _entry("samme", "SAMME", "SAMME"),
    _entry("real_adaboost", "Real AdaBoost", "real"),
    _entry("gentle_adaboost", "Gentle AdaBoost", "gentle", regress=True),
    _entry("logitboost", "LogitBoost", "logit", regress=True),
    Model(
        key="adaboost_r",
        name="AdaBoost.R",
        task="regression",
        make=lambda s, p: _regressor("R", s, p),
        grid=_adaboost_regressor_grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=_cost,
    ),
    # Of naive Bayes that asks of each column only whether it is above its mean: a weak kind.
    Model(
        key="schapire_boosting",
        name="Schapire's boosting by majorities of three",
        task="binary",
        make=lambda s, p: SchapireBoostingClassifier(
            BernoulliNB(), depth=p["levels"], random_state=s.seed
        ),
        grid=lambda s: [{"levels": levels} for levels in (1, 2)],
        engine="arboleda",
        core=False,
    ),
)
