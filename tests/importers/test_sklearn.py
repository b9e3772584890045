"""Trees and ensembles of scikit-learn as ours: the same predictions, bit by bit or nearly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble as theirs
import sklearn.tree as trees
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from tests.importers.peers import classes, mixed_frame, signal
from threadpoolctl import threadpool_limits

import arboleda
from arboleda import from_sklearn


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads of scikit-learn wait for each other by spinning."""
    with threadpool_limits(1):
        yield


FRAME = mixed_frame(400)
HOLES = FRAME.select_dtypes("float")
FULL = HOLES.fillna(0.25)
Y = signal(FRAME)
LABELS = np.array(["low", "middle", "high"])[classes(FRAME, 3)]
TWO = np.array(["no", "yes"])[classes(FRAME, 2)]
NEW = mixed_frame(300, seed=9)


def check(model: Any, X: Any, y: Any) -> Any:
    """Return our copy of a fitted model; assert equal predictions on float64 and float32 data."""
    model.fit(X, y)
    ours = from_sklearn(model)
    new = NEW[list(X)] if X is not FULL else NEW[list(X)].fillna(0.25)
    for rows in (X, new, *([new.astype(np.float32)] if X is not FRAME else [])):
        if hasattr(model, "predict_proba"):
            found, expected = ours.predict_proba(rows), model.predict_proba(rows)
            pairs = (
                zip(found, expected, strict=True)
                if isinstance(expected, list)
                else [(found, expected)]
            )
            for mine, other in pairs:
                np.testing.assert_allclose(mine, other, atol=1e-14)
            assert np.array_equal(ours.predict(rows), model.predict(rows))
        else:
            np.testing.assert_allclose(ours.predict(rows), model.predict(rows), rtol=1e-13)
    assert ours.feature_names_in_.tolist() == list(X)
    return ours


@pytest.mark.parametrize("kind", ["DecisionTree", "ExtraTree"])
@pytest.mark.parametrize("options", [{}, {"max_leaf_nodes": 12}])
def test_trees_are_imported(kind: str, options: dict[str, Any]) -> None:
    classifier = getattr(trees, f"{kind}Classifier")(random_state=0, **options)
    ours = check(classifier, HOLES, LABELS)
    assert type(ours).__name__ == "DecisionTreeClassifier"
    assert ours.get_params()["max_leaf_nodes"] == options.get("max_leaf_nodes")
    np.testing.assert_allclose(ours.feature_importances_, classifier.feature_importances_)
    check(getattr(trees, f"{kind}Regressor")(random_state=0, **options), HOLES, Y)
    check(trees.DecisionTreeClassifier(criterion="entropy"), HOLES, np.c_[LABELS, TWO])
    check(trees.DecisionTreeRegressor(max_depth=5), HOLES, np.c_[Y, Y**2])


@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_forests_are_imported(kind: str) -> None:
    options = {"n_estimators": 8, "random_state": 0}
    classifier, regressor = (
        getattr(theirs, f"{kind}{what}") for what in ("Classifier", "Regressor")
    )
    fitted = classifier(**options, class_weight="balanced")
    ours = check(fitted, HOLES, LABELS)
    assert type(ours).__name__ == f"{kind}Classifier"
    np.testing.assert_allclose(ours.feature_importances_, fitted.feature_importances_)
    assert len(ours.estimators_) == 8
    check(classifier(**options, criterion="log_loss"), HOLES, np.c_[LABELS, TWO])
    fitted = regressor(**options)
    ours = check(fitted, HOLES, Y)
    np.testing.assert_allclose(ours.feature_importances_, fitted.feature_importances_)
    check(regressor(**options), HOLES, np.c_[Y, Y**2])
    check(regressor(**options, criterion="poisson", max_depth=5), HOLES, np.exp(Y / 3))
    check(regressor(**options, criterion="absolute_error", max_depth=3), FULL, Y)


def test_imported_forests_lack_out_of_bag_attributes() -> None:
    model = theirs.RandomForestClassifier(3, oob_score=False, random_state=0).fit(HOLES, LABELS)
    ours = from_sklearn(model)
    with pytest.raises(ValueError, match="out-of-bag rows are unknown"):
        ours.oob_curve(HOLES, LABELS)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_gradient_boosting_regressors_are_imported(loss: str) -> None:
    options = {"n_estimators": 12, "max_depth": 3, "random_state": 0}
    check(theirs.GradientBoostingRegressor(loss=loss, **options), FULL, Y)
    check(theirs.GradientBoostingRegressor(loss=loss, init="zero", **options), FULL, Y)


