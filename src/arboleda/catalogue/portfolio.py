"""The portfolio of preset "best": diverse configurations, each good on some tables.

The configurations are fixed; an ensemble weighs them on each table. Only early stopping of boosting
is tuned, by a held-out tenth of the rows or, if time allows, by folds. A model is the mean of the
models that were fitted in the folds, so all rows are used and nothing is refitted.
docs/decisions/portfolio.md describes how the configurations were selected.
"""

from collections.abc import Mapping
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.catalogue.boosting import make_automatic_boosting
from arboleda.catalogue.model import (
    Grid,
    Model,
    Params,
    Setting,
    Size,
    make_estimator_pair,
    make_product_grid,
    make_seeded_options,
    make_task_pair,
)
from arboleda.catalogue.preparation import Style
from arboleda.catalogue.simple_models import scale_target
from arboleda.catalogue.spaces import (
    make_boosting_cost,
    make_pairs_cost,
    make_rows_cost,
    make_trees_cost,
)
from arboleda.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.tables.target import n_scores

__all__ = ["PORTFOLIO"]

# With fewer rows, a tenth of them is too small to decide when to stop.
EARLY_STOPPING_ROWS = 2_000
# With early stopping on a held-out tenth: the maximum rounds, and the rounds without improvement.
MAX_ROUNDS, PATIENCE = 1_000, 30
# The default learning rate, and the rounds at this rate without early stopping.
LEARNING_RATE, FIXED_ROUNDS = 0.05, 150
# With early stopping by folds: the maximum of rows times trees per round, the number of rows up to
# which there are five folds, and the maximum rounds.
MAX_EVALUATED, FIVE_FOLDS_ROWS, MAX_EVALUATED_ROUNDS = 250_000, 20_000, 2_000
TREES = 300
# The estimate of rounds holds for this number of rows, and grows with this power of it.
USUAL_ROWS, ROWS_POWER = 10_000, 0.3
# Seconds of a search for feature crosses.
CROSS_SEARCH_SECONDS = 1.5
NEIGHBOR_ROWS, SVM_ROWS = 50_000, 10_000

# From these numbers of cells (rows times columns times trees per round), the learning rate is
# multiplied by these factors, for fewer rounds: that loses less than a sample of the rows would.
LARGER_LEARNING_RATES = ((200_000_000, 3.0), (20_000_000, 2.0))

# The variants of boosting: name and options by key.
_BOOSTING: dict[str, tuple[str, dict[str, Any]]] = {
    "leafwise": (
        "Boosting by leaves",
        {"max_leaf_nodes": 31, "colsample_bytree": 0.6, "l2_regularization": 1.0},
    ),
    "fine_leafwise": (
        "Boosting by fine leaves",
        {
            "max_leaf_nodes": 31,
            "min_samples_leaf": 2,
            "colsample_bytree": 0.4,
            "l2_regularization": 1.0,
            "learning_rate": 0.03,
        },
    ),
    "symmetric": (
        "Boosting of symmetric trees",
        {
            "growth": "symmetric",
            "max_leaf_nodes": None,
            "max_depth": 6,
            "colsample_bytree": 0.6,
            "l2_regularization": 3.0,
            "min_samples_leaf": 1,
            "n_iter_no_change": 100,
        },
    ),
    "large_leafwise": (
        "Boosting of large trees",
        {
            "max_leaf_nodes": 127,
            "min_samples_leaf": 5,
            "max_features": 0.4,
            "learning_rate": 0.03,
            "l2_regularization": 1.0,
        },
    ),
    "levelwise": (
        "Boosting by levels, rows and columns drawn",
        {
            "growth": "level_wise",
            "max_leaf_nodes": None,
            "max_depth": 6,
            "subsample": 0.8,
            "colsample_bytree": 0.7,
            "l2_regularization": 1.0,
        },
    ),
    "small_leafwise": (
        "Boosting of small trees",
        {"max_leaf_nodes": 8, "max_features": 0.5, "subsample": 0.8, "learning_rate": 0.08},
    ),
    "random_splits": (
        "Boosting of trees split at random",
        {"extra_trees": True, "max_leaf_nodes": 63, "colsample_bytree": 0.6, "min_samples_leaf": 5},
    ),
    "linear_leaves": (
        "Boosting of trees with linear leaves",
        {"linear_leaves": True, "max_leaf_nodes": 15, "colsample_bytree": 0.6, "linear_l2": 10.0},
    ),
    "dart": (
        "DART of the portfolio",
        {
            "drop_rate": 0.1,
            "max_leaf_nodes": 31,
            "max_iter": 150,
            "learning_rate": 0.1,
            "colsample_bytree": 0.6,
        },
    ),
}


