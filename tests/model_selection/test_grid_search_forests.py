"""One forest of the largest size gives the scores of all smaller ones."""

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold
from tests.property.strategies import checked

from arboleda import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.forest._base_forest import BaseForest
from arboleda.model_selection import GridSearch

CANCER = load_breast_cancer(return_X_y=True)
WINE = load_wine(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
GRID = {"n_estimators": [9, 2, 5], "max_features": [1, 3]}
Counter = Callable[[], int]


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """Count the forests that are grown."""
    count: list[Any] = []
    grown = BaseForest._fit_trees

    def counted(*args: Any) -> Any:
        count.append(None)
        return grown(*args)

    monkeypatch.setattr(BaseForest, "_fit_trees", counted)
    return lambda: len(count)


def assert_same(ours: GridSearchCV, theirs: GridSearchCV) -> None:
    for name, expected in theirs.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(ours.cv_results_[name], expected, err_msg=name)
    for name in ("best_params_", "best_score_", "best_index_", "n_splits_"):
        assert getattr(ours, name, None) == getattr(theirs, name, None)


def compare(model: Any, grid: Any, data: tuple[Any, Any], **options: Any) -> GridSearch:
    ours = GridSearch(model, grid, n_jobs=2, **options).fit(*data)
    assert_same(ours, GridSearchCV(model, grid, **options).fit(*data))
    return ours


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (RandomForestClassifier(random_state=1), CANCER),
        (RandomForestClassifier(voting="hard", bootstrap="balanced", random_state=1), WINE),
        (RandomForestClassifier(class_weight="balanced_subsample", random_state=1), WINE),
        (ExtraTreesClassifier(voting="laplace", ccp_alpha=0.01, random_state=1), CANCER),
        (RandomForestRegressor(random_state=1, max_samples=0.5), DIABETES),
        (ExtraTreesRegressor(random_state=1, min_samples_leaf=3), DIABETES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_results_match_scikit_learn(model: Any, data: tuple[Any, Any], fits: Counter) -> None:
    ours = GridSearch(model, GRID, cv=3, n_jobs=2, return_train_score=True).fit(*data)
    assert fits() == 3 * 2 + 1  # two families of candidates, and the best one on all rows
    theirs = GridSearchCV(model, GRID, cv=3, return_train_score=True).fit(*data)
    assert_same(ours, theirs)
    assert pickle.dumps(ours.best_estimator_.forest_) == pickle.dumps(
        theirs.best_estimator_.forest_
    )
    assert ours.best_estimator_.get_params() == theirs.best_estimator_.get_params()


def frame_with_categories() -> tuple[pd.DataFrame, pd.Series]:
    random = np.random.RandomState(1)
    X = pd.DataFrame(
        {
            "town": pd.Categorical(random.choice(list("abcdefg"), 200)),
            "size": np.where(random.rand(200) < 0.1, np.nan, random.rand(200)),
        },
        index=random.permutation(200),
    )
    high = X["size"].fillna(0.5) + X["town"].cat.codes / 9 > 0.9
    return X, pd.Series(np.where(high, "yes", "no"), index=X.index)


def test_every_scored_model_matches_a_separate_fit() -> None:
    X, y = frame_with_categories()
    model = RandomForestClassifier(keep_rows=True, categorical_features="from_dtype")
    model.set_params(random_state=3)
    seen: list[tuple[Any, Any]] = []

    def scorer(model: Any, X_test: Any, y_test: Any) -> float:
        seen.append((model, X_test))
        return float(len(y_test))

    cv = KFold(3, shuffle=True, random_state=0)
    trains = {tuple(X.index[test]): train for train, test in cv.split(X)}
    grid = {"n_estimators": [1, 7, 4], "max_depth": [2, None]}
    GridSearch(model, grid, scoring=scorer, cv=cv, refit=False).fit(X, y)
    assert sorted(found.n_estimators_ for found, _ in seen) == sorted([1, 7, 4] * 6)
    for found, X_test in seen:
        train = trains[tuple(X_test.index)]
        alone = clone(found).fit(X.iloc[train], y.iloc[train])
        assert pickle.dumps(found.forest_) == pickle.dumps(alone.forest_)
        assert vars(found).keys() == vars(alone).keys()
        np.testing.assert_array_equal(found.predict_proba(X), alone.predict_proba(X))
        weights = [each.neighbor_weights(X_test).toarray() for each in (found, alone)]
        np.testing.assert_array_equal(*weights)


def test_several_metrics_containers_and_targets_match_scikit_learn() -> None:
    scoring = ["neg_log_loss", "accuracy", "roc_auc"]
    model = RandomForestClassifier(random_state=0)
    compare(model, GRID, CANCER, cv=2, scoring=scoring, refit="accuracy")
    X, y = WINE
    compare(model, GRID, (csr_array(X * (X > 2.0)), y.tolist()), cv=2)
    two = np.column_stack([DIABETES[1], -(DIABETES[1] ** 2)])
    compare(ExtraTreesRegressor(random_state=0), GRID, (DIABETES[0], two), cv=2)


def test_without_a_seed_all_sizes_share_one_forest() -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    np.random.seed(5)  # noqa: NPY002
    seen: list[Any] = []

    def scorer(model: Any, X_test: Any, y_test: Any) -> float:
        seen.append(model)
        return 0.0

    search = GridSearch(RandomForestRegressor(), {"n_estimators": [3, 6]}, scoring=scorer, cv=2)
    search.set_params(refit=False).fit(X, X[:, 0])
    seeds = {(model.n_estimators_, model.seed_) for model in seen}
    assert len(seeds) == 4
    assert len({seed for _, seed in seeds}) == 2
    assert all(model.random_state is None for model in seen)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(oob_score=True, random_state=0),
        RandomForestClassifier(warm_start=True, random_state=0),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_candidates_that_cannot_share_fits_use_scikit_learn(model: Any, fits: Counter) -> None:
    ours = GridSearch(model, GRID, cv=2).fit(*WINE)
    assert fits() == 2 * 6 + 1
    assert_same(ours, GridSearchCV(model, GRID, cv=2).fit(*WINE))


def test_an_automatic_number_of_trees_is_not_shared(fits: Counter) -> None:
    grid = {"n_estimators": ["auto"], "min_samples_leaf": [20, 40]}
    GridSearch(RandomForestRegressor(random_state=0), grid, cv=2, refit=False).fit(*DIABETES)
    assert fits() == 4


def test_a_failing_candidate_loses_only_its_own_score() -> None:
    grid = {"n_estimators": [0, 3, 5], "min_samples_leaf": [1, -1]}
    found = []
    for search in (GridSearch, GridSearchCV):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found.append(search(RandomForestClassifier(random_state=0), grid, cv=2).fit(*WINE))
        assert [w.category for w in caught if w.category is FitFailedWarning] == [FitFailedWarning]
    assert_same(*found)
    assert np.isnan(found[0].cv_results_["mean_test_score"]).sum() == 4


_OPTIONS: dict[str, list[Any]] = {
    "max_depth": [1, 3, None],
    "max_features": [1, "sqrt", None],
    "min_samples_leaf": [1, 4],
    "bootstrap": [False, True],
    "voting": ["soft", "hard", "laplace"],
    "class_weight": [None, "balanced"],
    "max_bins": [None, 6],
    "criterion": ["gini", "entropy", "squared_error", "absolute_error"],
}
_KINDS = [
    RandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestRegressor,
    ExtraTreesRegressor,
]


@checked
@given(st.data())
def test_any_forest_matches_the_scores_of_scikit_learn(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(_KINDS))
    classify = kind.__name__.endswith("Classifier")
    options = {}
    for name in sorted(_OPTIONS.keys() & kind().get_params().keys()):
        values = _OPTIONS[name]
        if name == "criterion":
            values = values[:2] if classify else values[2:]
        options[name] = data.draw(st.sampled_from(values))
    random = np.random.default_rng(data.draw(st.integers(0, 9)))
    X = random.integers(0, 9, (40, 3)).astype(float)
    y = random.integers(0, 3, 40)
    numbers = st.lists(st.integers(1, 12), min_size=1, max_size=4)
    grid = {"n_estimators": data.draw(numbers), "min_samples_split": [2, 9]}
    compare(kind(random_state=0, **options), grid, (X, y), cv=KFold(2), refit=False)
