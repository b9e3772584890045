"""The catalogue: every model that a study can try, and the grids of preset thesis.

They were chosen by cross-validation within the training rows of the three tables that the thesis
studies; no test row had a say. Every grid is for tables of any kind: a candidate that is good for
one of the three is a candidate for all.
"""

from collections.abc import Sequence
from typing import Any

from arboleda.study.catalogue.boosting import BOOSTING, BOOSTING_STYLES
from arboleda.study.catalogue.ensembles import ADABOOST, FORESTS
from arboleda.study.catalogue.kernels import CLASS_MODELS, KERNELS
from arboleda.study.catalogue.model import COLUMNS, Grid, Model, Setting
from arboleda.study.catalogue.portfolio import PORTFOLIO
from arboleda.study.catalogue.selected import AVERAGES, SELECTED
from arboleda.study.catalogue.simple_models import BASELINES, LINEAR, NEIGHBOURS, NETWORKS, TREES
from arboleda.study.data.preparation import Style
from arboleda.study.errors import StudyError

__all__ = [
    "ALL",
    "CATALOGUE",
    "CORE",
    "PORTFOLIO_WORD",
    "THESIS_GRIDS",
    "THESIS_MODELS",
    "THESIS_STACK",
    "known_words",
    "models_for",
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
)
CORE, ALL, PORTFOLIO_WORD = "core", "all", "portfolio"
WORDS = (CORE, ALL, PORTFOLIO_WORD)


def models_for(task: str, wanted: Sequence[str] = (CORE,)) -> list[Model]:
    """The wanted models for a task ("binary", "multiclass", "regression"), in their fixed order.

    ``wanted`` holds keys of models, "core" for the textbook models that every study tries, "all"
    for the whole catalogue, or "portfolio" for the fixed configurations of preset "best".

    Raises
    ------
    StudyError
        If there is no such model for the task, or none is wanted.
    """
    kind, known = _of_task(task)
    keys = [model.key for model in known if not model.bag]
    bags = [model.key for model in known if model.bag]
    strange = next((word for word in wanted if word not in (*keys, *bags, *WORDS)), None)
    if strange is not None or not wanted:
        what = "No model is named" if strange is None else f"There is no model {strange!r}"
        some = f"{CORE}, {ALL}, or some of {', '.join(keys)}; or {PORTFOLIO_WORD}"
        raise StudyError(f"{what} for {kind}; choose {some}.")
    return [
        model
        for model in known
        if model.key in wanted
        or (PORTFOLIO_WORD if model.bag else ALL) in wanted
        or (model.core and CORE in wanted)
    ]


def known_words(task: str, words: Sequence[str]) -> tuple[str, ...]:
    """Those of the words that name models of a task."""
    keys = {model.key for model in _of_task(task)[1]}
    return tuple(word for word in words if word in (*WORDS, *keys))


def _of_task(task: str) -> tuple[str, list[Model]]:
    """What a task is called in the catalogue, and its models."""
    kind = "regression" if task == "regression" else "classification"
    return kind, [model for model in (*CATALOGUE, *PORTFOLIO) if model.task in (kind, task)]


# With more classes every round grows as many trees: fewer rounds, of larger steps.
FEW_CLASSES = 3
# From so many rows on a fit is dear, and the folds are large enough for fewer candidates to tell.
MANY_ROWS = 40_000


