"""Boosting: members that mend what those before them got wrong."""

from typing import Any

from arboleda.adaboost import AdaBoostClassifier, AdaBoostRegressor
from arboleda.boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda.study.catalogue.costs import boosting_cost
from arboleda.study.catalogue.model import Model, Params, Setting, both_tasks
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["BOOSTING"]

# AdaBoost's trees are small, and late rounds change little.
ADABOOST_ROUNDS = 200


def _adaboost_classifier_grid(setting: Setting) -> list[dict[str, Any]]:
    """Stumps with whole steps and with small ones, and trees of three questions in a row."""
    steps = ((1, 1.0), (1, 0.3), (3, 0.1))
    return [{"max_depth": depth, "learning_rate": rate} for depth, rate in steps]


def _adaboost_regressor_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"max_depth": 4}, {"max_depth": 10}]


def _adaboost_classifier(setting: Setting, params: Params) -> Any:
    """AdaBoost.MH: members that say how sure they are of each class, of any number of classes."""
    return AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=params["max_depth"]),
        n_estimators=ADABOOST_ROUNDS,
        learning_rate=params["learning_rate"],
        algorithm="MH",
        random_state=setting.seed,
        n_jobs=1,
    )


def _adaboost_regressor(setting: Setting, params: Params) -> Any:
    """AdaBoost.R2."""
    return AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=params["max_depth"]),
        n_estimators=ADABOOST_ROUNDS // 2,
        random_state=setting.seed,
        n_jobs=1,
    )


def _hist_grid(setting: Setting) -> list[dict[str, Any]]:
    """Few or many leaves, each with large steps and with small ones."""
    return [
        {"learning_rate": rate, "max_iter": rounds, "max_leaf_nodes": leaves}
        for rate, rounds in ((0.1, 100), (0.03, 300))
        for leaves in (8, 31)
    ]


def _hist_options(setting: Setting, params: Params) -> dict[str, Any]:
    # All rows are learned from: the number of rounds is the grid's.
    return {"early_stopping": False, "random_state": setting.seed, "n_jobs": 1, **params}


def _friedman_grid(setting: Setting) -> list[dict[str, Any]]:
    """Trees of all rows, or each of half of them: stochastic gradient boosting."""
    return [
        {"learning_rate": 0.1, "n_estimators": 100, "max_depth": depth, "subsample": share}
        for depth in (2, 4)
        for share in (1.0, 0.5)
    ]


def _friedman_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"random_state": setting.seed, "n_jobs": 1, **params}


# A member's cost grows with its depth; a member of R2 learns from a bag, one by one.
_adaboost_cost = boosting_cost(lambda params: ADABOOST_ROUNDS * params["max_depth"], 1.8e-8)

BOOSTING: tuple[Model, ...] = (
    *both_tasks(
        "adaboost",
        "AdaBoost",
        _adaboost_classifier,
        _adaboost_classifier_grid,
        _adaboost_regressor,
        _adaboost_regressor_grid,
        style="native",
        engine="arboleda",
        cost=_adaboost_cost,
    ),
    *both_tasks(
        "gradient_boosting",
        "Gradient boosting",
        lambda s, p: HistGradientBoostingClassifier(**_hist_options(s, p)),
        _hist_grid,
        lambda s, p: HistGradientBoostingRegressor(**_hist_options(s, p)),
        _hist_grid,
        style="native",
        engine="arboleda",
        cost=boosting_cost(lambda params: params["max_iter"]),
    ),
    *both_tasks(
        "friedman_boosting",
        "Friedman's gradient boosting",
        lambda s, p: GradientBoostingClassifier(**_friedman_options(s, p)),
        _friedman_grid,
        lambda s, p: GradientBoostingRegressor(**_friedman_options(s, p)),
        _friedman_grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=boosting_cost(lambda params: params["n_estimators"] * params["max_depth"]),
    ),
)
