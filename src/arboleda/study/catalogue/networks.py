"""Multilayer perceptrons."""

from typing import Any

from sklearn.neural_network import MLPClassifier, MLPRegressor

from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.costs import each_row_cost
from arboleda.study.catalogue.model import Model, Params, Setting, both_tasks
from arboleda.study.catalogue.scaled_target import scaled_target

__all__ = ["NETWORKS"]

# With fewer rows a tenth of them says too little about when to stop.
EARLY_STOPPING_ROWS = 2_000


def _options(setting: Setting, params: Params) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": (params["hidden_units"],),
        "alpha": params["alpha"],
        "early_stopping": setting.n_rows >= EARLY_STOPPING_ROWS,
        "max_iter": 300,
        "random_state": setting.seed,
    }


def _grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"hidden_units": 32, "alpha": 0.0001},
        {"hidden_units": 100, "alpha": 0.0001},
        {"hidden_units": 100, "alpha": 0.1},
    ]


NETWORKS: tuple[Model, ...] = both_tasks(
    "network",
    "Multilayer perceptron",
    lambda s, p: MLPClassifier(**_options(s, p)),
    _grid,
    lambda s, p: scaled_target(MLPRegressor(**_options(s, p))),
    _grid,
    max_rows=100_000,
    cost=each_row_cost(4e-6),
    space=spaces.network,
)
