"""The catalogue: every model that a study can try, and the grids of preset "thesis".

These grids were selected by cross-validation on the training rows of the three tables of the
thesis, without their test rows. They suit tables of any kind: a candidate that is good for one of
the three tables is a candidate for all.
"""

from collections.abc import Sequence
from typing import Any

from arboleda._utils.errors import StudyError
from arboleda.catalogue.boosting import BOOSTING, BOOSTING_STYLES
from arboleda.catalogue.ensembles import ADABOOST, FORESTS
from arboleda.catalogue.kernels import CLASS_MODELS, KERNELS
from arboleda.catalogue.model import COLUMNS, Grid, Model, Setting
from arboleda.catalogue.portfolio import PORTFOLIO
from arboleda.catalogue.preparation import Style
from arboleda.catalogue.selected import AVERAGES, SELECTED
from arboleda.catalogue.simple_models import BASELINES, LINEAR, NEIGHBOURS, NETWORKS, TREES
from arboleda.catalogue.times_and_ranks import RANKING_MODELS, SURVIVAL_MODELS

__all__ = [
    "ALL",
    "CATALOGUE",
    "CORE",
    "PORTFOLIO_WORD",
    "THESIS_GRIDS",
    "THESIS_MODELS",
    "THESIS_STACK",
    "filter_known_words",
    "select_models",
]

CATALOGUE: tuple[Model, ...] = (
    *BASELINES,
    *TREES,
    *FORESTS,
    *ADABOOST,
    *BOOSTING,
    *BOOSTING_STYLES,
    *LINEAR,
    *CLASS_MODELS,
    *NEIGHBOURS,
    *KERNELS,
    *NETWORKS,
    *SELECTED,
    *AVERAGES,
    *SURVIVAL_MODELS,
    *RANKING_MODELS,
)
CORE, ALL, PORTFOLIO_WORD = "core", "all", "portfolio"
WORDS = (CORE, ALL, PORTFOLIO_WORD)


def select_models(task: str, wanted: Sequence[str] = (CORE,)) -> list[Model]:
    """Select models for a task, in a fixed order.

    Tasks are "binary", "multiclass", "regression", "survival" and "ranking".

    ``wanted`` has keys of models, "core" for the textbook models that every study tries, "all" for
    the whole catalogue, or "portfolio" for the fixed configurations of preset "best".

    Raises
    ------
    StudyError
        If there is no such model for the task, or ``wanted`` is empty.
    """
    kind, models = _list_for_task(task)
    keys = [model.key for model in models if not model.bag]
    bags = [model.key for model in models if model.bag]
    unknown = next((word for word in wanted if word not in (*keys, *bags, *WORDS)), None)
    if unknown is not None or not wanted:
        what = "No model is named" if unknown is None else f"There is no model {unknown!r}"
        some = f"{CORE}, {ALL}, or some of {', '.join(keys)}"
        some += f"; or {PORTFOLIO_WORD}" if bags else ""
        raise StudyError(f"{what} for {kind}; choose {some}.")
    return [
        model
        for model in models
        if model.key in wanted
        or (PORTFOLIO_WORD if model.bag else ALL) in wanted
        or (model.core and CORE in wanted)
    ]


