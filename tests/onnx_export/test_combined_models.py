"""AdaBoost, stacks, linear members and transformers predict the same in onnxruntime."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import BaggingRegressor as OtherBagging
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression, PoissonRegressor, Ridge, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PowerTransformer, StandardScaler, TargetEncoder
from sklearn.svm import LinearSVC
from tests.onnx_export.test_export import FRAME, KW, NUMBERS, THREE, TWO, Y, check, run

import arboleda as ab

FULL = pd.DataFrame(StandardScaler().fit_transform(NUMBERS.fillna(0.0)), columns=NUMBERS.columns)
ALGORITHMS = ["discrete", "SAMME", "real", "gentle", "logit", "MH", "M1", "M2", "MR"]


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_adaboost_is_exported(name, target):
    if name == "discrete" and target is THREE:
        pytest.skip("is for two classes")
    tree = ab.DecisionTreeClassifier(max_depth=3) if name == "M1" else None
    n_rounds = 12 if name == "M1" else 40
    model = ab.AdaBoostClassifier(tree, n_estimators=n_rounds, algorithm=name, random_state=0)
    check(model.fit(NUMBERS, target), NUMBERS)


@pytest.mark.parametrize("name", ["SAMME", "M2"])
def test_adaboost_on_categories_is_exported(name):
    tree = ab.DecisionTreeClassifier(max_depth=2, categorical_features="from_dtype")
    model = ab.AdaBoostClassifier(tree, n_estimators=9, algorithm=name, random_state=0)
    check(model.fit(FRAME, THREE), FRAME)


@pytest.mark.parametrize("n_estimators", [1, 12])
def test_weighted_medians_are_exported(n_estimators):
    model = ab.AdaBoostRegressor(n_estimators=n_estimators, random_state=0)
    check(model.fit(NUMBERS, Y), NUMBERS)


def classifiers():
    return [
        ("forest", ab.RandomForestClassifier(9, **KW)),
        ("hist", ab.HistGradientBoostingClassifier(max_iter=9, **KW)),
        ("ada", ab.AdaBoostClassifier(n_estimators=9, random_state=0)),
    ]


def regressors():
    return [
        ("forest", ab.RandomForestRegressor(9, **KW)),
        ("hist", ab.HistGradientBoostingRegressor(max_iter=9, **KW)),
        ("ada", ab.AdaBoostRegressor(n_estimators=9, random_state=0)),
    ]


HIST = ab.HistGradientBoostingClassifier(max_iter=9, **KW)
STACKS = {
    "logistic": {},
    "weights": {"weights": "simplex"},
    "forest": {"final_estimator": ab.RandomForestClassifier(9, **KW)},
    "passthrough": {"final_estimator": HIST, "passthrough": True},
    "bayes": {"final_estimator": GaussianNB()},
}


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", STACKS)
def test_stacks_of_classifiers_are_exported(target, name):
    # Shares of a forest are few numbers: a tree after it may have its threshold right between two
    # that differ in the last bit, which the order of a sum decides.
    members = classifiers()[name == "forest" :]
    stack = ab.StackingClassifier(members, cv=3, **STACKS[name])
    check(stack.fit(NUMBERS, target), NUMBERS)


@pytest.mark.parametrize(
    "options",
    [{}, {"weights": "nonnegative"}, {"final_estimator": ab.DecisionTreeRegressor(max_depth=4)}],
    ids=["ridge", "weights", "tree"],
)
def test_stacks_of_regressors_are_exported(options):
    check(ab.StackingRegressor(regressors(), cv=3, **options).fit(NUMBERS, Y), NUMBERS)


def test_stacks_and_votes_on_categories_are_exported():
    members = [
        ("forest", ab.RandomForestClassifier(9, categorical_features="from_dtype", **KW)),
        ("hist", ab.HistGradientBoostingClassifier(max_iter=9, **KW)),
    ]
    check(ab.StackingClassifier(members, cv=3).fit(FRAME, THREE), FRAME)
    check(ab.VotingClassifier(members, voting="soft").fit(FRAME, TWO), FRAME)


def test_a_stack_in_a_vote_is_exported():
    stack = ab.StackingRegressor(regressors()[:2], cv=3)
    vote = ab.VotingRegressor([("stack", stack), ("ada", ab.AdaBoostRegressor(n_estimators=5))])
    check(vote.fit(NUMBERS, Y), NUMBERS)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=500),
        LinearDiscriminantAnalysis(),
        GaussianNB(),
        DummyClassifier(strategy="prior"),
        MLPClassifier((8, 4), max_iter=60, random_state=0, activation="tanh"),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_classifiers_of_scikit_learn_are_exported(model, target):
    fill = SimpleImputer(strategy="median", add_indicator=True)
    check(make_pipeline(fill, StandardScaler(), model).fit(NUMBERS, target), NUMBERS)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        RidgeCV(),
        Lasso(),
        DummyRegressor(),
        MLPRegressor(hidden_layer_sizes=(8,), max_iter=60, random_state=0),
        TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
        ab.HistGradientBoostingRegressor(max_iter=9, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_regressors_of_scikit_learn_are_exported(model):
    check(make_pipeline(SimpleImputer(), StandardScaler(), model).fit(NUMBERS, Y), NUMBERS)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "continuous"])
def test_encoders_are_exported(kind):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=300), rng.integers(-1, 9, 300), rng.integers(-1, 40, 300)])
    X[::9, 0] = np.nan
    X[:2, 1] = 30.0  # a rare level
    y = {"binary": TWO, "multiclass": THREE, "continuous": Y}[kind]
    hot = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False)
    parts = ColumnTransformer(
        [
            ("number", "passthrough", [0]),
            ("hot", hot, [1]),
            ("target", TargetEncoder(target_type=kind, cv=3), [2]),
        ],
        sparse_threshold=0,
    )
    values = kind == "continuous"
    last = ab.HistGradientBoostingRegressor(max_iter=9, **KW) if values else HIST
    model = make_pipeline(parts, last).fit(X, y)
    new = X.copy()
    new[:5, 1:] = 99.0  # unseen
    for rows in (X, new):
        found = run(model, pd.DataFrame(rows))
        expected = model.predict(rows) if values else model.predict_proba(rows)
        np.testing.assert_allclose(found[-1], expected, rtol=1e-6, atol=1e-6)


def test_one_class_is_exported():
    model = ab.AdaBoostClassifier(n_estimators=3).fit(FULL, ["yes"] * len(FULL))
    check(model, FULL)


REFUSED = {
    "has stack method decision_function": (ab.StackingClassifier([("a", LinearSVC())], cv=3), TWO),
    "QuadraticDiscriminantAnalysis cannot be exported": (
        ab.StackingClassifier([("a", QuadraticDiscriminantAnalysis())], cv=3),
        TWO,
    ),
    "PowerTransformer cannot be exported": (make_pipeline(PowerTransformer(), Ridge()), Y),
    "PoissonRegressor cannot be exported": (PoissonRegressor(), Y - Y.min()),
    "not trees of the engine": (ab.AdaBoostRegressor(Ridge(), n_estimators=2), Y),
    "BaggingRegressor cannot be exported": (OtherBagging(n_estimators=2), Y),
}


@pytest.mark.parametrize("expected", REFUSED)
def test_unsupported_models_are_refused(expected):
    model, y = REFUSED[expected]
    model.fit(FULL, y)
    with pytest.raises((TypeError, ValueError), match=expected):
        ab.to_onnx(model)
