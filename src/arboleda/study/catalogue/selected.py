"""Selected columns with a simple model, model averaging and dynamic selection."""

from typing import Any, Literal

from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.combine import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
)
from arboleda.features import ForestSelector, JMISelector, MRMRSelector
from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.study.catalogue.model import (
    Model,
    Params,
    Setting,
    Size,
    both_tasks,
    no_parameters,
)
from arboleda.study.catalogue.simple_models import scaled_target
from arboleda.study.catalogue.spaces import each_row_cost, pairs_cost, trees_cost
from arboleda.tree import PrunedTreeClassifier, PrunedTreeRegressor

__all__ = ["AVERAGES", "SELECTED"]

COLUMNS = (3, 6, 12)
# Every row that is asked about is compared with all rows learned from.
NEIGHBOUR_ROWS = 50_000
# Twenty forests say which columns are beyond chance, as few as can at the level of 0.05.
FOREST_ROWS = 5_000
PERMUTATIONS = 19
N_NEIGHBOURS = 15
# A wrapper fits the model anew for every column that might come next.
WRAPPED_ROWS, WRAPPED_FOLDS = 2_000, 3
# It ends where the best column adds no more than this to log-loss or R2; of so many columns
# about, each of which takes so many seconds.
LEAST_GAIN, USUAL_STEPS, STEP_SECONDS = 0.002, 6, 2e-3


def _task(setting: Setting) -> Literal["classification", "regression"]:
    return "classification" if setting.n_classes else "regression"


def _linear(setting: Setting) -> Any:
    if setting.n_classes:
        return LogisticRegression(max_iter=1000, random_state=setting.seed)
    return LinearRegression()


def _mrmr(setting: Setting, params: Params) -> Any:
    selector = MRMRSelector(
        params["n_columns"],
        task=_task(setting),
        categorical_features=None,
        random_state=setting.seed,
        n_jobs=1,
    )
    return make_pipeline(selector, _linear(setting))


def _jmi(setting: Setting, params: Params) -> Any:
    selector = JMISelector(
        params["n_columns"],
        task=_task(setting),
        categorical_features=None,
        random_state=setting.seed,
        n_jobs=1,
    )
    neighbours = KNeighborsClassifier if setting.n_classes else KNeighborsRegressor
    most = min(N_NEIGHBOURS, max(1, setting.n_rows // 5), setting.most_neighbours)
    return make_pipeline(selector, neighbours(most))


def _forest_selected(setting: Setting, params: Params) -> Any:
    selector = ForestSelector(
        n_permutations=PERMUTATIONS, task=_task(setting), random_state=setting.seed, **params
    )
    return make_pipeline(selector, _linear(setting))


def _forward(setting: Setting, params: Params) -> Any:
    if setting.n_columns < 2:
        return _linear(setting)
    measure = "neg_log_loss" if setting.n_classes else "r2"
    selector = SequentialFeatureSelector(
        _linear(setting), cv=WRAPPED_FOLDS, tol=LEAST_GAIN, scoring=measure
    )
    return make_pipeline(selector, _linear(setting))


def _forward_cost(size: Size, params: Params) -> float:
    fits = WRAPPED_FOLDS * USUAL_STEPS * size.columns
    return STEP_SECONDS * fits * (1 + size.rows / WRAPPED_ROWS)


def _backward(setting: Setting, params: Params) -> Any:
    if setting.n_columns < 2:
        return _linear(setting)
    selector = RFE(_linear(setting), n_features_to_select=params["n_columns"], step=0.1)
    return make_pipeline(selector, _linear(setting))


def _fewer_columns(setting: Setting) -> list[dict[str, Any]]:
    """Half as many columns as the table has, and a quarter."""
    counts = dict.fromkeys(max(1, setting.n_columns // part) for part in (2, 4))
    return [{"n_columns": n} for n in counts]


def _columns_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"n_columns": n} for n in COLUMNS]


def _principal_components(setting: Setting, params: Params) -> Any:
    return make_pipeline(PCA(svd_solver="full", **params), _linear(setting))


def _components_grid(setting: Setting) -> list[dict[str, Any]]:
    """As many directions as hold this share of the variance."""
    return [{"n_components": share} for share in (0.8, 0.95, 0.99)]


SELECTED: tuple[Model, ...] = (
    *both_tasks(
        "mrmr",
        "Columns by mRMR, linear model",
        _mrmr,
        _columns_grid,
        _mrmr,
        _columns_grid,
        core=False,
        cost=each_row_cost(1e-6),
    ),
    *both_tasks(
        "jmi",
        "Columns by joint mutual information, k-nearest neighbours",
        _jmi,
        _columns_grid,
        _jmi,
        _columns_grid,
        max_rows=NEIGHBOUR_ROWS,
        core=False,
        cost=pairs_cost(1e-9),
    ),
    *both_tasks(
        "forest_selected",
        "Columns by importance in a forest, linear model",
        _forest_selected,
        lambda s: [{"mode": "fwe"}, {"mode": "fpr"}],
        _forest_selected,
        lambda s: [{"mode": "fwe"}, {"mode": "fpr"}],
        max_rows=FOREST_ROWS,
        core=False,
        cost=trees_cost(PERMUTATIONS * 100),
    ),
    *both_tasks(
        "forward_selected",
        "Columns by forward selection, linear model",
        _forward,
        no_parameters,
        _forward,
        no_parameters,
        max_rows=WRAPPED_ROWS,
        core=False,
        cost=_forward_cost,
    ),
    *both_tasks(
        "backward_selected",
        "Columns by backward elimination, linear model",
        _backward,
        _fewer_columns,
        _backward,
        _fewer_columns,
        core=False,
        cost=each_row_cost(1e-6),
    ),
    *both_tasks(
        "principal_components",
        "Principal components, linear model",
        _principal_components,
        _components_grid,
        _principal_components,
        _components_grid,
        core=False,
        cost=each_row_cost(1e-6),
    ),
)


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
