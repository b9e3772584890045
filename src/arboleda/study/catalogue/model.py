"""The models a study compares: one entry each, with a small grid and what keeps it affordable."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from arboleda.adaboost import AdaBoostClassifier, AdaBoostRegressor
from arboleda.bagging import BaggingClassifier, BaggingRegressor
from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.study.preparation import Style
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["CATALOGUE", "Model", "Params", "Setting", "models_for"]

Params = Mapping[str, Any]

# An exact kernel costs the square to the cube of the rows.
EXACT_SVM_ROWS = 5_000
NYSTROEM_COMPONENTS = 300
# The last digits of the linear machine cost half its time and change no score's third digit.
LINEAR_TOL = 1e-3
# More trees change the third digit of a score, and cost in proportion.
FOREST_TREES = 200
# AdaBoost's trees are small, and late rounds change little.
ADABOOST_ROUNDS = 200
# With fewer rows a tenth of them says too little about when to stop.
EARLY_STOPPING_ROWS = 2_000


@dataclass(frozen=True)
class Setting:
    """What a model may know of the study before it is built: sizes and the seed, no values."""

    n_rows: int
    n_classes: int
    seed: int


Make = Callable[[Setting, Params], Any]
Grid = Callable[[Setting], list[dict[str, Any]]]


@dataclass(frozen=True)
class Model:
    """An entry of the catalogue.

    ``make`` builds the estimator from the setting and one candidate's parameters, ``grid`` lists
    the candidates. Above ``max_rows`` rows the model learns from a random part of that size.
    """

    key: str
    name: str
    task: Literal["classification", "regression"]
    make: Make
    grid: Grid
    style: Style = "scaled"
    engine: Literal["arboleda", "scikit-learn"] = "scikit-learn"
    max_rows: int | None = None
    note: Callable[[Setting], str | None] = lambda setting: None


def models_for(task: str) -> list[Model]:
    """The catalogue's models for a task ("binary", "multiclass" or "regression"), in its order."""
    kind = "regression" if task == "regression" else "classification"
    return [model for model in CATALOGUE if model.task == kind]


def _one(setting: Setting) -> list[dict[str, Any]]:
    return [{}]


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


def _cart_classifier(setting: Setting, params: Params) -> Any:
    return DecisionTreeClassifier(random_state=setting.seed, n_jobs=1, **params)


def _cart_regressor(setting: Setting, params: Params) -> Any:
    return DecisionTreeRegressor(random_state=setting.seed, n_jobs=1, **params)


def _bagging_grid(setting: Setting) -> list[dict[str, Any]]:
    """All columns for every tree, or half of them: random patches."""
    return [{"max_features": 1.0}, {"max_features": 0.5}]


def _forest_classifier_grid(setting: Setting) -> list[dict[str, Any]]:
    return _forest_grid(("sqrt", 0.4))


def _forest_regressor_grid(setting: Setting) -> list[dict[str, Any]]:
    return _forest_grid((1 / 3, 1.0))


def _forest_grid(max_features: tuple[str | float, ...]) -> list[dict[str, Any]]:
    """Few columns at a node or many, each with full-grown leaves and with larger ones."""
    return [
        {"max_features": features, "min_samples_leaf": leaf}
        for features in max_features
        for leaf in (1, 5)
    ]


def _forest_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {"n_estimators": FOREST_TREES, "random_state": setting.seed, "n_jobs": 1, **params}


def _adaboost_classifier_grid(setting: Setting) -> list[dict[str, Any]]:
    """Stumps with whole steps and with small ones, and trees of three questions in a row."""
    steps = ((1, 1.0), (1, 0.3), (3, 0.1))
    return [{"max_depth": depth, "learning_rate": rate} for depth, rate in steps]


def _adaboost_regressor_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"max_depth": 4}, {"max_depth": 10}]


def _adaboost_classifier(setting: Setting, params: Params) -> Any:
    """AdaBoost.MH: members that say how sure they are of each class, of any number of classes."""
    return AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=params["max_depth"]),
        n_estimators=ADABOOST_ROUNDS,
        learning_rate=params["learning_rate"],
        algorithm="MH",
        random_state=setting.seed,
        n_jobs=1,
    )


