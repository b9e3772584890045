"""Linear models: the target, or the log-odds of the classes, as a weighted sum of the columns."""

from typing import Any

from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)

from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.costs import each_row_cost
from arboleda.study.catalogue.model import Model, Params, Setting, no_parameters
from arboleda.study.catalogue.scaled_target import scaled_target

__all__ = ["LINEAR"]

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
