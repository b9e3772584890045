"""Shapley values: by the definition, adding up, for every kind of model, table and target."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.explain.shap_models import conditional_mean, shapley

import arboleda as ar
from arboleda.explain import ShapValues, shap_values

Floats = npt.NDArray[np.float64]

N_ROWS = 240
CLASSES = np.array(["few", "some", "many"])


def numbers(seed: int = 0, *, missing: bool = True, n_columns: int = 6) -> Floats:
    random = np.random.default_rng(seed)
    X = random.normal(size=(N_ROWS, n_columns))
    if missing:
        X[random.random(X.shape) < 0.1] = np.nan
    return X


def target_of(X: Floats) -> Floats:
    X = np.nan_to_num(X)
    return X[:, 0] * X[:, 1] + X[:, 2]


def classes_of(X: Floats, n_classes: int = 3) -> npt.NDArray[Any]:
    if n_classes == 2:
        return CLASSES[(target_of(X) > 0).astype(int)]
    return CLASSES[np.digitize(target_of(X), [-0.5, 0.5])]


def frame() -> pd.DataFrame:
    """Numbers and categories, both missing now and then."""
    random = np.random.default_rng(3)
    X = pd.DataFrame(numbers(3, n_columns=3), columns=["width", "depth", "height"])
    for name, labels in {"colour": ["red", "green", "blue", "pink"], "kind": list("uvw")}.items():
        column = random.choice([*labels, None], size=N_ROWS, p=None)
        X[name] = pd.Categorical(column, categories=labels)
    return X


def assert_adds_up(found: ShapValues, scores: Floats, tolerance: float = 1e-9) -> None:
    scale = np.abs(scores).max()
    np.testing.assert_allclose(found.scores / scale, scores / scale, rtol=0, atol=tolerance)


REGRESSORS = [
    ar.DecisionTreeRegressor(),
    ar.PrunedTreeRegressor(random_state=0),
    ar.RandomForestRegressor(8, random_state=0),
    ar.ExtraTreesRegressor(8, random_state=0),
    ar.BaggingRegressor(n_estimators=5, random_state=0),
    ar.BaggingRegressor(ar.HistGradientBoostingRegressor(max_iter=5), 3, random_state=0),
    ar.RandomSubspaceRegressor(n_estimators=5, random_state=0),
    ar.RandomSubspaceRegressor(n_estimators=5, weights="validation", random_state=0),
    ar.HistGradientBoostingRegressor(max_iter=10),
    ar.HistGradientBoostingRegressor(max_iter=10, drop_rate=0.3, random_state=0),
    ar.GradientBoostingRegressor(n_estimators=10, random_state=0),
    ar.VotingRegressor(
        [("a", ar.DecisionTreeRegressor(max_depth=3)), ("b", ar.ExtraTreesRegressor(3))],
        weights=[3, 1],
    ),
]
CLASSIFIERS = [
    ar.DecisionTreeClassifier(),
    ar.PrunedTreeClassifier(random_state=0),
    ar.RandomForestClassifier(8, random_state=0),
    ar.RandomForestClassifier(8, random_state=0, voting="laplace"),
    ar.RandomForestClassifier(8, random_state=0, voting="hard"),
    ar.ExtraTreesClassifier(8, random_state=0),
    ar.BaggingClassifier(n_estimators=5, random_state=0),
    ar.BaggingClassifier(
        ar.PrunedTreeClassifier(random_state=0), 3, max_features=0.5, random_state=0
    ),
    ar.RandomSubspaceClassifier(n_estimators=5, random_state=0),
    ar.BaggingClassifier(n_estimators=5, voting="hard", weights="oob", random_state=0),
    ar.BaggingClassifier(ar.PrunedTreeClassifier(random_state=0), 3, weights="oob", random_state=0),
    ar.ClassSwitchingClassifier(n_estimators=5, random_state=0),
    ar.VotingClassifier(
        [("a", ar.DecisionTreeClassifier(max_depth=3)), ("b", ar.ExtraTreesClassifier(3))],
        voting="soft",
    ),
    ar.EnsembleSelectionClassifier(
        [("a", ar.DecisionTreeClassifier(max_depth=3)), ("b", ar.ExtraTreesClassifier(3))],
        random_state=0,
    ),
]
BOOSTED = [
    ar.HistGradientBoostingClassifier(max_iter=5),
    ar.HistGradientBoostingClassifier(max_iter=5, drop_rate=0.3, random_state=0),
    ar.GradientBoostingClassifier(n_estimators=5, random_state=0),
    *[
        ar.AdaBoostClassifier(algorithm=algorithm, n_estimators=5, random_state=0)
        for algorithm in ("M1", "M2", "MH", "MR", "SAMME", "real", "gentle", "logit")
    ],
]


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_values_add_up_to_the_prediction(model: Any) -> None:
    X = numbers()
    model = model.fit(X, target_of(X))
    found = shap_values(model, X)
    assert found.values.shape == X.shape
    assert (found.scale, found.output_names) == ("value", ("value",))
    assert_adds_up(found, model.predict(X))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_add_up_to_probabilities(model: Any, n_classes: int) -> None:
    X = numbers()
    model = model.fit(X, classes_of(X, n_classes))
    found = shap_values(model, X)
    assert found.values.shape == (*X.shape, n_classes)
    assert found.scale == "probability"
    assert found.output_names == tuple(model.classes_)
    assert_adds_up(found, model.predict_proba(X))


@pytest.mark.parametrize("model", BOOSTED, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_add_up_to_the_margin(model: Any, n_classes: int) -> None:
    X = numbers()
    model = model.fit(X, classes_of(X, n_classes))
    found = shap_values(model, X)
    assert found.scale == "margin"
    assert len(found.output_names) == (1 if n_classes == 2 else 3)
    assert_adds_up(found, model.decision_function(X))


@pytest.mark.parametrize("loss", ["poisson", "gamma", "absolute_error", "huber"])
def test_all_losses_of_regression_add_up(loss: str) -> None:
    X = numbers()
    y = np.exp(target_of(X) / 3)
    model = ar.HistGradientBoostingRegressor(loss=loss, max_iter=8).fit(X, y)
    found = shap_values(model, X)
    link = np.log if loss in {"poisson", "gamma"} else np.asarray
    assert found.scale == ("margin" if loss in {"poisson", "gamma"} else "value")
    assert_adds_up(found, link(model.predict(X)))


def test_several_quantiles_are_several_outputs() -> None:
    X = numbers()
    model = ar.HistGradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.9], max_iter=8)
    found = shap_values(model.fit(X, target_of(X)), X)
    assert found.output_names == ("quantile 0.1", "quantile 0.9")
    assert_adds_up(found, model.ensemble_.scores(model._check_input(X)))


def test_several_targets_are_several_outputs() -> None:
    X = numbers()
    Y = np.column_stack([target_of(X), np.nan_to_num(X[:, 3])])
    forest = ar.RandomForestRegressor(5, random_state=0).fit(X, Y)
    assert_adds_up(shap_values(forest, X), forest.predict(X))
    labels = np.column_stack([classes_of(X), classes_of(X, 2)])
    tree = ar.DecisionTreeClassifier(max_depth=4).fit(X, labels)
    found = shap_values(tree, X)
    assert found.output_names[:2] == ("target 0: few", "target 0: many")
    assert_adds_up(found, np.hstack(tree.predict_proba(X)))


@pytest.mark.parametrize(
    "model",
    [
        ar.HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=8, min_samples_leaf=2),
        ar.HistGradientBoostingRegressor(max_iter=2, category_encoding="native"),
        ar.RandomForestRegressor(3, max_depth=5, random_state=0),
    ],
    ids=str,
)
def test_values_match_their_definition(model: Any) -> None:
    X = frame()
    y = target_of(X[["width", "depth", "height"]].to_numpy()) + (X["colour"] == "red")
    model = model.fit(X, y)
    found = shap_values(model, X.iloc[:8])
    boosted = hasattr(model, "ensemble_")
    trees = model.ensemble_.trees if boosted else [t.tree_ for t in model.estimators_]
    table = model._check_input(X.iloc[:8])
    codes = np.column_stack([np.asarray(column, dtype=float) for column in table.columns])
    for row in range(8):
        expected = shapley(
            lambda known, row=row: sum(conditional_mean(t, codes[row], known) for t in trees), 5
        )
        n_trees = 1 if boosted else len(trees)
        np.testing.assert_allclose(found.values[row], expected[:, 0] / n_trees, atol=1e-12)


def test_names_and_labels_come_from_the_table() -> None:
    X = frame()
    y = (X["colour"] == "red").astype(int)
    found = shap_values(ar.HistGradientBoostingClassifier(max_iter=3).fit(X, y), X)
    assert found.feature_names == ("width", "depth", "height", "colour", "kind")
    assert found.output_names == ("1",)
    assert set(found.data[:, 3]) == {"red", "green", "blue", "pink", None}
    plain = shap_values(ar.DecisionTreeClassifier().fit(numbers(), y), numbers())
    assert plain.feature_names == tuple(f"x[{j}]" for j in range(6))
    np.testing.assert_array_equal(plain.data, numbers())


def test_categories_with_target_statistics_are_one_column() -> None:
    X = frame()
    y = classes_of(X[["width", "depth", "height"]].to_numpy())
    model = ar.HistGradientBoostingClassifier(max_iter=5, category_encoding="ordered")
    model = model.fit(X, y)
    assert model.ensemble_.trees[0].n_features > 5  # a number for each of the classes
    found = shap_values(model, X)
    assert found.values.shape == (N_ROWS, 5, 3)
    assert_adds_up(found, model.decision_function(X))


def test_unused_columns_get_exactly_zero() -> None:
    X = numbers()
    X[:, 4] = 1.0
    y = target_of(X)
    for model in (ar.DecisionTreeRegressor(max_depth=1), ar.RandomForestRegressor(9)):
        found = shap_values(model.fit(X, y), X)
        unused = model.feature_importances_ == 0.0
        assert unused[4]
        assert (found.values[:, unused] == 0.0).all()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_targets_add_up(scale: float) -> None:
    X = numbers()
    y = target_of(X) * scale
    for made in (ar.DecisionTreeRegressor(), ar.RandomForestRegressor(5, random_state=0)):
        model = made.fit(X, y)
        assert_adds_up(shap_values(model, X), model.predict(X))


def test_the_number_of_threads_changes_no_bit() -> None:
    X = np.tile(numbers(), (12, 1))
    model = ar.HistGradientBoostingClassifier(max_iter=5).fit(X, classes_of(X))
    expected = shap_values(model, X, n_jobs=1).values
    for n_jobs in (2, 3, 7):
        np.testing.assert_array_equal(shap_values(model, X, n_jobs=n_jobs).values, expected)
    np.testing.assert_array_equal(shap_values(model, X[77:78]).values, expected[77:78])


def test_every_container_gives_the_same_values() -> None:
    X = numbers(missing=False)
    X[np.abs(X) < 0.7] = 0.0
    model = ar.RandomForestRegressor(4, random_state=0).fit(X, target_of(X))
    expected = shap_values(model, X)
    sparse = shap_values(model, csr_matrix(X))
    np.testing.assert_array_equal(sparse.values, expected.values)
    np.testing.assert_array_equal(sparse.data, X)
    polars = pytest.importorskip("polars")
    names = [f"c{j}" for j in range(6)]
    named = ar.RandomForestRegressor(4, random_state=0).fit(
        pd.DataFrame(X, columns=names), target_of(X)
    )
    found = shap_values(named, polars.DataFrame(X, schema=names))
    np.testing.assert_array_equal(found.values, expected.values)
    shuffled = pd.DataFrame(X, columns=names)[names[::-1]]
    found = shap_values(named, shuffled)
    assert found.feature_names == tuple(names)
    np.testing.assert_array_equal(found.values, expected.values)


def test_a_pipeline_explains_the_columns_of_its_last_step() -> None:
    X = frame()[["width", "kind"]].assign(kind=lambda f: f["kind"].astype(object).fillna("w"))
    y = (X["kind"] == "u").astype(int)
    before = make_column_transformer((StandardScaler(), ["width"]), (OneHotEncoder(), ["kind"]))
    model = make_pipeline(before, ar.RandomForestClassifier(5, random_state=0)).fit(X, y)
    found = shap_values(model, X)
    assert found.feature_names[0] == "standardscaler__width"
    assert found.feature_names[1:] == tuple(f"onehotencoder__kind_{k}" for k in "uvw")
    assert_adds_up(found, model.predict_proba(X))


def test_a_pipeline_that_passes_arrays_uses_the_names_of_the_table() -> None:
    X = numbers()
    model = make_pipeline("passthrough", ar.RandomForestRegressor(3)).fit(X, target_of(X))
    assert shap_values(model, X).feature_names == tuple(f"x[{j}]" for j in range(6))


@pytest.mark.parametrize("options", [{"bootstrap_features": True}, {"max_features": 0.5}])
def test_members_use_the_columns_that_they_were_fitted_on(options: Any) -> None:
    X = pd.DataFrame(numbers(), columns=list("abcdef"))
    model = ar.BaggingClassifier(
        ar.PrunedTreeClassifier(random_state=0), 3, random_state=0, **options
    ).fit(X, classes_of(X.to_numpy()))
    found = shap_values(model, X, background=X[:5])
    assert_adds_up(found, model.predict_proba(X))
    np.testing.assert_allclose(found.base_values[0], model.predict_proba(X[:5]).mean(axis=0))
    with pytest.raises(ValueError, match="same order as they were in fit"):
        shap_values(model, X[X.columns[::-1]])


def test_results_give_frames_and_shap_explanations() -> None:
    X = frame()
    y = classes_of(X[["width", "depth", "height"]].to_numpy())
    found = shap_values(ar.RandomForestClassifier(3, random_state=0).fit(X, y), X.iloc[:4])
    table = found.to_frame()
    assert list(table.columns) == ["row", "output", "feature", "data", "value"]
    line = table[(table.row == 2) & (table.output == "some") & (table.feature == "colour")]
    assert line.value.item() == found.values[2, 3, 2]
    assert line.data.item() == found.data[2, 3]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda X, y: ar.HistGradientBoostingRegressor(max_iter=3, linear_leaves=True).fit(X, y),
            "linear_leaves=False",
        ),
        (
            lambda X, y: ar.GradientBoostingRegressor(
                n_estimators=3, init=ar.DecisionTreeRegressor(max_depth=1)
            ).fit(X, y),
            "init=None",
        ),
        (lambda X, y: ar.AdaBoostRegressor(n_estimators=3).fit(X, y), "median"),
        (
            lambda X, y: ar.VotingRegressor([("a", ar.DecisionTreeRegressor())], rule="median").fit(
                X, y
            ),
            "rule='mean'",
        ),
        (
            lambda X, y: ar.VotingClassifier([("a", ar.DecisionTreeClassifier())]).fit(X, y > 0),
            "voting='soft'",
        ),
        (
            lambda X, y: ar.VotingClassifier(
                [("a", ar.HistGradientBoostingClassifier(max_iter=2))], voting="soft"
            ).fit(X, y > 0),
            "one by one",
        ),
        (
            lambda X, y: ar.AdaBoostClassifier(
                LogisticRegression(), n_estimators=2, algorithm="SAMME"
            ).fit(X, y > 0),
            "boost DecisionTreeClassifier",
        ),
    ],
)
def test_models_that_are_not_sums_over_trees_are_refused(make: Any, words: str) -> None:
    X = numbers(missing=False)
    with pytest.raises((TypeError, ValueError), match=words):
        shap_values(make(X, target_of(X)), X)


def test_other_models_are_refused() -> None:
    X = numbers(missing=False)
    with pytest.raises(TypeError, match="LinearRegression is not a tree ensemble"):
        shap_values(LinearRegression().fit(X, target_of(X)), X)
    with pytest.raises(TypeError, match="DecisionTreeClassifier is a class"):
        shap_values(ar.DecisionTreeClassifier, [[0.0]])
    with pytest.raises(NotFittedError, match="call fit"):
        shap_values(ar.RandomForestClassifier(), X)
    model = ar.DecisionTreeRegressor().fit(X, target_of(X))
    with pytest.raises(ValueError, match="6 features"):
        shap_values(model, X[:, :4])
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        shap_values(model, X, n_jobs=0)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0]], [3.0]),
        ([[1.0], [1.0]], [3.0, 4.0]),
        ([[1.0, 5.0], [2.0, 5.0]], [3.0, 3.0]),
        ([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0]], [1.0, 2.0, 3.0]),
        ([[-1e308, 1.0], [1e308, 2.0]], [1.0, 2.0]),
    ],
    ids=["one row", "constant column", "constant y", "all missing", "huge values"],
)
def test_degenerate_tables_add_up(X: Any, y: Any) -> None:
    for made in (
        ar.DecisionTreeRegressor(),
        ar.RandomForestRegressor(3, random_state=0),
        ar.HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=1),
    ):
        model = made.fit(X, y)
        found = shap_values(model, X)
        assert np.isfinite(found.values).all()
        np.testing.assert_allclose(found.scores, model.predict(X), rtol=1e-12)


def test_one_class_has_zero_values() -> None:
    X = numbers()
    model = ar.RandomForestClassifier(3, random_state=0).fit(X, np.zeros(N_ROWS))
    found = shap_values(model, X)
    assert found.values.shape == (N_ROWS, 6)
    assert (found.values == 0.0).all()
    assert (found.base_values == 1.0).all()


def test_ctrl_c_stops_the_computation() -> None:
    X = np.tile(numbers(), (800, 1))
    model = ar.RandomForestRegressor(60, random_state=0).fit(X[:2000], target_of(X[:2000]))
    # The table is read in a hundredth of the time: the key is pressed in the engine.
    press = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    began = time.process_time()
    press.start()
    with pytest.raises(KeyboardInterrupt):
        shap_values(model, X, n_jobs=2)
    press.join()
    assert time.process_time() - began < 4.0