def _adaboost_regressor(setting: Setting, params: Params) -> Any:
    """AdaBoost.R2."""
    return AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=params["max_depth"]),
        n_estimators=ADABOOST_ROUNDS // 2,
        random_state=setting.seed,
        n_jobs=1,
    )


def _boosting_grid(setting: Setting) -> list[dict[str, Any]]:
    """Few or many leaves, each with large steps and with small ones."""
    return [
        {"learning_rate": rate, "max_iter": rounds, "max_leaf_nodes": leaves}
        for rate, rounds in ((0.1, 100), (0.03, 300))
        for leaves in (8, 31)
    ]


def _boosting_options(setting: Setting, params: Params) -> dict[str, Any]:
    # All rows are learned from: the number of rounds is the grid's.
    return {"early_stopping": False, "random_state": setting.seed, "n_jobs": 1, **params}


def _logistic(setting: Setting, params: Params) -> Any:
    return LogisticRegression(max_iter=1000, random_state=setting.seed, **params)


def _neighbours_grid(setting: Setting) -> list[dict[str, Any]]:
    grid = [(5, "uniform"), (15, "uniform"), (15, "distance"), (31, "uniform")]
    # A fold's fit has four fifths of the rows, so half of them is always enough.
    return [
        {"n_neighbors": k, "weights": weights}
        for k, weights in grid
        if k == 5 or k <= setting.n_rows // 2
    ]


def _svc(setting: Setting, params: Params) -> Any:
    if setting.n_rows <= EXACT_SVM_ROWS:
        return SVC(random_state=setting.seed, **params)
    kernel = Nystroem(n_components=NYSTROEM_COMPONENTS, random_state=setting.seed)
    machine = LinearSVC(dual=False, tol=LINEAR_TOL, random_state=setting.seed, **params)
    return make_pipeline(kernel, machine)


def _svr(setting: Setting, params: Params) -> Any:
    if setting.n_rows <= EXACT_SVM_ROWS:
        return _scaled_target(SVR(**params))
    kernel = Nystroem(n_components=NYSTROEM_COMPONENTS, random_state=setting.seed)
    # The squared loss has a primal solver, which is the one that is quick on many rows.
    loss = "squared_epsilon_insensitive"
    machine = LinearSVR(loss=loss, dual=False, tol=LINEAR_TOL, random_state=setting.seed, **params)
    return _scaled_target(make_pipeline(kernel, machine))


def _svm_note(setting: Setting) -> str | None:
    if setting.n_rows <= EXACT_SVM_ROWS:
        return None
    return (
        f"SVM by a Nystroem map of {NYSTROEM_COMPONENTS} components and a linear machine: "
        f"{setting.n_rows:,} rows are too many for an exact kernel"
    )


def _network_options(setting: Setting, params: Params) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": (params["hidden_units"],),
        "alpha": params["alpha"],
        "early_stopping": setting.n_rows >= EARLY_STOPPING_ROWS,
        "max_iter": 300,
        "random_state": setting.seed,
    }


def _network_classifier(setting: Setting, params: Params) -> Any:
    return MLPClassifier(**_network_options(setting, params))


def _network_regressor(setting: Setting, params: Params) -> Any:
    return _scaled_target(MLPRegressor(**_network_options(setting, params)))


def _network_grid(setting: Setting) -> list[dict[str, Any]]:
    return [
        {"hidden_units": 32, "alpha": 0.0001},
        {"hidden_units": 100, "alpha": 0.0001},
        {"hidden_units": 100, "alpha": 0.1},
    ]


