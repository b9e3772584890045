"""Selection by disjoint regions, and one model for each, against loops over the regions."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RegionalClassifier,
    RegionalRegressor,
    StaticSelectionClassifier,
    StaticSelectionRegressor,
)
from arboleda.combine import out_of_fold_outputs

X, Y = make_classification(
    400, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=2
)
NAMES = np.array(["red", "green", "blue"])[Y]
FRESH = np.random.default_rng(0).normal(size=(200, 4)) * 1.5
MEMBERS: list[tuple[str, Any]] = [
    ("bayes", GaussianNB()),
    ("stump", DecisionTreeClassifier(max_depth=1)),
    ("near", KNeighborsClassifier(3)),
]
WEIGHT = np.random.default_rng(1).integers(1, 4, 400).astype(float)


def test_each_region_uses_its_most_accurate_member() -> None:
    model = StaticSelectionClassifier(MEMBERS, n_regions=5, random_state=3).fit(X, NAMES)
    found = out_of_fold_outputs(MEMBERS, X, NAMES)
    hits = found.choices() == np.searchsorted(np.unique(NAMES), NAMES)
    region = model.partition_.predict(X)
    assert isinstance(model.partition_, KMeans)
    assert model.competence_.shape == (6, 3)
    for k in range(5):
        np.testing.assert_allclose(model.competence_[k], hits[:, region == k].mean(axis=1))
        assert model.chosen_[k] == model.competence_[k].argmax()
    np.testing.assert_allclose(model.competence_[5], hits.mean(axis=1))
    assert len(set(model.chosen_[:5])) > 1
    fitted = [member.fit(X, NAMES) for _, member in MEMBERS]
    expected = [
        fitted[model.chosen_[k]].predict_proba(row[np.newaxis])[0]
        for k, row in zip(model.partition_.predict(FRESH), FRESH, strict=True)
    ]
    np.testing.assert_allclose(model.predict_proba(FRESH), expected, atol=1e-12)
    labels = model.classes_[np.argmax(expected, axis=1)]
    np.testing.assert_array_equal(model.predict(FRESH), labels)


def test_regions_can_be_values_and_leaves_of_a_tree() -> None:
    y = np.abs(X[:, 0]) + 0.1 * X[:, 1]
    members = [("line", LinearRegression()), ("stump", DecisionTreeRegressor(max_depth=1))]
    tree = DecisionTreeRegressor(max_leaf_nodes=4)
    model = StaticSelectionRegressor(members, partition=tree).fit(X, y, WEIGHT)
    predicted = out_of_fold_outputs(members, X, y, sample_weight=WEIGHT).outputs
    leaves = model.partition_.apply(X)
    for k, leaf in enumerate(np.unique(leaves)):
        some = leaves == leaf
        expected = -np.average((predicted - y)[:, some] ** 2, axis=1, weights=WEIGHT[some])
        np.testing.assert_allclose(model.competence_[k], expected)
    predictions = np.array([member.predict(FRESH) for member in model.estimators_])
    chosen = model.chosen_[np.searchsorted(np.unique(leaves), model.partition_.apply(FRESH))]
    np.testing.assert_allclose(model.predict(FRESH), predictions[chosen, np.arange(200)])


def test_fitted_members_and_partitions_are_supported() -> None:
    class Quadrant:
        """Regions by signs: -1 and 1, and 0 for a value of 0."""

        def fit(self, X: Any, y: Any = None) -> Any:
            return self

        def predict(self, X: Any) -> Any:
            return np.sign(np.asarray(X)[:, 0]).astype(int)

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {}

    fitted = [(name, member.fit(X[:200], NAMES[:200])) for name, member in MEMBERS]
    model = StaticSelectionClassifier(fitted, partition=Quadrant(), cv="prefit")
    model.fit(X[200:], NAMES[200:])
    assert model.competence_.shape == (3, 3)
    middle = np.zeros((1, 4))  # in neither of the two: the member that is best overall
    overall = fitted[model.chosen_[2]][1]
    np.testing.assert_allclose(model.predict_proba(middle), overall.predict_proba(middle))
    frozen = FrozenEstimator(KMeans(3, n_init=1, random_state=0).fit(X))
    again = StaticSelectionClassifier(MEMBERS, partition=frozen).fit(X, NAMES)
    np.testing.assert_array_equal(again.partition_.predict(X), frozen.predict(X))


def test_linear_far_from_the_border_and_neighbours_near_it() -> None:
    """Dasarathy and Sheela (1979): each where it is better, so better than either alone."""
    random = np.random.default_rng(5)
    X = random.uniform(-1, 1, size=(1500, 2))
    wavy = 0.25 * np.sin(12 * X[:, 0]) * (X[:, 0] > 0)
    y = (X[:, 1] > wavy) ^ ((random.random(1500) < 0.25) & (X[:, 0] < 0))
    members = [("line", LogisticRegression()), ("near", KNeighborsClassifier(1))]
    train, test = slice(0, 1000), slice(1000, 1500)
    halves = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 0)
    model = StaticSelectionClassifier(members, partition=FrozenEstimator(halves))
    model.fit(X[train], y[train])
    assert model.chosen_[:2].tolist() == [0, 1]
    alone = [member.fit(X[train], y[train]).score(X[test], y[test]) for _, member in members]
    assert model.score(X[test], y[test]) > max(alone) + 0.02


@pytest.mark.parametrize("kind", ["classes", "values"])
def test_each_part_has_its_model(kind: str) -> None:
    classes = kind == "classes"
    estimator: Any = GaussianNB() if classes else LinearRegression()
    wrapper: Any = RegionalClassifier if classes else RegionalRegressor
    y: Any = NAMES if classes else X[:, 0] ** 2
    model = wrapper(estimator, n_regions=3, random_state=0).fit(X, y)
    region, fresh = model.partition_.predict(X), model.partition_.predict(FRESH)
    assert len(model.estimators_) == 4
    for k in range(3):
        alone = type(estimator)().fit(X[region == k], y[region == k])
        expected = alone.predict(FRESH[fresh == k])
        found = model.predict(FRESH)[fresh == k]
        if classes:
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected)
    two = wrapper(estimator, n_regions=3, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.predict(FRESH), model.predict(FRESH))
    whole = wrapper(estimator, n_regions=1).fit(X, y)
    np.testing.assert_array_equal(whole.predict(FRESH), type(estimator)().fit(X, y).predict(FRESH))


def test_pieces_of_a_piecewise_line_are_found() -> None:
    x = np.linspace(-1, 1, 401)[:, np.newaxis]
    y = np.where(x[:, 0] < 0, 1 + 2 * x[:, 0], 5 - 3 * x[:, 0])
    partition = DecisionTreeRegressor(max_depth=1)
    model = RegionalRegressor(LinearRegression(), partition=partition).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-12)
    slopes = [round(float(line.coef_[0]), 9) for line in model.estimators_[:2]]
    assert slopes == [2.0, -3.0]


def test_a_region_of_one_class_is_of_that_class() -> None:
    x = np.r_[np.linspace(0, 1, 40), np.linspace(9, 10, 40)][:, np.newaxis]
    y = np.array(["a"] * 40 + ["a", "b"] * 20)
    model = RegionalClassifier(LogisticRegression(), n_regions=2, random_state=0).fit(x, y)
    assert model.predict([[0.5]]).tolist() == ["a"]
    np.testing.assert_array_equal(model.predict_proba([[0.5]]), [[1.0, 0.0]])
    shares = model.predict_proba([[9.5]])
    assert 0 < shares[0, 0] < 1


def test_regional_models_can_be_members_and_frames_stay_frames() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    members = [
        ("line", LogisticRegression()),
        ("lines", RegionalClassifier(LogisticRegression(), n_regions=4, random_state=0)),
    ]
    model = StaticSelectionClassifier(members, n_regions=4, random_state=0).fit(frame, NAMES)
    assert model.score(frame, NAMES) > 0.8
    assert model.feature_names_in_.tolist() == list("abcd")
    scaled = make_pipeline(StandardScaler(), model).fit(frame, NAMES)
    assert scaled.score(frame, NAMES) > 0.8


def test_invalid_arguments_are_refused() -> None:
    gaps = X.copy()
    gaps[0, 0] = np.nan
    with pytest.raises(ValueError, match="k-means needs columns of finite numbers"):
        RegionalClassifier(DecisionTreeClassifier()).fit(gaps, NAMES)
    with pytest.raises(ValueError, match="'n_regions'"):
        RegionalClassifier(GaussianNB(), n_regions=0).fit(X, NAMES)
    with pytest.raises(NotFittedError):
        StaticSelectionClassifier(MEMBERS).predict(X)
    with pytest.raises(ValueError, match="combines classifiers"):
        StaticSelectionClassifier([("line", LinearRegression())]).fit(X, NAMES)
    equal = np.ones((30, 2))  # one cluster: no warning, one region
    model = RegionalClassifier(GaussianNB(), partition=None).fit(equal, np.arange(30) % 2)
    assert len(model.estimators_) == 2
    tree = DecisionTreeClassifier(max_leaf_nodes=3)
    assert RegionalClassifier(tree, partition=tree).fit(gaps, NAMES).score(gaps, NAMES) > 0.5