def _make_boosting_grid(options: Mapping[str, Any]) -> Grid:
    def make_grid(setting: Setting) -> list[dict[str, Any]]:
        n_trees = n_scores(setting.n_classes)
        cells = setting.n_rows * setting.n_columns * n_trees
        factor = next((f for minimum, f in LARGER_LEARNING_RATES if cells >= minimum), 1.0)
        params = {"learning_rate": LEARNING_RATE, **options}
        if "max_iter" in params:
            return [{**params, "early_stopping": False}]
        if factor > 1.0:
            params["learning_rate"] = round(factor * params["learning_rate"], 6)
            # Pure leaves have almost no curvature: without a penalty, their steps are too large.
            params["l2_regularization"] = max(1.0, params.get("l2_regularization", 0.0))
        stopping = {
            "early_stopping": True,
            "n_iter_no_change": params.pop("n_iter_no_change", PATIENCE),
        }
        if setting.n_rows >= EARLY_STOPPING_ROWS:
            first = {**params, **stopping, "max_iter": MAX_ROUNDS}
        else:
            rounds = round(FIXED_ROUNDS * LEARNING_RATE / params["learning_rate"])
            first = {**params, "max_iter": rounds, "early_stopping": False}
        if setting.n_rows * n_trees > MAX_EVALUATED:
            return [first]
        folds = 5 if setting.n_rows <= FIVE_FOLDS_ROWS else 3
        by_folds = {
            **params,
            **stopping,
            "max_iter": MAX_EVALUATED_ROUNDS,
            "validation_folds": folds,
        }
        return [first, by_folds]

    return make_grid


def _estimate_rounds(params: Params) -> float:
    """Estimate the number of rounds of a fit, including those in its validation folds."""
    rounds: int = params["max_iter"]
    if not params["early_stopping"]:
        return rounds
    folds: int = params.get("validation_folds", 1)
    return 0.4 * folds * min(rounds, MAX_ROUNDS) * LEARNING_RATE / float(params["learning_rate"])


def _make_boosting_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {
        "categorical_features": list(setting.categorical),
        # Any improvement counts: a tolerance would depend on the unit of the target.
        "tol": 0.0,
        "random_state": setting.seed,
        "n_jobs": 1,
        **params,
    }


def _make_boosting(
    key: str, name: str, options: Mapping[str, Any], style: Style = "none"
) -> tuple[Model, ...]:
    grid = _make_boosting_grid(options)
    estimate_rounds_cost = make_boosting_cost(_estimate_rounds)

    def estimate_cost(size: Size, params: Params) -> float:
        more = (size.rows / USUAL_ROWS) ** ROWS_POWER if params["early_stopping"] else 1.0
        return more * estimate_rounds_cost(size, params)

    def estimate_crossed_cost(size: Size, params: Params) -> float:
        return CROSS_SEARCH_SECONDS + 1.5 * estimate_cost(size, params)

    return make_estimator_pair(
        f"best_{key}",
        name,
        (HistGradientBoostingClassifier, HistGradientBoostingRegressor),
        _make_boosting_options,
        grid,
        style=style,
        engine="arboleda",
        core=False,
        bag=True,
        cost=estimate_cost if style == "none" else estimate_crossed_cost,
    )