def _scaled_target(regressor: Any) -> Any:
    """Both networks and support vector machines are tuned to targets of unit size."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


def _ours(
    key: str, name: str, classifier: Make, classes: Grid, regressor: Make, values: Grid
) -> tuple[Model, Model]:
    """Our model for both tasks, each with its grid: it takes tables as they are."""
    return (
        Model(key, name, "classification", classifier, classes, style="native", engine="arboleda"),
        Model(key, name, "regression", regressor, values, style="native", engine="arboleda"),
    )


CATALOGUE: tuple[Model, ...] = (
    Model(
        key="most_frequent",
        name="Most frequent class",
        task="classification",
        make=lambda s, p: DummyClassifier(strategy="prior"),
        grid=_one,
        style="none",
    ),
    Model(
        key="mean",
        name="Mean value",
        task="regression",
        make=lambda s, p: DummyRegressor(strategy="mean"),
        grid=_one,
        style="none",
    ),
    *_ours(
        "cart", "Decision tree (CART)", _cart_classifier, _cart_grid, _cart_regressor, _cart_grid
    ),
    *_ours(
        "bagging",
        "Bagged trees",
        lambda s, p: BaggingClassifier(**_forest_options(s, p)),
        _bagging_grid,
        lambda s, p: BaggingRegressor(**_forest_options(s, p)),
        _bagging_grid,
    ),
    *_ours(
        "random_forest",
        "Random forest",
        lambda s, p: RandomForestClassifier(**_forest_options(s, p)),
        _forest_classifier_grid,
        lambda s, p: RandomForestRegressor(**_forest_options(s, p)),
        _forest_regressor_grid,
    ),
    *_ours(
        "extra_trees",
        "Extremely randomised trees",
        lambda s, p: ExtraTreesClassifier(**_forest_options(s, p)),
        _forest_classifier_grid,
        lambda s, p: ExtraTreesRegressor(**_forest_options(s, p)),
        _forest_regressor_grid,
    ),
    *_ours(
        "adaboost",
        "AdaBoost",
        _adaboost_classifier,
        _adaboost_classifier_grid,
        _adaboost_regressor,
        _adaboost_regressor_grid,
    ),
    *_ours(
        "gradient_boosting",
        "Gradient boosting",
        lambda s, p: HistGradientBoostingClassifier(**_boosting_options(s, p)),
        _boosting_grid,
        lambda s, p: HistGradientBoostingRegressor(**_boosting_options(s, p)),
        _boosting_grid,
    ),
    Model(
        key="logistic",
        name="Logistic regression",
        task="classification",
        make=_logistic,
        grid=lambda s: [{"C": c} for c in (0.01, 0.1, 1.0, 10.0)],
    ),
    Model(
        key="ridge",
        name="Ridge regression",
        task="regression",
        make=lambda s, p: Ridge(**p),
        grid=lambda s: [{"alpha": a} for a in (0.1, 1.0, 10.0, 100.0)],
    ),
    Model(
        key="naive_bayes",
        name="Gaussian naive Bayes",
        task="classification",
        make=lambda s, p: GaussianNB(**p),
        grid=lambda s: [{"var_smoothing": v} for v in (1e-9, 1e-6, 1e-3, 1e-1)],
    ),
    Model(
        key="neighbours",
        name="k-nearest neighbours",
        task="classification",
        make=lambda s, p: KNeighborsClassifier(**p),
        grid=_neighbours_grid,
        max_rows=50_000,
    ),
    Model(
        key="neighbours",
        name="k-nearest neighbours",
        task="regression",
        make=lambda s, p: KNeighborsRegressor(**p),
        grid=_neighbours_grid,
        max_rows=50_000,
    ),
    Model(
        key="lda",
        name="Linear discriminant analysis",
        task="classification",
        make=lambda s, p: LinearDiscriminantAnalysis(**p),
        grid=lambda s: [
            {"solver": "svd", "shrinkage": None},
            {"solver": "lsqr", "shrinkage": 0.1},
            {"solver": "lsqr", "shrinkage": "auto"},
        ],
    ),
    Model(
        key="svm",
        name="Support vector machine",
        task="classification",
        make=_svc,
        grid=lambda s: [{"C": c} for c in (0.1, 1.0, 10.0)],
        max_rows=100_000,
        note=_svm_note,
    ),
    Model(
        key="svm",
        name="Support vector machine",
        task="regression",
        make=_svr,
        grid=lambda s: [{"C": c} for c in (0.1, 1.0, 10.0, 100.0)],
        max_rows=100_000,
        note=_svm_note,
    ),
    Model(
        key="network",
        name="Multilayer perceptron",
        task="classification",
        make=_network_classifier,
        grid=_network_grid,
        max_rows=100_000,
    ),
    Model(
        key="network",
        name="Multilayer perceptron",
        task="regression",
        make=_network_regressor,
        grid=_network_grid,
        max_rows=100_000,
    ),
)
