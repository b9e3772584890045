"""Models of all kinds that a page computes, with rows that have missing and extreme values."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import arboleda as ab

N_ROWS = 200
EXTREMES = [0.0, -0.0, 5e-324, -1e308, 1e308, np.pi, 1e-17]
TOWNS = ["Alcoy", "Cádiz", 'De"nia', "</script>", "Ubrique"]


class Case(NamedTuple):
    """A fitted model, with rows for it, and the page's numbers of these rows."""

    model: Any
    rows: Any
    numbers: np.ndarray


def _numbers(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def _target(X):
    filled = np.nan_to_num(X)
    return filled[:, 0] - 2.0 * filled[:, 1] * filled[:, 2]


def _with_extremes(X):
    rng = np.random.default_rng(5)
    strange = rng.random(X.shape) < 0.05
    X[strange] = rng.choice(EXTREMES, int(strange.sum()))
    return X


def _mixed(n, seed, towns):
    rng = np.random.default_rng(seed)
    X = _numbers(n, seed)
    frame = pd.DataFrame({"a": X[:, 0], "town": rng.choice(np.array(towns, dtype=object), n)})
    frame.loc[::17, "town"] = None
    frame["team"] = rng.integers(0, 40, n).astype(str)
    frame["b"] = X[:, 1]
    return frame


def _classes(y, n):
    return np.array(["no", "perhaps", "sí"])[[0, 2] if n == 2 else [0, 1, 2]][
        np.digitize(y, np.quantile(y, np.arange(1, n) / n))
    ]


SMALL = ab.DecisionTreeClassifier(max_depth=3)
HIST = ab.HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5)
CLASSIFIERS = {
    "tree": ab.DecisionTreeClassifier(max_depth=6),
    "one leaf": ab.DecisionTreeClassifier(max_depth=1, min_impurity_decrease=9.0),
    "switching": ab.ClassSwitchingClassifier(n_estimators=4, random_state=0),
    "forest": ab.RandomForestClassifier(n_estimators=5, random_state=0),
    "hard votes": ab.RandomForestClassifier(n_estimators=5, voting="hard", random_state=0),
    "laplace": ab.ExtraTreesClassifier(n_estimators=5, voting="laplace", random_state=0),
    "boosting": ab.GradientBoostingClassifier(n_estimators=5, random_state=0),
    "hist": HIST,
    "bagging": ab.BaggingClassifier(n_estimators=5, random_state=0),
    "subspace": ab.RandomSubspaceClassifier(n_estimators=5, random_state=0),
    "weighted bagging": ab.BaggingClassifier(n_estimators=5, weights="oob", random_state=0),
    "bagged boosting": ab.BaggingClassifier(HIST, n_estimators=2, random_state=0),
    "vote": ab.VotingClassifier([("a", SMALL), ("b", HIST)], voting="soft", weights=[2.0, 0.3]),
    "stack": ab.StackingClassifier(
        [("a", SMALL), ("b", HIST)], final_estimator=LogisticRegression(), cv=2
    ),
    "selection": ab.EnsembleSelectionClassifier([("a", SMALL), ("b", HIST)], random_state=0),
    **{
        name: ab.AdaBoostClassifier(
            SMALL if name == "M1" else None, n_estimators=5, algorithm=name, random_state=0
        )
        for name in ("SAMME", "real", "gentle", "logit", "MH", "M1", "M2", "MR", "discrete")
    },
}
REGRESSORS = {
    "tree": ab.DecisionTreeRegressor(max_depth=6),
    "forest": ab.RandomForestRegressor(n_estimators=5, random_state=0),
    "extra trees": ab.ExtraTreesRegressor(n_estimators=5, random_state=0),
    "boosting": ab.GradientBoostingRegressor(n_estimators=5, loss="huber", random_state=0),
    "hist": ab.HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5),
    "poisson": ab.HistGradientBoostingRegressor("poisson", max_iter=5),
    "linear leaves": ab.HistGradientBoostingRegressor(max_iter=5, linear_leaves=True),
    "crosses": ab.BoostingRegressor("quick", cross_columns=True, random_state=0),
    "quantiles": ab.HistGradientBoostingRegressor(
        max_iter=5, loss="quantile", quantile=[0.9, 0.1, 0.5]
    ),
    "bagging": ab.BaggingRegressor(n_estimators=5, random_state=0),
    "R2": ab.AdaBoostRegressor(n_estimators=5, random_state=0),
    "mean": ab.VotingRegressor(
        [("a", ab.DecisionTreeRegressor(max_depth=3)), ("b", ab.DecisionTreeRegressor())],
        weights=[1.0, 3.0],
    ),
}
WITH_CATEGORIES = {
    "hist": ab.HistGradientBoostingRegressor(max_iter=5, category_encoding="native"),
    "ordered": ab.HistGradientBoostingRegressor(max_iter=5, category_encoding="ordered"),
    "forest": ab.RandomForestRegressor(n_estimators=5, random_state=0),
    "forest of classes": ab.RandomForestClassifier(n_estimators=5, random_state=0),
}
LINEAR = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "ridge": make_pipeline(StandardScaler(), Ridge()),
}
NAMES = [
    *(f"classifier {n}: {name}" for n in (2, 3) for name in CLASSIFIERS),
    *(f"regressor: {name}" for name in REGRESSORS),
    *(f"categories: {name}" for name in WITH_CATEGORIES),
    *(f"linear: {name}" for name in LINEAR),
]
# Members that predict by exponentials, whose last bits are those of the browser.
WITH_EXPONENTIALS = ("vote", "stack", "selection", "bagged boosting", "logistic", "ridge")
NAMES.remove("classifier 3: discrete")  # it is for two classes


