"""Baselines, linear models, single trees, nearest neighbors and multilayer perceptrons."""

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda.catalogue import spaces
from arboleda.catalogue.model import (
    Model,
    Params,
    Setting,
    make_empty_grid,
    make_estimator_pair,
    make_product_grid,
    make_seeded_options,
    make_task_pair,
)
from arboleda.catalogue.spaces import (
    make_network_cost,
    make_pairs_cost,
    make_rows_cost,
    make_trees_cost,
)
from arboleda.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)

__all__ = ["BASELINES", "LINEAR", "NEIGHBOURS", "NETWORKS", "TREES", "scale_target"]


def scale_target(regressor: Any) -> Any:
    """Return a regressor that is fitted on the standardized target and predicts in its units."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


BASELINES: tuple[Model, ...] = (
    Model(
        key="most_frequent",
        name="Most frequent class",
        task="classification",
        make=lambda s, p: DummyClassifier(strategy="prior"),
        grid=make_empty_grid,
        style="none",
        cost=make_rows_cost(1e-9),
    ),
    Model(
        key="mean",
        name="Mean value",
        task="regression",
        make=lambda s, p: DummyRegressor(strategy="mean"),
        grid=make_empty_grid,
        style="none",
        cost=make_rows_cost(1e-9),
    ),
)


# Coordinate descent needs many iterations for nearly collinear columns.
MAX_DESCENT_ITER = 5000


def _make_logistic(setting: Setting, params: Params) -> Any:
    return LogisticRegression(max_iter=1000, random_state=setting.seed, **params)


_RIDGE_GRID = make_product_grid(alpha=(0.1, 1.0, 10.0, 100.0))
# The target is standardized: with a penalty of 1, no column would remain.
_LASSO_GRID = make_product_grid(alpha=(0.0003, 0.003, 0.03, 0.3))


def _make_elastic_net_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"alpha": alpha, "l1_ratio": ratio} for ratio in (0.2, 0.8) for alpha in (0.001, 0.01, 0.1)
    ]


LINEAR: tuple[Model, ...] = (
    Model(
        key="logistic",
        name="Logistic regression",
        task="classification",
        make=_make_logistic,
        grid=make_product_grid(C=(0.01, 0.1, 1.0, 10.0)),
        cost=make_rows_cost(1e-7),
        space=spaces.make_inverse_penalty_space,
    ),
    Model(
        key="linear",
        name="Linear regression",
        task="regression",
        make=lambda s, p: LinearRegression(**p),
        grid=make_empty_grid,
    ),
    Model(
        key="ridge",
        name="Ridge regression",
        task="regression",
        make=lambda s, p: Ridge(**p),
        grid=_RIDGE_GRID,
        space=spaces.make_penalty_space,
    ),
    Model(
        key="ridge",
        name="Ridge classifier",
        task="classification",
        make=lambda s, p: RidgeClassifier(**p),
        grid=_RIDGE_GRID,
        lacks_probabilities=True,
        space=spaces.make_penalty_space,
        core=False,
    ),
    Model(
        key="lasso",
        name="Lasso",
        task="regression",
        make=lambda s, p: scale_target(Lasso(max_iter=MAX_DESCENT_ITER, **p)),
        grid=_LASSO_GRID,
        space=spaces.make_lasso_space,
    ),
    Model(
        key="elastic_net",
        name="Elastic net",
        task="regression",
        make=lambda s, p: scale_target(ElasticNet(max_iter=MAX_DESCENT_ITER, **p)),
        grid=_make_elastic_net_grid,
        space=spaces.make_elastic_net_space,
    ),
)


def _make_cart_grid(setting: Setting) -> list[dict[str, Any]]:
    by_depth = [
        {"max_depth": depth, "min_samples_leaf": leaf, "max_leaf_nodes": None}
        for depth in (3, 5, 8, 12, None)
        for leaf in (1, 5, 20)
    ]
    by_leaves = [
        {"max_depth": None, "min_samples_leaf": 5, "max_leaf_nodes": leaves}
        for leaves in (8, 32, 128)
    ]
    return by_depth + by_leaves


def _make_reduced_error_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"pruning": "reduced_error", **make_seeded_options(setting, params)}


_PRUNED_TREES = (PrunedTreeClassifier, PrunedTreeRegressor)

TREES: tuple[Model, ...] = (
    *make_estimator_pair(
        "cart",
        "Decision tree (CART)",
        (DecisionTreeClassifier, DecisionTreeRegressor),
        make_seeded_options,
        _make_cart_grid,
        style="native",
        engine="arboleda",
        cost=make_trees_cost(1),
        space=spaces.make_cart_space,
    ),
    # Cross-validation along the pruning path selects the size; the rule remains to be tuned.
    *make_estimator_pair(
        "pruned_tree",
        "Pruned tree (cost-complexity)",
        _PRUNED_TREES,
        make_seeded_options,
        # The smallest tree within one standard error of the best, and the best.
        make_product_grid(rule=("1se", "min")),
        style="native",
        engine="arboleda",
        core=False,
        cost=make_trees_cost(11),
    ),
    # A quarter of the training rows determines what is pruned.
    *make_estimator_pair(
        "reduced_error_tree",
        "Pruned tree (reduced error)",
        _PRUNED_TREES,
        _make_reduced_error_options,
        make_empty_grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=make_trees_cost(1),
    ),
)


# Each predicted row is compared with all training rows.
MAX_NEIGHBOR_ROWS = 50_000


def _make_neighbors_grid(setting: Setting) -> list[dict[str, Any]]:
    candidates = [(5, "uniform"), (15, "uniform"), (15, "distance"), (31, "uniform")]
    max_neighbors = setting.max_neighbors
    return [
        {"n_neighbors": min(k, max_neighbors), "weights": weights}
        for k, weights in candidates
        if k == 5 or k <= max_neighbors
    ]


def _make_neighbors(estimator: Any, params: Params) -> Any:
    """Make nearest neighbors on the columns, or on a number of principal components."""
    model = estimator(**{k: v for k, v in params.items() if k != "components"})
    if "components" not in params:
        return model
    solver = "covariance_eigh"
    return make_pipeline(PCA(params["components"], svd_solver=solver), model)


NEIGHBOURS: tuple[Model, ...] = make_task_pair(
    "neighbours",
    "k-nearest neighbours",
    lambda s, p: _make_neighbors(KNeighborsClassifier, p),
    _make_neighbors_grid,
    lambda s, p: _make_neighbors(KNeighborsRegressor, p),
    _make_neighbors_grid,
    max_rows=MAX_NEIGHBOR_ROWS,
    cost=make_pairs_cost(7e-11, MAX_NEIGHBOR_ROWS),
    space=spaces.make_neighbors_space,
)


# With fewer rows, a tenth of them is too small to decide when to stop.
EARLY_STOPPING_ROWS = 2_000


def _make_network_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": (params["hidden_units"],),
        "alpha": params["alpha"],
        "early_stopping": setting.n_rows >= EARLY_STOPPING_ROWS,
        "max_iter": 300,
        "random_state": setting.seed,
    }


def _make_network_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"hidden_units": 32, "alpha": 0.0001},
        {"hidden_units": 100, "alpha": 0.0001},
        {"hidden_units": 100, "alpha": 0.1},
    ]


NETWORKS: tuple[Model, ...] = make_task_pair(
    "network",
    "Multilayer perceptron",
    lambda s, p: MLPClassifier(**_make_network_options(s, p)),
    _make_network_grid,
    lambda s, p: scale_target(MLPRegressor(**_make_network_options(s, p))),
    _make_network_grid,
    max_rows=100_000,
    cost=make_network_cost(9e-5, 4e-7),
    space=spaces.make_network_space,
)