def _make_automatic_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the only candidate: with products and differences of columns if there are numbers."""
    n_numeric = setting.n_columns - len(setting.categorical)
    return [{"effort": "quick", "cross_columns": n_numeric > 1}]


def _sample_by_node(options: Mapping[str, Any]) -> dict[str, Any]:
    others = dict(options)
    return {"max_features": others.pop("colsample_bytree"), **others}


def _make_forest(key: str, name: str, classifier: Any, regressor: Any, **shares: Any) -> Any:
    def make_options(setting: Setting, params: Params) -> dict[str, Any]:
        return {"n_estimators": TREES, **make_seeded_options(setting, params)}

    return make_task_pair(
        f"best_{key}",
        name,
        lambda s, p: classifier(**make_options(s, p)),
        make_product_grid(max_features=(shares["classes"],), min_samples_leaf=(1,)),
        lambda s, p: regressor(**make_options(s, p)),
        make_product_grid(max_features=(shares["values"],), min_samples_leaf=(1,)),
        style="native",
        engine="arboleda",
        core=False,
        bag=True,
        cost=make_trees_cost(TREES),
    )


def _make_linear(key: str, name: str, penalty: float, style: Style) -> tuple[Model, ...]:
    return make_task_pair(
        f"best_{key}",
        name,
        lambda s, p: LogisticRegression(max_iter=1000, random_state=s.seed, **p),
        make_product_grid(C=(1.0 / penalty,)),
        lambda s, p: Ridge(**p),
        make_product_grid(alpha=(penalty,)),
        style=style,
        core=False,
        bag=True,
        cost=make_rows_cost(1e-7, each_class=True),
    )


def _make_network(key: str, name: str, style: Style) -> tuple[Model, ...]:
    grid = make_product_grid(hidden_layers=("128, 64",), alpha=(0.001,))
    return make_task_pair(
        f"best_{key}",
        name,
        lambda s, p: MLPClassifier(**_make_network_options(s, p)),
        grid,
        lambda s, p: scale_target(MLPRegressor(**_make_network_options(s, p))),
        grid,
        style=style,
        core=False,
        bag=True,
        max_rows=100_000,
        cost=make_rows_cost(4e-6),
    )


def _make_network_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": tuple(int(n) for n in params["hidden_layers"].split(",")),
        "alpha": params["alpha"],
        "early_stopping": setting.n_rows >= EARLY_STOPPING_ROWS,
        "max_iter": 100,
        "random_state": setting.seed,
    }


_SVM_GRID = make_product_grid(C=(10.0,))


def _make_calibrated_svc(setting: Setting, params: Params) -> Any:
    """Make a machine on all rows, calibrated by cross-validation with three folds."""
    machine = SVC(random_state=setting.seed, **params)
    return CalibratedClassifierCV(machine, ensemble=False, cv=3)


def _make_neighbors_grid(setting: Setting) -> list[dict[str, Any]]:
    n_neighbors = min(15, max(1, setting.n_rows // 5), setting.max_neighbors)
    return [{"n_neighbors": n_neighbors, "weights": "distance"}]


_OTHERS: dict[str, tuple[Model, ...]] = {
    "extra_trees": _make_forest(
        "extra_trees",
        "Extremely randomised trees of the portfolio",
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        classes=0.4,
        values=1.0,
    ),
    "forest": _make_forest(
        "forest",
        "Random forest of the portfolio",
        RandomForestClassifier,
        RandomForestRegressor,
        classes="sqrt",
        values=0.4,
    ),
    "network": _make_network("network", "Small network of the portfolio", "scaled"),
    "ranked_network": _make_network("ranked_network", "Small network of ranks", "ranked"),
    "linear": _make_linear("linear", "Linear model of the portfolio", 1.0, "scaled"),
    "ranked_linear": _make_linear("ranked_linear", "Linear model of ranks", 20.0, "ranked"),
    "svm": make_task_pair(
        "best_svm",
        "Support vector machine of the portfolio",
        _make_calibrated_svc,
        _SVM_GRID,
        lambda s, p: scale_target(SVR(**p)),
        _SVM_GRID,
        core=False,
        bag=True,
        max_rows=SVM_ROWS,
        cost=make_pairs_cost(2e-9),
    ),
    "neighbours": make_estimator_pair(
        "best_neighbours",
        "Nearest neighbours of the portfolio",
        (KNeighborsClassifier, KNeighborsRegressor),
        lambda s, p: dict(p),
        _make_neighbors_grid,
        core=False,
        bag=True,
        max_rows=NEIGHBOR_ROWS,
        cost=make_pairs_cost(2e-10, NEIGHBOR_ROWS),
    ),
}

# Variants that are also tried with feature crosses. They sample columns per node instead of per
# tree, so that they differ from the plain variants even if no cross is generated.
_CROSSED = {
    f"crossed_{key}": _make_boosting(
        f"crossed_{key}", name, _sample_by_node(_BOOSTING[key][1]), "crossed"
    )
    for key, name in (
        ("random_splits", "Boosting of trees split at random, with columns made of others"),
        ("leafwise", "Boosting by leaves, with columns made of others"),
    )
}
_MODELS = {
    **{key: _make_boosting(key, name, options) for key, (name, options) in _BOOSTING.items()},
    **_CROSSED,
    **_OTHERS,
    "automatic": make_automatic_boosting(
        "best_automatic", "Boosting that chooses its parameters", _make_automatic_grid, bag=True
    ),
}

# The first four in the order of a greedy selection over tables.
_ORDER = (
    "random_splits",
    "linear",
    "leafwise",
    "network",
    "svm",
    "levelwise",
    "extra_trees",
    "symmetric",
    "automatic",
    "fine_leafwise",
    "ranked_network",
    "linear_leaves",
    "crossed_leafwise",
    "crossed_random_splits",
    "ranked_linear",
    "forest",
    "large_leafwise",
    "small_leafwise",
    "neighbours",
    "dart",
)

PORTFOLIO: tuple[Model, ...] = tuple(model for key in _ORDER for model in _MODELS[key])
