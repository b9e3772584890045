"""The portfolio of preset "best": configurations that differ, each good on some tables.

They are fixed, and their ensemble decides what each is worth on a table; tuned is only how boosting
is stopped, by a tenth of the rows or, where there is time, by folds of them. A model is the mean of
the models that the folds fitted: all rows are learned from, and nothing is fitted a second time.
docs/decisions/portfolio.md says how they were chosen.
"""

from collections.abc import Mapping
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.study.catalogue.model import Grid, Model, Params, Setting, Size, both_tasks
from arboleda.study.catalogue.simple_models import scaled_target
from arboleda.study.catalogue.spaces import boosting_cost, each_row_cost, pairs_cost, trees_cost
from arboleda.study.data.preparation import Style
from arboleda.study.data.target import n_scores

__all__ = ["PORTFOLIO"]

# With fewer rows a tenth of them says too little about when to stop.
EARLY_STOPPING_ROWS = 2_000
# Rounds where a held-out tenth tells when to stop, and after how many without a gain.
MOST_ROUNDS, PATIENCE = 1_000, 30
# A step where nothing else is said, and rounds of such steps where nothing is held out.
STEP, FIXED_ROUNDS = 0.05, 150
# Where folds tell when to stop: rows times trees of a round at most, the rows up to which they are
# five, and rounds, for they take longer to find too many.
MAX_EVALUATED, FIVE_FOLDS_ROWS, MAX_EVALUATED_ROUNDS = 250_000, 20_000, 2_000
TREES = 300
# How many rows have the rounds that are reckoned with, and to what power rounds grow with rows.
USUAL_ROWS, ROWS_POWER = 10_000, 0.3
# Seconds of a look at which columns are worth making.
LOOK_COST = 1.5
NEIGHBOUR_ROWS, VECTOR_ROWS = 50_000, 10_000

# How many times as large steps are, for fewer rounds, from so many cells on: rows times columns
# times trees of a round. What is lost by it is less than by learning from fewer rows.
LARGER_STEPS = ((200_000_000, 3.0), (20_000_000, 2.0))

# The styles of boosting.
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


def _boosting_grid(options: Mapping[str, Any]) -> Grid:
    def grid(setting: Setting) -> list[dict[str, Any]]:
        n_trees = n_scores(setting.n_classes)
        cells = setting.n_rows * setting.n_columns * n_trees
        larger = next((by for least, by in LARGER_STEPS if cells >= least), 1.0)
        found = {"learning_rate": STEP, **options}
        if "max_iter" in found:
            return [{**found, "early_stopping": False}]
        if larger > 1.0:
            found["learning_rate"] = round(larger * found["learning_rate"], 6)
            # Large steps need it: leaves of one class have no curvature, and go too far.
            found["l2_regularization"] = max(1.0, found.get("l2_regularization", 0.0))
        stops = {
            "early_stopping": True,
            "n_iter_no_change": found.pop("n_iter_no_change", PATIENCE),
        }
        if setting.n_rows >= EARLY_STOPPING_ROWS:
            first = {**found, **stops, "max_iter": MOST_ROUNDS}
        else:
            rounds = round(FIXED_ROUNDS * STEP / found["learning_rate"])
            first = {**found, "max_iter": rounds, "early_stopping": False}
        if setting.n_rows * n_trees > MAX_EVALUATED:
            return [first]
        folds = 5 if setting.n_rows <= FIVE_FOLDS_ROWS else 3
        judged = {**found, **stops, "max_iter": MAX_EVALUATED_ROUNDS, "validation_folds": folds}
        return [first, judged]

    return grid


def _rounds_grown(params: Params) -> float:
    """About how many rounds a fit makes; of those of each fold there are as many again."""
    rounds: int = params["max_iter"]
    if not params["early_stopping"]:
        return rounds
    folds: int = params.get("validation_folds", 1)
    return 0.4 * folds * min(rounds, MOST_ROUNDS) * STEP / float(params["learning_rate"])


def _boosting_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {
        "categorical_features": list(setting.categorical),
        # A difference that is worth waiting for would have the target's unit.
        "tol": 0.0,
        "random_state": setting.seed,
        "n_jobs": 1,
        **params,
    }


def _boosting(
    key: str, name: str, options: Mapping[str, Any], style: Style = "none"
) -> tuple[Model, ...]:
    grid = _boosting_grid(options)
    each_round = boosting_cost(_rounds_grown)

    def cost(size: Size, params: Params) -> float:
        more = (size.rows / USUAL_ROWS) ** ROWS_POWER if params["early_stopping"] else 1.0
        return more * each_round(size, params)

    return both_tasks(
        f"best_{key}",
        name,
        lambda s, p: HistGradientBoostingClassifier(**_boosting_options(s, p)),
        grid,
        lambda s, p: HistGradientBoostingRegressor(**_boosting_options(s, p)),
        grid,
        style=style,
        engine="arboleda",
        core=False,
        bag=True,
        cost=cost if style == "none" else lambda size, params: LOOK_COST + 1.5 * cost(size, params),
    )


