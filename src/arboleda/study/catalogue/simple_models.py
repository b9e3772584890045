"""Baselines, linear models, single trees, neighbours and multilayer perceptrons."""

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

from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.model import Model, Params, Setting, both_tasks, no_parameters
from arboleda.study.catalogue.spaces import each_row_cost, pairs_cost, trees_cost
from arboleda.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)

__all__ = ["BASELINES", "LINEAR", "NEIGHBOURS", "NETWORKS", "TREES", "scaled_target"]


def scaled_target(regressor: Any) -> Any:
    """The regressor, learning the standardised target and answering in the target's own units."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


BASELINES: tuple[Model, ...] = (
    Model(
        key="most_frequent",
        name="Most frequent class",
        task="classification",
        make=lambda s, p: DummyClassifier(strategy="prior"),
        grid=no_parameters,
        style="none",
        cost=each_row_cost(1e-9),
    ),
    Model(
        key="mean",
        name="Mean value",
        task="regression",
        make=lambda s, p: DummyRegressor(strategy="mean"),
        grid=no_parameters,
        style="none",
        cost=each_row_cost(1e-9),
    ),
)


# Columns that nearly repeat each other need many rounds of descent.
DESCENT_ROUNDS = 5000


def _logistic(setting: Setting, params: Params) -> Any:
    return LogisticRegression(max_iter=1000, random_state=setting.seed, **params)


def _ridge_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"alpha": alpha} for alpha in (0.1, 1.0, 10.0, 100.0)]


def _lasso_grid(setting: Setting) -> list[dict[str, Any]]:
    """Prices of a target of unit size: at 1 no column is left."""
    return [{"alpha": alpha} for alpha in (0.0003, 0.003, 0.03, 0.3)]


def _elastic_net_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"alpha": alpha, "l1_ratio": ratio} for ratio in (0.2, 0.8) for alpha in (0.001, 0.01, 0.1)
    ]


LINEAR: tuple[Model, ...] = (
    Model(
        key="logistic",
        name="Logistic regression",
        task="classification",
        make=_logistic,
        grid=lambda s: [{"C": c} for c in (0.01, 0.1, 1.0, 10.0)],
        cost=each_row_cost(1e-7),
        space=spaces.inverse_penalty,
    ),
    Model(
        key="linear",
        name="Linear regression",
        task="regression",
        make=lambda s, p: LinearRegression(**p),
        grid=no_parameters,
    ),
    Model(
        key="ridge",
        name="Ridge regression",
        task="regression",
        make=lambda s, p: Ridge(**p),
        grid=_ridge_grid,
        space=spaces.penalty,
    ),
    Model(
        key="ridge",
        name="Ridge classifier",
        task="classification",
        make=lambda s, p: RidgeClassifier(**p),
        grid=_ridge_grid,
        space=spaces.penalty,
        core=False,
    ),
    Model(
        key="lasso",
        name="Lasso",
        task="regression",
        make=lambda s, p: scaled_target(Lasso(max_iter=DESCENT_ROUNDS, **p)),
        grid=_lasso_grid,
        space=spaces.lasso,
    ),
    Model(
        key="elastic_net",
        name="Elastic net",
        task="regression",
        make=lambda s, p: scaled_target(ElasticNet(max_iter=DESCENT_ROUNDS, **p)),
        grid=_elastic_net_grid,
        space=spaces.elastic_net,
    ),
)


def _cart_grid(setting: Setting) -> list[dict[str, Any]]:
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


def _pruned_grid(setting: Setting) -> list[dict[str, Any]]:
    """The smallest tree within one standard error of the best, or the best."""
    return [{"rule": "1se"}, {"rule": "min"}]


def _tree_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"random_state": setting.seed, "n_jobs": 1, **params}


TREES: tuple[Model, ...] = (
    *both_tasks(
        "cart",
        "Decision tree (CART)",
        lambda s, p: DecisionTreeClassifier(**_tree_options(s, p)),
        _cart_grid,
        lambda s, p: DecisionTreeRegressor(**_tree_options(s, p)),
        _cart_grid,
        style="native",
        engine="arboleda",
        cost=trees_cost(1),
        space=spaces.cart,
    ),
    # Its own cross-validation along the path chooses the size: what is left is how careful to be.
    *both_tasks(
        "pruned_tree",
        "Pruned tree (cost-complexity)",
        lambda s, p: PrunedTreeClassifier(**_tree_options(s, p)),
        _pruned_grid,
        lambda s, p: PrunedTreeRegressor(**_tree_options(s, p)),
        _pruned_grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=trees_cost(11),
    ),
    # A quarter of the rows it is fitted to says what to prune.
    *both_tasks(
        "reduced_error_tree",
        "Pruned tree (reduced error)",
        lambda s, p: PrunedTreeClassifier(pruning="reduced_error", **_tree_options(s, p)),
        no_parameters,
        lambda s, p: PrunedTreeRegressor(pruning="reduced_error", **_tree_options(s, p)),
        no_parameters,
        style="native",
        engine="arboleda",
        core=False,
        cost=trees_cost(1),
    ),
)


# Every row that is asked about is compared with all rows learned from.
MOST_ROWS = 50_000


def _neighbours_grid(setting: Setting) -> list[dict[str, Any]]:
    grid = [(5, "uniform"), (15, "uniform"), (15, "distance"), (31, "uniform")]
    most = setting.most_neighbours
    return [
        {"n_neighbors": min(k, most), "weights": weights}
        for k, weights in grid
        if k == 5 or k <= most
    ]


def _among(neighbours: Any, params: Params) -> Any:
    """Neighbours among the columns, or among that many principal components."""
    model = neighbours(**{k: v for k, v in params.items() if k != "components"})
    if "components" not in params:
        return model
    solver = "covariance_eigh"
    return make_pipeline(PCA(params["components"], svd_solver=solver), model)


NEIGHBOURS: tuple[Model, ...] = both_tasks(
    "neighbours",
    "k-nearest neighbours",
    lambda s, p: _among(KNeighborsClassifier, p),
    _neighbours_grid,
    lambda s, p: _among(KNeighborsRegressor, p),
    _neighbours_grid,
    max_rows=MOST_ROWS,
    cost=pairs_cost(1e-10, MOST_ROWS),
    space=spaces.neighbours,
)


# With fewer rows a tenth of them says too little about when to stop.
EARLY_STOPPING_ROWS = 2_000


def _network_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": (params["hidden_units"],),
        "alpha": params["alpha"],
        "early_stopping": setting.n_rows >= EARLY_STOPPING_ROWS,
        "max_iter": 300,
        "random_state": setting.seed,
    }


def _network_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"hidden_units": 32, "alpha": 0.0001},
        {"hidden_units": 100, "alpha": 0.0001},
        {"hidden_units": 100, "alpha": 0.1},
    ]


NETWORKS: tuple[Model, ...] = both_tasks(
    "network",
    "Multilayer perceptron",
    lambda s, p: MLPClassifier(**_network_options(s, p)),
    _network_grid,
    lambda s, p: scaled_target(MLPRegressor(**_network_options(s, p))),
    _network_grid,
    max_rows=100_000,
    cost=each_row_cost(4e-6),
    space=spaces.network,
)
