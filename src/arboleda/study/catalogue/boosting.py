"""Gradient boosting with its variants: trees, samples of rows, losses."""

from collections.abc import Mapping
from typing import Any

from arboleda.boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.model import Grid, Model, Params, Setting, Space, both_tasks
from arboleda.study.catalogue.spaces import boosting_cost
from arboleda.study.data.preparation import Style

__all__ = ["BOOSTING", "BOOSTING_STYLES", "with_categories"]


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


# What a first look has: at least so many rounds, and steps no larger than this.
FEWEST_ROUNDS, LARGEST_STEP = 30, 0.3
# Losses for targets above 0: the answer is the exponential of the trees' sum.
LOGARITHMIC_LOSSES = ("poisson", "gamma")


def _options(setting: Setting, style: Mapping[str, Any], params: Params) -> dict[str, Any]:
    # All rows are learned from: the number of rounds is the grid's.
    return {"early_stopping": False, "random_state": setting.seed, "n_jobs": 1, **style, **params}


def with_categories(setting: Setting, params: Params) -> dict[str, Any]:
    """Options of a model that is given the matrix as it is, and told which columns are codes."""
    return {"categorical_features": list(setting.categorical), **params}


def _rounds_grid(setting: Setting) -> list[dict[str, Any]]:
    return _grid(((0.1, 100), (0.03, 300)), (31,))


def _leaves_grid(setting: Setting) -> list[dict[str, Any]]:
    return _grid(((0.1, 100),), (8, 31))


def _grid(steps: tuple[tuple[float, int], ...], leaves: tuple[int, ...]) -> list[dict[str, Any]]:
    return [
        {"learning_rate": rate, "max_iter": rounds, "max_leaf_nodes": n}
        for rate, rounds in steps
        for n in leaves
    ]


def _ordered_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"learning_rate": rate, "max_iter": rounds, "max_depth": depth}
        for rate, rounds in ((0.1, 150), (0.05, 400))
        for depth in (4, 6)
    ]


def _additive_grid(setting: Setting) -> list[dict[str, Any]]:
    return _grid(((0.1, 200), (0.1, 500)), (4,))


def _robust_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"loss": loss, **params}
        for loss in ("huber", "absolute_error")
        for params in _grid(((0.1, 100),), (31,))
    ]


def _logarithmic_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"loss": loss, **params} for loss in LOGARITHMIC_LOSSES for params in _rounds_grid(setting)
    ]


# Trees that are left out, slopes of leaves, and pairs of columns are paid for by the round.
_cost = boosting_cost(lambda params: params["max_iter"], 1.2e-8)


def _fewer_rounds(params: Params, share: float) -> dict[str, Any]:
    """The same way gone in fewer, larger steps."""
    rounds = max(FEWEST_ROUNDS, round(params["max_iter"] * share))
    rate = params["learning_rate"] * params["max_iter"] / rounds
    return {**params, "max_iter": rounds, "learning_rate": min(rate, LARGEST_STEP)}


def _style(
    key: str,
    name: str,
    options: Mapping[str, Any],
    grid: Grid = _rounds_grid,
    *,
    columns: Style = "native",
    space: Space | None = spaces.boosting,
) -> tuple[Model, Model]:
    """The entries of a style; of ``columns="none"`` its trees split the categories themselves."""

    def asked(setting: Setting, params: Params) -> dict[str, Any]:
        found = _options(setting, options, params)
        return with_categories(setting, found) if columns == "none" else found

    return both_tasks(
        key,
        name,
        lambda s, p: HistGradientBoostingClassifier(**asked(s, p)),
        grid,
        lambda s, p: HistGradientBoostingRegressor(**asked(s, p)),
        grid,
        style=columns,
        engine="arboleda",
        core=False,
        cost=_cost,
        fidelity=_fewer_rounds,
        space=space,
    )


def _one_task(
    key: str,
    name: str,
    task: Any,
    make: Any,
    options: Any,
    grid: Grid,
    space: Space | None = spaces.boosting,
) -> Model:
    return Model(
        key=key,
        name=name,
        task=task,
        make=lambda s, p: make(**_options(s, options, p)),
        grid=grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=_cost,
        fidelity=_fewer_rounds,
        space=space,
    )


BOOSTING_STYLES: tuple[Model, ...] = (
    *_style("category_boosting", "Gradient boosting, categories split in sets", {}, columns="none"),
    *_style(
        "ordered_boosting",
        "Gradient boosting, symmetric trees and ordered target statistics",
        {
            "growth": "symmetric",
            "max_leaf_nodes": None,
            "category_encoding": "ordered",
            "l2_regularization": 3.0,
            "min_samples_leaf": 1,
        },
        _ordered_grid,
        columns="none",
        space=None,
    ),
    *_style("dart", "DART", {"drop_rate": 0.1}, _leaves_grid),
    *_style(
        "goss",
        "Gradient boosting, one-side sampling (GOSS)",
        {"sampling": "goss", "min_samples_leaf": 5},
    ),
    *_style(
        "stochastic_boosting",
        "Stochastic gradient boosting",
        {"subsample": 0.5, "max_features": 0.5},
    ),
    *_style(
        "random_threshold_boosting",
        "Gradient boosting, thresholds drawn at random",
        {"extra_trees": True, "max_features": 0.5},
        lambda s: _grid(((0.1, 200), (0.05, 500)), (31,)),
    ),
    *_style(
        "linear_leaf_boosting",
        "Gradient boosting, linear leaves",
        {"linear_leaves": True},
        lambda s: _grid(((0.1, 100), (0.05, 200)), (15,)),
    ),
    *_style(
        "additive_boosting",
        "Boosted additive model",
        {"interaction_cst": "no_interactions"},
        _additive_grid,
    ),
    *_style(
        "pairwise_boosting",
        "Boosted additive model with pairs",
        {"interaction_cst": "pairwise"},
        lambda s: _grid(((0.1, 100), (0.1, 200)), (8,)),
    ),
    _one_task(
        "exponential_boosting",
        "Gradient boosting, exponential loss",
        "binary",
        HistGradientBoostingClassifier,
        {"loss": "exponential"},
        _rounds_grid,
    ),
    _one_task(
        "robust_boosting",
        "Gradient boosting, robust losses",
        "regression",
        HistGradientBoostingRegressor,
        {},
        _robust_grid,
        None,
    ),
    _one_task(
        "logarithmic_boosting",
        "Gradient boosting of the target's logarithm",
        "regression",
        HistGradientBoostingRegressor,
        {},
        _logarithmic_grid,
        None,
    ),
)
