"""Gradient boosting and its variants: tree types, sampling of rows and losses."""

from collections.abc import Mapping
from typing import Any

from arboleda.boosting import (
    BoostingClassifier,
    BoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda.catalogue import spaces
from arboleda.catalogue.model import (
    Grid,
    Model,
    Params,
    Setting,
    Space,
    make_estimator_pair,
    make_product_grid,
    make_seeded_options,
)
from arboleda.catalogue.preparation import Style
from arboleda.catalogue.spaces import make_boosting_cost

__all__ = ["BOOSTING", "BOOSTING_STYLES", "make_automatic_boosting"]


def _make_hist_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of histogram boosting: few or many leaves, each with two learning rates."""
    return [
        {"learning_rate": rate, "max_iter": rounds, "max_leaf_nodes": leaves}
        for rate, rounds in ((0.1, 100), (0.03, 300))
        for leaves in (8, 31)
    ]


def _make_hist_options(setting: Setting, params: Params) -> dict[str, Any]:
    # Without early stopping, all rows are used for training; the grid sets the rounds.
    return {"early_stopping": False, **make_seeded_options(setting, params)}


# Boosting with all rows, and with half of them (stochastic boosting).
_FRIEDMAN_GRID = make_product_grid(
    learning_rate=(0.1,), n_estimators=(100,), max_depth=(2, 4), subsample=(1.0, 0.5)
)


_HISTOGRAM_BOOSTING = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)

# Rounds of one fit of the boosting that chooses its parameters, roughly; and its fits: the members,
# and the changes that it tries.
_AUTOMATIC_ROUNDS, _AUTOMATIC_FITS = 200, {"quick": 3, "normal": 9}


def _make_automatic_options(setting: Setting, params: Params) -> dict[str, Any]:
    return make_seeded_options(setting, _add_categorical_features(setting, params))


def make_automatic_boosting(key: str, name: str, grid: Grid, **options: Any) -> tuple[Model, Model]:
    """Make the entries of the boosting that chooses its parameters."""
    return make_estimator_pair(
        key,
        name,
        (BoostingClassifier, BoostingRegressor),
        _make_automatic_options,
        grid,
        style="none",
        engine="arboleda",
        core=False,
        cost=make_boosting_cost(
            lambda params: _AUTOMATIC_ROUNDS * _AUTOMATIC_FITS[params["effort"]]
        ),
        **options,
    )


BOOSTING: tuple[Model, ...] = (
    *make_estimator_pair(
        "gradient_boosting",
        "Gradient boosting",
        _HISTOGRAM_BOOSTING,
        _make_hist_options,
        _make_hist_grid,
        style="native",
        engine="arboleda",
        cost=make_boosting_cost(lambda params: params["max_iter"]),
        space=spaces.make_boosting_space,
    ),
    *make_automatic_boosting(
        "automatic_boosting",
        "Gradient boosting that chooses its parameters",
        make_product_grid(effort=("normal",)),
    ),
    *make_estimator_pair(
        "friedman_boosting",
        "Friedman's gradient boosting",
        (GradientBoostingClassifier, GradientBoostingRegressor),
        make_seeded_options,
        _FRIEDMAN_GRID,
        style="native",
        engine="arboleda",
        core=False,
        cost=make_boosting_cost(lambda params: params["n_estimators"] * params["max_depth"]),
        space=spaces.make_friedman_space,
    ),
)


# At low fidelity: the minimum number of rounds and the maximum learning rate.
MIN_ROUNDS, MAX_LEARNING_RATE = 30, 0.3
# Losses for positive targets: the prediction is the exponential of the sum of the trees.
LOGARITHMIC_LOSSES = ("poisson", "gamma")


def _make_options(setting: Setting, style: Mapping[str, Any], params: Params) -> dict[str, Any]:
    return _make_hist_options(setting, {**style, **params})


def _add_categorical_features(setting: Setting, params: Params) -> dict[str, Any]:
    """Add the indices of the categorical columns to a model's options."""
    return {"categorical_features": list(setting.categorical), **params}


def _make_rounds_grid(setting: Setting) -> list[dict[str, Any]]:
    return _make_grid(((0.1, 100), (0.03, 300)), (31,))


def _make_leaves_grid(setting: Setting) -> list[dict[str, Any]]:
    return _make_grid(((0.1, 100),), (8, 31))


def _make_grid(
    steps: tuple[tuple[float, int], ...], leaves: tuple[int, ...]
) -> list[dict[str, Any]]:
    return [
        {"learning_rate": rate, "max_iter": rounds, "max_leaf_nodes": n}
        for rate, rounds in steps
        for n in leaves
    ]


def _make_ordered_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"learning_rate": rate, "max_iter": rounds, "max_depth": depth}
        for rate, rounds in ((0.1, 150), (0.05, 400))
        for depth in (4, 6)
    ]


