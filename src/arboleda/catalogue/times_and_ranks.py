"""Models of the time to an event, and of rankings."""

from typing import Any

from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

from arboleda.boosting import HistGradientBoostingRanker, HistGradientBoostingRegressor
from arboleda.catalogue import spaces
from arboleda.catalogue.model import (
    Model,
    Params,
    Setting,
    make_empty_grid,
    make_product_grid,
    make_seeded_options,
)
from arboleda.catalogue.spaces import make_boosting_cost, make_rows_cost, make_trees_cost
from arboleda.forest import RandomForestRegressor
from arboleda.survival import (
    CoxRegression,
    ExtraSurvivalTrees,
    HistGradientBoostingSurvival,
    RandomSurvivalForest,
    SurvivalTree,
)

__all__ = ["RANKING_MODELS", "SURVIVAL_MODELS"]

# Trees of a forest; more change only the third digit of a score.
TREES, MIN_TREES = 200, 30
# A split of a survival forest compares the rows at risk at every event.
SURVIVAL_SHARE = 4.0


def _make_forest_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"n_estimators": TREES, **make_seeded_options(setting, params)}


def _reduce_trees(params: Params, share: float) -> dict[str, Any]:
    return {**params, "n_estimators": max(MIN_TREES, round(TREES * share))}


_FOREST_GRID = make_product_grid(max_features=("sqrt", 0.6), min_samples_leaf=(3, 15))


def _make_survival_forest(key: str, name: str, kind: Any) -> Model:
    return Model(
        key=key,
        name=name,
        task="survival",
        make=lambda s, p: kind(**_make_forest_options(s, p)),
        grid=_FOREST_GRID,
        style="native",
        engine="arboleda",
        fidelity=_reduce_trees,
        cost=lambda size, params: SURVIVAL_SHARE * make_trees_cost(TREES)(size, params),
        space=spaces.make_forest_space,
    )


def _make_hazards_grid(setting: Setting) -> list[dict[str, Any]]:
    # Times of few patients hold little information: trees of three leaves are often large enough.
    return [
        {"learning_rate": 0.05, "max_iter": rounds, "max_leaf_nodes": leaves}
        for rounds in (50, 150)
        for leaves in (3, 15)
    ]


def _make_boosting_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"early_stopping": False, **make_seeded_options(setting, params)}


SURVIVAL_MODELS: tuple[Model, ...] = (
    # Without a split, the leaf has the curve of all rows.
    Model(
        key="kaplan_meier",
        name="Kaplan-Meier estimate",
        task="survival",
        make=lambda s, p: SurvivalTree(min_samples_leaf=s.n_rows),
        grid=make_empty_grid,
        style="none",
        engine="arboleda",
        baseline=True,
        cost=make_rows_cost(1e-8),
    ),
    Model(
        key="cox",
        name="Cox regression",
        task="survival",
        make=lambda s, p: CoxRegression(**p),
        grid=make_product_grid(alpha=(1.0, 10.0, 100.0)),
        engine="arboleda",
        cost=make_rows_cost(1e-6),
        space=spaces.make_penalty_space,
    ),
    Model(
        key="survival_tree",
        name="Survival tree",
        task="survival",
        make=lambda s, p: SurvivalTree(**make_seeded_options(s, p)),
        grid=make_product_grid(max_depth=(2, 4), min_samples_leaf=(10, 30)),
        style="native",
        engine="arboleda",
        cost=lambda size, params: SURVIVAL_SHARE * make_trees_cost(1)(size, params),
    ),
    _make_survival_forest("survival_forest", "Random survival forest", RandomSurvivalForest),
    _make_survival_forest(
        "extra_survival_trees", "Extremely randomised survival trees", ExtraSurvivalTrees
    ),
    Model(
        key="cox_boosting",
        name="Gradient boosting of proportional hazards",
        task="survival",
        make=lambda s, p: HistGradientBoostingSurvival(**_make_boosting_options(s, p)),
        grid=_make_hazards_grid,
        style="native",
        engine="arboleda",
        cost=make_boosting_cost(lambda params: params["max_iter"]),
        space=spaces.make_boosting_space,
    ),
)


def _make_boosting_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"learning_rate": 0.1, "max_iter": rounds, "max_leaf_nodes": leaves}
        for rounds in (50, 150)
        for leaves in (8, 31)
    ]


_BOOSTING: dict[str, Any] = {
    "task": "ranking",
    "style": "native",
    "engine": "arboleda",
    "cost": make_boosting_cost(lambda params: params["max_iter"]),
    "space": spaces.make_boosting_space,
}


def _make_ranker(key: str, name: str, loss: Any) -> Model:
    return Model(
        key=key,
        name=name,
        make=lambda s, p: HistGradientBoostingRanker(loss=loss, **_make_boosting_options(s, p)),
        grid=_make_boosting_grid,
        **_BOOSTING,
    )


RANKING_MODELS: tuple[Model, ...] = (
    Model(
        key="unranked",
        name="Equal scores",
        task="ranking",
        make=lambda s, p: DummyRegressor(),
        grid=make_empty_grid,
        style="none",
        baseline=True,
        cost=make_rows_cost(1e-9),
    ),
    Model(
        key="ridge_relevance",
        name="Ridge regression of the relevance",
        task="ranking",
        make=lambda s, p: Ridge(**p),
        grid=make_product_grid(alpha=(1.0, 10.0, 100.0)),
        space=spaces.make_penalty_space,
    ),
    Model(
        key="forest_relevance",
        name="Random forest of the relevance",
        task="ranking",
        make=lambda s, p: RandomForestRegressor(**_make_forest_options(s, p)),
        grid=make_product_grid(max_features=(1 / 3,), min_samples_leaf=(1, 5)),
        style="native",
        engine="arboleda",
        fidelity=_reduce_trees,
        cost=make_trees_cost(TREES),
        space=spaces.make_forest_space,
    ),
    Model(
        key="boosting_relevance",
        name="Gradient boosting of the relevance",
        make=lambda s, p: HistGradientBoostingRegressor(**_make_boosting_options(s, p)),
        grid=_make_boosting_grid,
        **_BOOSTING,
    ),
    _make_ranker("lambdamart", "LambdaMART", "lambdarank"),
    _make_ranker("pairwise_ranking", "Gradient boosting of pairs", "pairwise"),
    _make_ranker("xe_ndcg", "Gradient boosting of the cross-entropy (XE-NDCG)", "xe_ndcg"),
    _make_ranker("yetirank", "Gradient boosting of random neighbours (YetiRank)", "yetirank"),
)