def make_case(name, n_rows=N_ROWS):
    """Fit the model of a name, and draw rows that it has not seen."""
    kind, _, model_name = name.partition(": ")
    if kind == "categories":
        return _make_case_of_categories(clone(WITH_CATEGORIES[model_name]), n_rows)
    X, rows = _numbers(N_ROWS, 0), _with_extremes(_numbers(n_rows, 1))
    y = _target(X)
    if kind == "linear":
        X, rows = np.nan_to_num(X), np.nan_to_num(_numbers(n_rows, 1))
        model = clone(LINEAR[model_name]).fit(X, y > 0 if model_name == "logistic" else y)
    elif kind == "regressor":
        model = clone(REGRESSORS[model_name]).fit(X, np.abs(y) if model_name == "poisson" else y)
    else:
        model = clone(CLASSIFIERS[model_name]).fit(X, _classes(y, int(kind[-1])))
    return Case(model, rows, rows)


def _make_case_of_categories(model, n_rows):
    frame = _mixed(N_ROWS, 2, TOWNS)
    y = _target(np.column_stack([frame["a"], frame["b"], frame["a"]]))
    model.fit(frame, _classes(y, 3) if hasattr(model, "predict_proba") else y)
    rows = _mixed(n_rows, 3, [*TOWNS, "Elche"])
    numbers = np.empty((n_rows, 4))
    for j, levels in enumerate(model.schema_.levels):
        column = rows.iloc[:, j]
        codes = {} if levels is None else {label: code for code, label in enumerate(levels)}
        numbers[:, j] = column if levels is None else [codes.get(x, np.nan) for x in column]
    return Case(model, rows, numbers)


def expected_outputs(case):
    """Probabilities or values of the model."""
    model = case.model
    if hasattr(model, "predict_proba"):
        return model.predict_proba(case.rows)
    return model.predict(case.rows).reshape(len(case.numbers), -1)


def expected_scores(case):
    """Raw scores of boosting and AdaBoost; the outputs of other models."""
    model = case.model
    if hasattr(model, "_raw_scores"):
        return model._raw_scores(case.rows)
    if hasattr(model, "estimator_weights_") and hasattr(model, "decision_function"):
        return model.decision_function(case.rows).reshape(len(case.numbers), -1)
    return expected_outputs(case)