def _make_additive_grid(setting: Setting) -> list[dict[str, Any]]:
    return _make_grid(((0.1, 200), (0.1, 500)), (4,))


def _make_robust_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"loss": loss, **params}
        for loss in ("huber", "absolute_error")
        for params in _make_grid(((0.1, 100),), (31,))
    ]


def _make_logarithmic_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"loss": loss, **params}
        for loss in LOGARITHMIC_LOSSES
        for params in _make_rounds_grid(setting)
    ]


# Dropped trees, linear leaves and pairs of columns add a cost to each round.
_cost = make_boosting_cost(lambda params: params["max_iter"], 1.2e-8)


def _reduce_rounds(params: Params, share: float) -> dict[str, Any]:
    """Return a candidate with fewer rounds and a proportionally larger learning rate."""
    rounds = max(MIN_ROUNDS, round(params["max_iter"] * share))
    rate = params["learning_rate"] * params["max_iter"] / rounds
    return {**params, "max_iter": rounds, "learning_rate": min(rate, MAX_LEARNING_RATE)}


def _make_variant(
    key: str,
    name: str,
    options: Mapping[str, Any],
    grid: Grid = _make_rounds_grid,
    *,
    columns: Style = "native",
    space: Space | None = spaces.make_boosting_space,
) -> tuple[Model, Model]:
    """Make the entries of a variant; with ``columns="none"``, its trees split categories."""

    def make_variant_options(setting: Setting, params: Params) -> dict[str, Any]:
        merged = _make_options(setting, options, params)
        return _add_categorical_features(setting, merged) if columns == "none" else merged

    return make_estimator_pair(
        key,
        name,
        _HISTOGRAM_BOOSTING,
        make_variant_options,
        grid,
        style=columns,
        engine="arboleda",
        core=False,
        cost=_cost,
        fidelity=_reduce_rounds,
        space=space,
    )


def _make_single_task(
    key: str,
    name: str,
    task: Any,
    make: Any,
    options: Any,
    grid: Grid,
    space: Space | None = spaces.make_boosting_space,
) -> Model:
    return Model(
        key=key,
        name=name,
        task=task,
        make=lambda s, p: make(**_make_options(s, options, p)),
        grid=grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=_cost,
        fidelity=_reduce_rounds,
        space=space,
    )


BOOSTING_STYLES: tuple[Model, ...] = (
    *_make_variant(
        "category_boosting", "Gradient boosting, categories split in sets", {}, columns="none"
    ),
    *_make_variant(
        "ordered_boosting",
        "Gradient boosting, symmetric trees and ordered target statistics",
        {
            "growth": "symmetric",
            "max_leaf_nodes": None,
            "category_encoding": "ordered",
            "l2_regularization": 3.0,
            "min_samples_leaf": 1,
        },
        _make_ordered_grid,
        columns="none",
        space=None,
    ),
    *_make_variant("dart", "DART", {"drop_rate": 0.1}, _make_leaves_grid),
    *_make_variant(
        "goss",
        "Gradient boosting, one-side sampling (GOSS)",
        {"sampling": "goss", "min_samples_leaf": 5},
    ),
    *_make_variant(
        "stochastic_boosting",
        "Stochastic gradient boosting",
        {"subsample": 0.5, "max_features": 0.5},
    ),
    *_make_variant(
        "random_threshold_boosting",
        "Gradient boosting, thresholds drawn at random",
        {"extra_trees": True, "max_features": 0.5},
        lambda s: _make_grid(((0.1, 200), (0.05, 500)), (31,)),
    ),
    *_make_variant(
        "linear_leaf_boosting",
        "Gradient boosting, linear leaves",
        {"linear_leaves": True},
        lambda s: _make_grid(((0.1, 100), (0.05, 200)), (15,)),
    ),
    *_make_variant(
        "additive_boosting",
        "Boosted additive model",
        {"interaction_cst": "no_interactions"},
        _make_additive_grid,
    ),
    *_make_variant(
        "pairwise_boosting",
        "Boosted additive model with pairs",
        {"interaction_cst": "pairwise"},
        lambda s: _make_grid(((0.1, 100), (0.1, 200)), (8,)),
    ),
    _make_single_task(
        "exponential_boosting",
        "Gradient boosting, exponential loss",
        "binary",
        HistGradientBoostingClassifier,
        {"loss": "exponential"},
        _make_rounds_grid,
    ),
    _make_single_task(
        "robust_boosting",
        "Gradient boosting, robust losses",
        "regression",
        HistGradientBoostingRegressor,
        {},
        _make_robust_grid,
        None,
    ),
    _make_single_task(
        "logarithmic_boosting",
        "Gradient boosting of the target's logarithm",
        "regression",
        HistGradientBoostingRegressor,
        {},
        _make_logarithmic_grid,
        None,
    ),
)
