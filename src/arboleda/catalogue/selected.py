"""Feature selection with a simple model, model averaging and dynamic selection."""

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
from arboleda.catalogue.model import (
    Model,
    Params,
    Setting,
    Size,
    make_empty_grid,
    make_task_pair,
)
from arboleda.catalogue.simple_models import scale_target
from arboleda.catalogue.spaces import make_pairs_cost, make_rows_cost, make_trees_cost
from arboleda.combine import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
)
from arboleda.features import ForestSelector, JMISelector, MRMRSelector
from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.tree import PrunedTreeClassifier, PrunedTreeRegressor

__all__ = ["AVERAGES", "SELECTED"]

COLUMNS = (3, 6, 12)
# Each predicted row is compared with all training rows.
NEIGHBOUR_ROWS = 50_000
# Twenty forests are the minimum for p-values of 0.05.
FOREST_ROWS = 5_000
PERMUTATIONS = 19
N_NEIGHBOURS = 15
# Forward selection refits the model for every candidate of the next column.
WRAPPED_ROWS, WRAPPED_FOLDS = 2_000, 3
# It stops if the best column improves log loss or R2 by no more than the minimum gain; its cost
# assumes a usual number of steps and the seconds of a fit.
MIN_GAIN, USUAL_STEPS, STEP_SECONDS = 0.002, 6, 2e-3


def _get_task(setting: Setting) -> Literal["classification", "regression"]:
    return "classification" if setting.n_classes else "regression"


def _make_linear(setting: Setting) -> Any:
    if setting.n_classes:
        return LogisticRegression(max_iter=1000, random_state=setting.seed)
    return LinearRegression()


def _make_mrmr(setting: Setting, params: Params) -> Any:
    selector = MRMRSelector(
        params["n_columns"],
        task=_get_task(setting),
        categorical_features=None,
        random_state=setting.seed,
        n_jobs=1,
    )
    return make_pipeline(selector, _make_linear(setting))