def filter_known_words(task: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that name models of a task."""
    keys = {model.key for model in _list_for_task(task)[1]}
    return tuple(word for word in words if word in (*WORDS, *keys))


def _list_for_task(task: str) -> tuple[str, list[Model]]:
    """Return the catalogue's name of a task, and its models."""
    kind = "classification" if task in ("binary", "multiclass") else task
    return kind, [model for model in (*CATALOGUE, *PORTFOLIO) if model.task in (kind, task)]


# With more classes, each round grows a tree per class: fewer rounds, a larger learning rate.
FEW_CLASSES = 3
# Above this number of rows, fits are expensive and grids are small.
MANY_ROWS = 40_000


def _make_cart_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of trees with a maximum depth, or with a maximum number of leaves."""
    if _is_large(setting):
        unlimited = {"max_depth": None, "max_leaf_nodes": None}
        full_grown = [{**unlimited, "min_samples_leaf": leaf} for leaf in (1, 5)]
        return [
            *full_grown,
            *({**tree, "criterion": "entropy"} for tree in full_grown if setting.n_classes),
            {**unlimited, "min_samples_leaf": 5, "max_leaf_nodes": 512},
        ]
    by_depth = [
        {"max_depth": depth, "max_leaf_nodes": None, "min_samples_leaf": leaf}
        for depth in (5, 8, 12, None)
        for leaf in (1, 5, 20)
    ]
    by_leaves = [
        {"max_depth": None, "max_leaf_nodes": leaves, "min_samples_leaf": 5}
        for leaves in (32, 64, 128, 256, 512)
    ]
    return by_depth + by_leaves


def _make_logistic_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"C": c} for c in ((0.02,) if _is_large(setting) else (0.1, 1.0, 10.0))]


def _make_linear_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{}]


def _make_network_grid(setting: Setting) -> list[dict[str, Any]]:
    if _is_large(setting):
        return [{COLUMNS: _choose_style(setting), "hidden_units": 128, "alpha": 0.01}]
    return [{"hidden_units": units, "alpha": a} for units in (32, 100) for a in (0.001, 0.1)]


def _make_naive_bayes_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of raw and of standardized columns, as smoothing depends on their scales."""
    if _is_large(setting):
        return [{COLUMNS: columns, "var_smoothing": 0.1} for columns in ("filled", "scaled")]
    own = [{COLUMNS: "filled", "var_smoothing": share} for share in (1e-9, 0.1)]
    unit = [{COLUMNS: "scaled", "var_smoothing": share} for share in (1e-9, 0.01, 0.1)]
    return [*own, *unit]


def _make_neighbors_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of city-block distances on raw and on standardized columns."""
    if _is_large(setting):
        # The thesis's nine values.
        return [
            {COLUMNS: "filled", "components": 50, "n_neighbors": k, "weights": "distance"}
            for k in (4, 1, 2, 3, 5, 7, 10, 15, 30)
        ]
    return [
        {COLUMNS: columns, "n_neighbors": k, "weights": weights, "p": 1}
        for columns in ("filled", "scaled")
        for k, weights in ((10, "distance"), (30, "uniform"))
    ]


def _make_svm_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of standardized columns, and of raw columns with wide kernels."""
    if _is_large(setting):
        columns = _choose_style(setting)
        widths = (0.02, "auto") if columns == "filled" else ("auto", 0.05)
        # The thesis's three values.
        return [{COLUMNS: columns, "C": c, "gamma": g} for g in widths for c in (1.0, 2.0, 5.0)]
    scaled = [(10.0, 0.05), (1.0, 0.05), (10.0, 0.01), (10.0, 0.1)]
    own = [(10.0, 0.001), (10.0, 0.003)]
    return [
        {COLUMNS: columns, "C": c, "gamma": gamma}
        for columns, some in (("scaled", scaled), ("filled", own))
        for c, gamma in some
    ]


def _make_lda_grid(setting: Setting) -> list[dict[str, Any]]:
    a_little = {"solver": "lsqr", "shrinkage": 0.01}
    return [a_little] if _is_large(setting) else [{"solver": "svd", "shrinkage": None}, a_little]


def _make_random_forest_grid(setting: Setting) -> list[dict[str, Any]]:
    shares: tuple[str | float, ...] = ("sqrt", 0.4) if setting.n_classes else (0.33, 0.6)
    return [
        {"max_features": share, "min_samples_leaf": leaf, "n_estimators": 300}
        for share in (shares[:1] if _is_large(setting) else shares)
        for leaf in (1, 2, 5, 10)[: 2 if _is_large(setting) else None]
    ]


def _make_bagging_grid(setting: Setting) -> list[dict[str, Any]]:
    if _is_large(setting):
        return [{"max_features": 0.5, "min_samples_leaf": 1, "n_estimators": 100}]
    return [
        {"max_features": share, "min_samples_leaf": leaf, "n_estimators": 200}
        for share in (0.8, 1.0)
        for leaf in (1, 3, 8)
    ]


def _make_adaboost_grid(setting: Setting) -> list[dict[str, Any]]:
    if not setting.n_classes:
        return [{"max_depth": depth, "n_estimators": 200} for depth in (10, 15, 20)]
    if _is_large(setting):
        return [{"max_depth": 8, "learning_rate": 0.5, "n_estimators": 15}]
    return [
        {"max_depth": 1, "learning_rate": 1.0, "n_estimators": 500},
        {"max_depth": 2, "learning_rate": 0.3, "n_estimators": 800},
        {"max_depth": 3, "learning_rate": 0.1, "n_estimators": 800},
    ]


def _make_gradient_boosting_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of best-first trees, trees of depth 2 and symmetric trees."""
    if setting.n_classes > FEW_CLASSES:
        return [
            {"learning_rate": 0.1, "max_iter": 300, "max_leaf_nodes": leaves, "max_features": 0.1}
            for leaves in ((31,) if _is_large(setting) else (15, 31))
        ]
    by_leaves = [
        {"learning_rate": 0.03, "max_iter": 600, "max_leaf_nodes": leaves, "max_features": share}
        for leaves in (15, 31)
        for share in (0.3, 1.0)
    ]
    pairs = {"max_depth": 2, "max_leaf_nodes": None, "min_samples_leaf": 1}
    symmetric: dict[str, Any] = {
        "growth": "symmetric",
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "learning_rate": 0.05,
        "l2_regularization": 3.0,
    }
    parts = {"subsample": 0.8, "colsample_bytree": 0.5}
    return [
        *by_leaves,
        {**pairs, "learning_rate": 0.05, "max_iter": 2000},
        {**symmetric, "max_depth": 6, "max_iter": 800},
        {**symmetric, "max_depth": 6, "max_iter": 2500, **parts},
    ]


def _is_large(setting: Setting) -> bool:
    return setting.n_rows > MANY_ROWS


def _choose_style(setting: Setting) -> Style:
    """Choose the style for many rows: with many classes, columns are assumed to share a unit."""
    return "filled" if setting.n_classes > FEW_CLASSES else "scaled"


THESIS_GRIDS: dict[str, Grid] = {
    "cart": _make_cart_grid,
    "logistic": _make_logistic_grid,
    "linear": _make_linear_grid,
    "network": _make_network_grid,
    "naive_bayes": _make_naive_bayes_grid,
    "neighbours": _make_neighbors_grid,
    "svm": _make_svm_grid,
    "lda": _make_lda_grid,
    "random_forest": _make_random_forest_grid,
    "bagging": _make_bagging_grid,
    "adaboost": _make_adaboost_grid,
    "gradient_boosting": _make_gradient_boosting_grid,
}
THESIS_MODELS = tuple(THESIS_GRIDS)
# The models that the thesis stacks: those that are not ensembles.
THESIS_STACK = ("cart", "logistic", "linear", "network", "naive_bayes", "neighbours", "svm", "lda")