def _by_node(options: Mapping[str, Any]) -> dict[str, Any]:
    others = dict(options)
    return {"max_features": others.pop("colsample_bytree"), **others}


def _forest(key: str, name: str, classifier: Any, regressor: Any, **shares: Any) -> Any:
    def options(setting: Setting, params: Params) -> dict[str, Any]:
        return {"n_estimators": TREES, "random_state": setting.seed, "n_jobs": 1, **params}

    return both_tasks(
        f"best_{key}",
        name,
        lambda s, p: classifier(**options(s, p)),
        lambda s: [{"max_features": shares["classes"], "min_samples_leaf": 1}],
        lambda s, p: regressor(**options(s, p)),
        lambda s: [{"max_features": shares["values"], "min_samples_leaf": 1}],
        style="native",
        engine="arboleda",
        core=False,
        bag=True,
        cost=trees_cost(TREES),
    )


def _linear(key: str, name: str, penalty: float, style: Style) -> tuple[Model, ...]:
    return both_tasks(
        f"best_{key}",
        name,
        lambda s, p: LogisticRegression(max_iter=1000, random_state=s.seed, **p),
        lambda s: [{"C": 1.0 / penalty}],
        lambda s, p: Ridge(**p),
        lambda s: [{"alpha": penalty}],
        style=style,
        core=False,
        bag=True,
        cost=each_row_cost(1e-7, each_class=True),
    )


def _network(key: str, name: str, style: Style) -> tuple[Model, ...]:
    def grid(setting: Setting) -> list[dict[str, Any]]:
        return [{"hidden_layers": "128, 64", "alpha": 0.001}]

    return both_tasks(
        f"best_{key}",
        name,
        lambda s, p: MLPClassifier(**_network_options(s, p)),
        grid,
        lambda s, p: scaled_target(MLPRegressor(**_network_options(s, p))),
        grid,
        style=style,
        core=False,
        bag=True,
        max_rows=100_000,
        cost=each_row_cost(4e-6),
    )


def _network_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": tuple(int(n) for n in params["hidden_layers"].split(",")),
        "alpha": params["alpha"],
        "early_stopping": setting.n_rows >= EARLY_STOPPING_ROWS,
        "max_iter": 100,
        "random_state": setting.seed,
    }


def _vectors_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"C": 10.0}]


def _probable_svc(setting: Setting, params: Params) -> Any:
    """A machine of all rows; how sure it is is learned from machines of two thirds of them."""
    machine = SVC(random_state=setting.seed, **params)
    return CalibratedClassifierCV(machine, ensemble=False, cv=3)


def _neighbours_grid(setting: Setting) -> list[dict[str, Any]]:
    most = min(15, max(1, setting.n_rows // 5), setting.most_neighbours)
    return [{"n_neighbors": most, "weights": "distance"}]


_OTHERS: dict[str, tuple[Model, ...]] = {
    "extra_trees": _forest(
        "extra_trees",
        "Extremely randomised trees of the portfolio",
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        classes=0.4,
        values=1.0,
    ),
    "forest": _forest(
        "forest",
        "Random forest of the portfolio",
        RandomForestClassifier,
        RandomForestRegressor,
        classes="sqrt",
        values=0.4,
    ),
    "network": _network("network", "Small network of the portfolio", "scaled"),
    "ranked_network": _network("ranked_network", "Small network of ranks", "ranked"),
    "linear": _linear("linear", "Linear model of the portfolio", 1.0, "scaled"),
    "ranked_linear": _linear("ranked_linear", "Linear model of ranks", 20.0, "ranked"),
    "svm": both_tasks(
        "best_svm",
        "Support vector machine of the portfolio",
        _probable_svc,
        _vectors_grid,
        lambda s, p: scaled_target(SVR(**p)),
        _vectors_grid,
        core=False,
        bag=True,
        max_rows=VECTOR_ROWS,
        cost=pairs_cost(2e-9),
    ),
    "neighbours": both_tasks(
        "best_neighbours",
        "Nearest neighbours of the portfolio",
        lambda s, p: KNeighborsClassifier(**p),
        _neighbours_grid,
        lambda s, p: KNeighborsRegressor(**p),
        _neighbours_grid,
        core=False,
        bag=True,
        max_rows=NEIGHBOUR_ROWS,
        cost=pairs_cost(2e-10, NEIGHBOUR_ROWS),
    ),
}

# Those that are tried with columns made of others, too. They draw columns for each node and not for
# each tree: where nothing is made they are other models all the same.
_CROSSED = {
    f"crossed_{key}": _boosting(f"crossed_{key}", name, _by_node(_BOOSTING[key][1]), "crossed")
    for key, name in (
        ("random_splits", "Boosting of trees split at random, with columns made of others"),
        ("leafwise", "Boosting by leaves, with columns made of others"),
    )
}
_MODELS = {
    **{key: _boosting(key, name, options) for key, (name, options) in _BOOSTING.items()},
    **_CROSSED,
    **_OTHERS,
}

# The first four as a greedy choice over tables took them.
_ORDER = (
    "random_splits",
    "linear",
    "leafwise",
    "network",
    "svm",
    "levelwise",
    "extra_trees",
    "symmetric",
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
