"""Gradient boosting: trees that step down the slope of a loss."""

from typing import Any

from arboleda.boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.costs import boosting_cost
from arboleda.study.catalogue.model import Model, Params, Setting, both_tasks

__all__ = ["BOOSTING"]


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


BOOSTING: tuple[Model, ...] = (
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
        space=spaces.boosting,
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
        space=spaces.friedman,
    ),
)
