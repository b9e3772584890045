"""Members fitted together: averaged by how probable each is, or asked where each is good."""

from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.combine import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
)
from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.study.catalogue.costs import each_row_cost, trees_cost
from arboleda.study.catalogue.model import Model, Params, Setting, both_tasks, no_parameters
from arboleda.study.catalogue.scaled_target import scaled_target
from arboleda.tree import PrunedTreeClassifier, PrunedTreeRegressor

__all__ = ["AVERAGES"]

TREES = 100
FOLDS = 3
# Every row that is asked about is compared with all rows that judged the members.
SELECTION_ROWS = 20_000
UNITS = 32


def _options(setting: Setting) -> dict[str, Any]:
    return {"random_state": setting.seed, "n_jobs": 1}


def _boosting_options(setting: Setting) -> dict[str, Any]:
    return {"early_stopping": False, "max_leaf_nodes": 8, **_options(setting)}


def _network(setting: Setting) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": (UNITS,),
        "early_stopping": True,
        "random_state": setting.seed,
    }


def _bayesian_classifier(setting: Setting, params: Params) -> Any:
    members = [
        ("logistic", LogisticRegression(max_iter=1000)),
        ("tree", PrunedTreeClassifier(**_options(setting))),
        ("forest", RandomForestClassifier(TREES, min_samples_leaf=3, **_options(setting))),
        ("boosting", HistGradientBoostingClassifier(**_boosting_options(setting))),
    ]
    return BayesianModelAveragingClassifier(members, cv=FOLDS)


def _bayesian_regressor(setting: Setting, params: Params) -> Any:
    members = [
        ("ridge", RidgeCV()),
        ("tree", PrunedTreeRegressor(**_options(setting))),
        ("forest", RandomForestRegressor(TREES, min_samples_leaf=3, **_options(setting))),
        ("boosting", HistGradientBoostingRegressor(**_boosting_options(setting))),
    ]
    return BayesianModelAveragingRegressor(members, cv=FOLDS)


def _selection_classifier(setting: Setting, params: Params) -> Any:
    members = [
        ("logistic", LogisticRegression(max_iter=1000)),
        ("bayes", GaussianNB(var_smoothing=1e-2)),
        ("lda", LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
        (
            "network",
            MLPClassifier(
                hidden_layer_sizes=(UNITS,), early_stopping=True, random_state=setting.seed
            ),
        ),
    ]
    return DynamicSelectionClassifier(members, cv=FOLDS, **params)


def _selection_regressor(setting: Setting, params: Params) -> Any:
    members = [
        ("linear", LinearRegression()),
        ("neighbours", KNeighborsRegressor()),
        ("network", scaled_target(MLPRegressor(**_network(setting)))),
    ]
    return DynamicSelectionRegressor(members, cv=FOLDS, **params)


def _methods_grid(*methods: str) -> Any:
    return lambda setting: [{"method": method} for method in methods]


AVERAGES: tuple[Model, ...] = (
    *both_tasks(
        "bayesian_averaging",
        "Bayesian model averaging",
        _bayesian_classifier,
        no_parameters,
        _bayesian_regressor,
        no_parameters,
        engine="arboleda",
        core=False,
        cost=trees_cost(2 * (FOLDS + 1) * TREES),
    ),
    *both_tasks(
        "dynamic_selection",
        "Dynamic selection of members",
        _selection_classifier,
        _methods_grid("ola", "lca", "mcb", "knora_e", "knora_u", "des_p", "meta_des", "rrc"),
        _selection_regressor,
        _methods_grid("ds", "dw", "dws"),
        engine="arboleda",
        max_rows=SELECTION_ROWS,
        core=False,
        cost=each_row_cost(2e-5),
    ),
)