def _cart(setting: Setting) -> list[dict[str, Any]]:
    """Grown to a depth, or best first to a number of leaves."""
    if _is_large(setting):
        whole = {"max_depth": None, "max_leaf_nodes": None}
        full_grown = [{**whole, "min_samples_leaf": leaf} for leaf in (1, 5)]
        return [
            *full_grown,
            *({**tree, "criterion": "entropy"} for tree in full_grown if setting.n_classes),
            {**whole, "min_samples_leaf": 5, "max_leaf_nodes": 512},
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


def _logistic(setting: Setting) -> list[dict[str, Any]]:
    return [{"C": c} for c in ((0.02,) if _is_large(setting) else (0.1, 1.0, 10.0))]


def _linear(setting: Setting) -> list[dict[str, Any]]:
    return [{}]


def _network(setting: Setting) -> list[dict[str, Any]]:
    if _is_large(setting):
        return [{COLUMNS: _many_rows_columns(setting), "hidden_units": 128, "alpha": 0.01}]
    return [{"hidden_units": units, "alpha": a} for units in (32, 100) for a in (0.001, 0.1)]


def _naive_bayes(setting: Setting) -> list[dict[str, Any]]:
    """Columns in their own units, or of unit size: the smoothing is a share of the widest."""
    if _is_large(setting):
        return [{COLUMNS: columns, "var_smoothing": 0.1} for columns in ("filled", "scaled")]
    own = [{COLUMNS: "filled", "var_smoothing": share} for share in (1e-9, 0.1)]
    unit = [{COLUMNS: "scaled", "var_smoothing": share} for share in (1e-9, 0.01, 0.1)]
    return [*own, *unit]


def _neighbours(setting: Setting) -> list[dict[str, Any]]:
    """City-block distances in the columns' own units, and in deviations."""
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


def _svm(setting: Setting) -> list[dict[str, Any]]:
    """Columns in deviations, and in their own units, where a kernel is to be wide."""
    if _is_large(setting):
        columns = _many_rows_columns(setting)
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


def _lda(setting: Setting) -> list[dict[str, Any]]:
    a_little = {"solver": "lsqr", "shrinkage": 0.01}
    return [a_little] if _is_large(setting) else [{"solver": "svd", "shrinkage": None}, a_little]


def _random_forest(setting: Setting) -> list[dict[str, Any]]:
    shares: tuple[str | float, ...] = ("sqrt", 0.4) if setting.n_classes else (0.33, 0.6)
    return [
        {"max_features": share, "min_samples_leaf": leaf, "n_estimators": 300}
        for share in (shares[:1] if _is_large(setting) else shares)
        for leaf in (1, 2, 5, 10)[: 2 if _is_large(setting) else None]
    ]


def _bagging(setting: Setting) -> list[dict[str, Any]]:
    if _is_large(setting):
        return [{"max_features": 0.5, "min_samples_leaf": 1, "n_estimators": 100}]
    return [
        {"max_features": share, "min_samples_leaf": leaf, "n_estimators": 200}
        for share in (0.8, 1.0)
        for leaf in (1, 3, 8)
    ]


def _adaboost(setting: Setting) -> list[dict[str, Any]]:
    if not setting.n_classes:
        return [{"max_depth": depth, "n_estimators": 200} for depth in (10, 15, 20)]
    if _is_large(setting):
        return [{"max_depth": 8, "learning_rate": 0.5, "n_estimators": 15}]
    return [
        {"max_depth": 1, "learning_rate": 1.0, "n_estimators": 500},
        {"max_depth": 2, "learning_rate": 0.3, "n_estimators": 800},
        {"max_depth": 3, "learning_rate": 0.1, "n_estimators": 800},
    ]


def _gradient_boosting(setting: Setting) -> list[dict[str, Any]]:
    """Leaf by leaf as is usual, trees of two questions, and symmetric ones; small steps."""
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


def _many_rows_columns(setting: Setting) -> Style:
    """Many rows of many classes are taken for images and their like: columns of one unit."""
    return "filled" if setting.n_classes > FEW_CLASSES else "scaled"


THESIS_GRIDS: dict[str, Grid] = {
    "cart": _cart,
    "logistic": _logistic,
    "linear": _linear,
    "network": _network,
    "naive_bayes": _naive_bayes,
    "neighbours": _neighbours,
    "svm": _svm,
    "lda": _lda,
    "random_forest": _random_forest,
    "bagging": _bagging,
    "adaboost": _adaboost,
    "gradient_boosting": _gradient_boosting,
}
THESIS_MODELS = tuple(THESIS_GRIDS)
# What the thesis stacks: the models that are no ensembles.
THESIS_STACK = ("cart", "logistic", "linear", "network", "naive_bayes", "neighbours", "svm", "lda")