@pytest.mark.parametrize(
    ("loss", "y"), [("log_loss", LABELS), ("log_loss", TWO), ("exponential", TWO)]
)
@pytest.mark.parametrize("init", [None, "zero"])
def test_gradient_boosting_classifiers_are_imported(loss: str, y: Any, init: Any) -> None:
    model = theirs.GradientBoostingClassifier(loss=loss, init=init, n_estimators=8, random_state=0)
    ours = check(model, FULL, y)
    raw = model.decision_function(FULL)
    np.testing.assert_allclose(ours.decision_function(FULL), raw, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        ours.feature_importances_, model.feature_importances_, rtol=0.2, atol=0.05
    )


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "gamma", "poisson", "quantile"]
)
def test_histogram_boosting_regressors_are_imported(loss: str) -> None:
    model = theirs.HistGradientBoostingRegressor(loss=loss, quantile=0.3, max_iter=12)
    ours = check(model, FRAME, np.exp(Y / 3))
    assert ours.is_categorical_.tolist() == model.is_categorical_.tolist()
    assert ours.get_params()["max_iter"] == 12


@pytest.mark.parametrize("y", [LABELS, TWO])
def test_histogram_boosting_classifiers_are_imported(y: Any) -> None:
    check(theirs.HistGradientBoostingClassifier(max_iter=8), FRAME, y)


def test_unseen_and_numeric_categories_are_predicted_alike() -> None:
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=500), random.integers(3, 30, 500)])
    X[::9, 1] = np.nan
    y = X[:, 0] + (X[:, 1] % 3 == 1)
    model = theirs.HistGradientBoostingRegressor(categorical_features=[1], max_iter=20)
    model.fit(X, y)
    ours = from_sklearn(model)
    assert ours.schema_.levels[1] == tuple(range(3, 30))
    X[::2, 1] = 77
    assert np.array_equal(ours.predict(X), model.predict(X))


def test_thresholds_compare_after_rounding_to_float32() -> None:
    x = np.linspace(0.0, 1.0, 200)[:, np.newaxis]
    model = trees.DecisionTreeRegressor().fit(x, np.sin(40 * x[:, 0]))
    split = model.tree_.threshold[model.tree_.children_left >= 0]
    near = np.concatenate([split * (1 + k * 1.5e-8) for k in range(-9, 10)])[:, np.newaxis]
    assert np.array_equal(from_sklearn(model).predict(near), model.predict(near))
    middle = 0.5 * (np.float32(split) + np.nextafter(np.float32(split), 2)).astype(float)
    for values in (middle, np.nextafter(middle, 0), np.nextafter(middle, 1)):
        rows = values[:, np.newaxis]
        assert np.array_equal(from_sklearn(model).predict(rows), model.predict(rows))


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (trees.DecisionTreeClassifier(), HOLES, LABELS),
        (theirs.RandomForestRegressor(4), HOLES, np.c_[Y, Y]),
        (theirs.ExtraTreesClassifier(4, max_features="log2"), HOLES, np.c_[LABELS, TWO]),
        (theirs.GradientBoostingClassifier(n_estimators=4), FULL, LABELS),
        (theirs.HistGradientBoostingClassifier(max_iter=4), FRAME, TWO),
    ],
    ids=lambda value: type(value).__name__,
)
def test_models_can_be_saved(model: Any, X: Any, y: Any, tmp_path: Any) -> None:
    ours = from_sklearn(model.fit(X, y))
    ours.save(tmp_path / "model.arboleda")
    again = arboleda.load(tmp_path / "model.arboleda")
    assert np.array_equal(again.predict(X), ours.predict(X))


def test_unsupported_parameters_are_left_out() -> None:
    model = theirs.GradientBoostingRegressor(n_estimators=3, random_state=7, subsample=0.5)
    ours = from_sklearn(model.fit(FULL, Y))
    kept = ours.get_params()
    assert (kept["random_state"], kept["subsample"], kept["n_estimators"]) == (7, 0.5, 3)
    ours.fit(FULL, Y)  # a fit anew, with their parameters


def test_unsupported_models_are_refused() -> None:
    for model in (LinearRegression(), theirs.IsolationForest(), "model", arboleda.load):
        with pytest.raises(
            TypeError, match="model must be one of scikit-learn's trees and tree ensembles"
        ):
            from_sklearn(model)
    with pytest.raises(TypeError, match="model must be one of scikit-learn's trees"):
        from_sklearn(arboleda.DecisionTreeClassifier())
    with pytest.raises(NotFittedError):
        from_sklearn(theirs.RandomForestClassifier())
    model = theirs.GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2)
    with pytest.raises(ValueError, match="starts from a LogisticRegression"):
        from_sklearn(model.fit(FULL, TWO))
