"""Models that answer with what lies near."""

from typing import Any

from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.costs import pairs_cost
from arboleda.study.catalogue.model import Model, Params, Setting, both_tasks

__all__ = ["NEIGHBOURS"]

# Every row that is asked about is compared with all rows learned from.
MOST_ROWS = 50_000


def _grid(setting: Setting) -> list[dict[str, Any]]:
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
    _grid,
    lambda s, p: _among(KNeighborsRegressor, p),
    _grid,
    max_rows=MOST_ROWS,
    cost=pairs_cost(1e-10, MOST_ROWS),
    space=spaces.neighbours,
)