def _make_jmi(setting: Setting, params: Params) -> Any:
    selector = JMISelector(
        params["n_columns"],
        task=_get_task(setting),
        categorical_features=None,
        random_state=setting.seed,
        n_jobs=1,
    )
    estimator = KNeighborsClassifier if setting.n_classes else KNeighborsRegressor
    n_neighbors = min(N_NEIGHBOURS, max(1, setting.n_rows // 5), setting.max_neighbors)
    return make_pipeline(selector, estimator(n_neighbors))


def _make_forest_selected(setting: Setting, params: Params) -> Any:
    selector = ForestSelector(
        n_permutations=PERMUTATIONS, task=_get_task(setting), random_state=setting.seed, **params
    )
    return make_pipeline(selector, _make_linear(setting))


def _make_forward_selected(setting: Setting, params: Params) -> Any:
    if setting.n_columns < 2:
        return _make_linear(setting)
    scoring = "neg_log_loss" if setting.n_classes else "r2"
    selector = SequentialFeatureSelector(
        _make_linear(setting), cv=WRAPPED_FOLDS, tol=MIN_GAIN, scoring=scoring
    )
    return make_pipeline(selector, _make_linear(setting))


def _estimate_forward_cost(size: Size, params: Params) -> float:
    fits = WRAPPED_FOLDS * USUAL_STEPS * size.columns
    return STEP_SECONDS * fits * (1 + size.rows / WRAPPED_ROWS)


def _make_backward_selected(setting: Setting, params: Params) -> Any:
    if setting.n_columns < 2:
        return _make_linear(setting)
    selector = RFE(_make_linear(setting), n_features_to_select=params["n_columns"], step=0.1)
    return make_pipeline(selector, _make_linear(setting))


def _make_fractions_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of half and a quarter of the table's columns."""
    counts = dict.fromkeys(max(1, setting.n_columns // part) for part in (2, 4))
    return [{"n_columns": n} for n in counts]


def _make_columns_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"n_columns": n} for n in COLUMNS]


def _make_principal_components(setting: Setting, params: Params) -> Any:
    return make_pipeline(PCA(svd_solver="full", **params), _make_linear(setting))


def _make_components_grid(setting: Setting) -> list[dict[str, Any]]:
    """Make the grid of the fraction of variance that the components explain."""
    return [{"n_components": share} for share in (0.8, 0.95, 0.99)]


SELECTED: tuple[Model, ...] = (
    *make_task_pair(
        "mrmr",
        "Columns by mRMR, linear model",
        _make_mrmr,
        _make_columns_grid,
        _make_mrmr,
        _make_columns_grid,
        core=False,
        cost=make_rows_cost(1e-6),
    ),
    *make_task_pair(
        "jmi",
        "Columns by joint mutual information, k-nearest neighbours",
        _make_jmi,
        _make_columns_grid,
        _make_jmi,
        _make_columns_grid,
        max_rows=NEIGHBOUR_ROWS,
        core=False,
        cost=make_pairs_cost(1e-9),
    ),
    *make_task_pair(
        "forest_selected",
        "Columns by importance in a forest, linear model",
        _make_forest_selected,
        lambda s: [{"mode": "fwe"}, {"mode": "fpr"}],
        _make_forest_selected,
        lambda s: [{"mode": "fwe"}, {"mode": "fpr"}],
        max_rows=FOREST_ROWS,
        core=False,
        cost=make_trees_cost(PERMUTATIONS * 100),
    ),
    *make_task_pair(
        "forward_selected",
        "Columns by forward selection, linear model",
        _make_forward_selected,
        make_empty_grid,
        _make_forward_selected,
        make_empty_grid,
        max_rows=WRAPPED_ROWS,
        core=False,
        cost=_estimate_forward_cost,
    ),
    *make_task_pair(
        "backward_selected",
        "Columns by backward elimination, linear model",
        _make_backward_selected,
        _make_fractions_grid,
        _make_backward_selected,
        _make_fractions_grid,
        core=False,
        cost=make_rows_cost(1e-6),
    ),
    *make_task_pair(
        "principal_components",
        "Principal components, linear model",
        _make_principal_components,
        _make_components_grid,
        _make_principal_components,
        _make_components_grid,
        core=False,
        cost=make_rows_cost(1e-6),
    ),
)


TREES = 100
FOLDS = 3
# Each predicted row is compared with all rows on which the members were scored.
SELECTION_ROWS = 20_000
UNITS = 32


def _make_options(setting: Setting) -> dict[str, Any]:
    return {"random_state": setting.seed, "n_jobs": 1}


def _make_boosting_options(setting: Setting) -> dict[str, Any]:
    return {"early_stopping": False, "max_leaf_nodes": 8, **_make_options(setting)}


def _make_network_options(setting: Setting) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": (UNITS,),
        "early_stopping": True,
        "random_state": setting.seed,
    }


def _make_averaging_classifier(setting: Setting, params: Params) -> Any:
    members = [
        ("logistic", LogisticRegression(max_iter=1000)),
        ("tree", PrunedTreeClassifier(**_make_options(setting))),
        ("forest", RandomForestClassifier(TREES, min_samples_leaf=3, **_make_options(setting))),
        ("boosting", HistGradientBoostingClassifier(**_make_boosting_options(setting))),
    ]
    return BayesianModelAveragingClassifier(members, cv=FOLDS)


def _make_averaging_regressor(setting: Setting, params: Params) -> Any:
    members = [
        ("ridge", RidgeCV()),
        ("tree", PrunedTreeRegressor(**_make_options(setting))),
        ("forest", RandomForestRegressor(TREES, min_samples_leaf=3, **_make_options(setting))),
        ("boosting", HistGradientBoostingRegressor(**_make_boosting_options(setting))),
    ]
    return BayesianModelAveragingRegressor(members, cv=FOLDS)


def _make_selection_classifier(setting: Setting, params: Params) -> Any:
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


def _make_selection_regressor(setting: Setting, params: Params) -> Any:
    members = [
        ("linear", LinearRegression()),
        ("neighbours", KNeighborsRegressor()),
        ("network", scale_target(MLPRegressor(**_make_network_options(setting)))),
    ]
    return DynamicSelectionRegressor(members, cv=FOLDS, **params)


def _make_methods_grid(*methods: str) -> Any:
    return lambda setting: [{"method": method} for method in methods]


AVERAGES: tuple[Model, ...] = (
    *make_task_pair(
        "bayesian_averaging",
        "Bayesian model averaging",
        _make_averaging_classifier,
        make_empty_grid,
        _make_averaging_regressor,
        make_empty_grid,
        engine="arboleda",
        core=False,
        cost=make_trees_cost(2 * (FOLDS + 1) * TREES),
    ),
    *make_task_pair(
        "dynamic_selection",
        "Dynamic selection of members",
        _make_selection_classifier,
        _make_methods_grid("ola", "lca", "mcb", "knora_e", "knora_u", "des_p", "meta_des", "rrc"),
        _make_selection_regressor,
        _make_methods_grid("ds", "dw", "dws"),
        engine="arboleda",
        max_rows=SELECTION_ROWS,
        core=False,
        cost=make_rows_cost(2e-5),
    ),
)
