"""A shared search gives what scikit-learn's gives, score by score, from fewer fits."""

import pickle
import signal
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda.boosting._boosting import Boosting
from arboleda.model_selection import GridSearch

CANCER = load_breast_cancer(return_X_y=True)
WINE = load_wine(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
EXACT_GRID = {"n_estimators": [3, 9, 5], "learning_rate": [0.1, 0.5], "max_depth": [2]}
HIST_GRID = {"max_iter": [9, 3], "max_leaf_nodes": [3, 6]}
Counter = Callable[[], int]


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """Count the fits of boosting."""
    count: list[Any] = []
    boost = Boosting._boost

    def counted(*args: Any, **options: Any) -> None:
        count.append(None)
        boost(*args, **options)

    monkeypatch.setattr(Boosting, "_boost", counted)
    return lambda: len(count)


def results_of(search: GridSearchCV) -> dict[str, Any]:
    """All results but the times."""
    found = search.cv_results_
    return {name: found[name] for name in found if not name.endswith("_time")}


def assert_same(ours: GridSearchCV, theirs: GridSearchCV) -> None:
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for (name, found), (_, expected) in zip(
        results_of(ours).items(), results_of(theirs).items(), strict=True
    ):
        np.testing.assert_array_equal(found, expected, err_msg=name)
    for name in ("best_params_", "best_score_", "best_index_", "n_splits_", "multimetric_"):
        np.testing.assert_equal(getattr(ours, name, None), getattr(theirs, name, None), name)


def compare(
    estimator: Any, grid: Any, data: tuple[Any, Any], fit_params: Any = None, **options: Any
) -> tuple[GridSearch, GridSearchCV]:
    """Fit both searches."""
    ours = GridSearch(estimator, grid, n_jobs=2, **options).fit(*data, **(fit_params or {}))
    theirs = GridSearchCV(estimator, grid, **options).fit(*data, **(fit_params or {}))
    assert_same(ours, theirs)
    return ours, theirs


@pytest.mark.parametrize(
    ("estimator", "grid", "data"),
    [
        (GradientBoostingClassifier(), EXACT_GRID, CANCER),
        (GradientBoostingClassifier(init="zero"), EXACT_GRID, WINE),
        (GradientBoostingRegressor(subsample=0.5, random_state=3), EXACT_GRID, DIABETES),
        (HistGradientBoostingClassifier(), HIST_GRID, CANCER),
        (HistGradientBoostingClassifier(max_bins=20), HIST_GRID, WINE),
        (HistGradientBoostingRegressor(loss="absolute_error"), HIST_GRID, DIABETES),
        (HistGradientBoostingRegressor(linear_leaves=True), HIST_GRID, DIABETES),
        (HistGradientBoostingRegressor(max_features=0.3, random_state=0), HIST_GRID, DIABETES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_results_match_scikit_learn(
    estimator: Any, grid: Any, data: tuple[Any, Any], fits: Counter
) -> None:
    ours = GridSearch(estimator, grid, cv=4, n_jobs=2).fit(*data)
    assert fits() == 4 * 2 + 1  # two families of candidates, and the best one on all rows
    theirs = GridSearchCV(estimator, grid, cv=4).fit(*data)
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours.predict(data[0]), theirs.predict(data[0]))
    assert ours.score(*data) == theirs.score(*data)
    assert type(ours.best_estimator_) is type(estimator)
    assert ours.best_estimator_.get_params() == theirs.best_estimator_.get_params()


def frame_with_categories() -> tuple[pd.DataFrame, pd.Series]:
    """Few categories and many, a rare one, missing ones; rows with an index out of order."""
    random = np.random.RandomState(1)
    X = pd.DataFrame(
        {
            "town": pd.Categorical(random.choice(list("abcdefg"), 300)),
            "street": pd.Categorical(random.randint(0, 90, 300).astype(str)),
            "colour": random.choice(["red", "blue", "rare"], 300, p=[0.6, 0.395, 0.005]),
            "size": np.where(random.rand(300) < 0.1, np.nan, random.rand(300)),
        },
        index=random.permutation(300),
    )
    high = X["size"].fillna(0.5) + X["town"].cat.codes / 9 + X["street"].cat.codes / 90 > 1.2
    X.loc[X.index[::17], "colour"] = None
    return X, pd.Series(np.where(high, "yes", "no"), index=X.index)


@pytest.mark.parametrize(
    ("estimator", "grid", "data"),
    [
        (GradientBoostingClassifier(), EXACT_GRID, CANCER),
        (HistGradientBoostingClassifier(random_state=1, subsample=0.7), HIST_GRID, CANCER),
        (HistGradientBoostingClassifier(random_state=1), HIST_GRID, frame_with_categories()),
        (GradientBoostingClassifier(random_state=1), EXACT_GRID, frame_with_categories()),
    ],
    ids=["exact", "sampled", "categories", "exact categories"],
)
def test_every_scored_model_matches_a_separate_fit(
    estimator: Any, grid: Any, data: tuple[Any, Any]
) -> None:
    X, y = (pd.DataFrame(data[0]), pd.Series(data[1])) if data is CANCER else data
    seen: list[tuple[Any, Any]] = []

    def scorer(model: Any, X_test: Any, y_test: Any) -> float:
        seen.append((model, X_test))
        return float(len(y_test))

    cv = KFold(3, shuffle=True, random_state=0)
    trains = {tuple(X.index[test]): train for train, test in cv.split(X)}
    GridSearch(estimator, grid, scoring=scorer, cv=cv, refit=False).fit(X, y)
    assert len(seen) == 3 * np.prod([len(values) for values in grid.values()])
    for model, X_test in seen:
        assert type(model) is type(estimator)
        train = trains[tuple(X_test.index)]
        alone = clone(model).fit(X.iloc[train], y.iloc[train])
        assert pickle.dumps(model.ensemble_) == pickle.dumps(alone.ensemble_)
        assert model.get_params() == alone.get_params()
        assert vars(model).keys() == vars(alone).keys()
        np.testing.assert_array_equal(model.missing_columns_, alone.missing_columns_)
        np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
        for name, losses in alone.history_.items():
            np.testing.assert_array_equal(model.history_[name], losses)


def test_threads_change_nothing() -> None:
    searches = [
        GridSearch(HistGradientBoostingClassifier(), HIST_GRID, n_jobs=n, scoring="roc_auc")
        for n in (1, 2, None)
    ]
    first, *others = (search.fit(*CANCER) for search in searches)
    for other in others:
        assert_same(other, first)


@pytest.mark.parametrize("refit", ["neg_log_loss", False, lambda results: 2])
def test_several_metrics_match_scikit_learn(refit: Any) -> None:
    scoring = {
        "roc_auc": "roc_auc",
        "neg_log_loss": make_scorer(
            log_loss, greater_is_better=False, response_method="predict_proba"
        ),
        "n_right": lambda model, X, y: int((model.predict(X) == y).sum()),
    }
    ours, theirs = compare(
        HistGradientBoostingClassifier(),
        HIST_GRID,
        CANCER,
        scoring=scoring,
        refit=refit,
        return_train_score=True,
    )
    assert ours.scorer_.keys() == theirs.scorer_.keys()
    assert ours.scorer_["n_right"] is theirs.scorer_["n_right"]
    if refit == "neg_log_loss":
        assert ours.score(*CANCER) == theirs.score(*CANCER)


def test_one_scorer_can_return_several_metrics() -> None:
    def scorer(model: Any, X: Any, y: Any) -> dict[str, float]:
        right = model.predict(X) == y
        return {"right": float(right.mean()), "wrong": float(1 - right.mean())}

    compare(HistGradientBoostingClassifier(), HIST_GRID, WINE, scoring=scorer, refit="right")


def test_several_grids_match_scikit_learn() -> None:
    grids = [
        {"max_iter": [5, 2], "l2_regularization": [0.0, 1.0]},
        {"max_iter": [3]},
        {"max_depth": np.arange(1, 3), "growth": ["symmetric"]},
    ]
    compare(HistGradientBoostingRegressor(max_iter=4), grids, DIABETES)


def test_groups_and_weights_match_scikit_learn() -> None:
    X, y = CANCER
    random = np.random.RandomState(0)
    given = {
        "groups": random.randint(0, 6, len(y)),
        "sample_weight": random.randint(0, 3, len(y)).astype(float),
    }
    model = HistGradientBoostingClassifier(class_weight="balanced")
    compare(model, HIST_GRID, (X, y), given, cv=GroupKFold(3), scoring="neg_log_loss")
    compare(GradientBoostingClassifier(), EXACT_GRID, (X, y), given, cv=GroupKFold(3))


def test_frames_with_categories_are_supported() -> None:
    X, y = frame_with_categories()
    grid = {
        "max_iter": [4, 8],
        "categorical_features": ["from_dtype", ["town", "colour", "street"]],
        "category_encoding": ["auto", "native", "ordered"],
    }
    model = HistGradientBoostingClassifier(min_samples_leaf=3, random_state=0)
    cv = ShuffleSplit(3, random_state=0)
    ours, theirs = compare(model, grid, (X, y), cv=cv, return_train_score=True)
    assert ours.feature_names_in_.tolist() == theirs.feature_names_in_.tolist() == list(X.columns)
    assert ours.classes_.tolist() == ["no", "yes"]


def test_sparse_tables_and_lists_are_supported() -> None:
    X, y = WINE
    compare(GradientBoostingClassifier(), EXACT_GRID, (csr_array(X * (X > 2.0)), y.tolist()))
    compare(HistGradientBoostingClassifier(), HIST_GRID, (X.tolist(), y))


def test_folds_can_lack_a_class() -> None:
    X, y = CANCER
    order = np.argsort(y, kind="stable")
    for model, grid in (
        (GradientBoostingClassifier(), EXACT_GRID),
        (HistGradientBoostingClassifier(), HIST_GRID),
    ):
        compare(model, grid, (X[order], y[order]), cv=KFold(2))


def test_given_splits_can_share_rows() -> None:
    rows = list(range(120))
    cv = [(rows, list(range(100, 178))), (rows, rows), (rows[::-1], [177, 3])]
    compare(HistGradientBoostingClassifier(), HIST_GRID, WINE, cv=cv, return_train_score=True)


def test_a_failing_candidate_loses_only_its_own_score() -> None:
    grid = {"learning_rate": [0.1, -1.0], "max_iter": [0, 3, 5]}
    found = []
    for search in (GridSearch, GridSearchCV):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found.append(search(HistGradientBoostingClassifier(), grid, cv=3).fit(*CANCER))
        failed = [warning for warning in caught if warning.category is FitFailedWarning]
        assert len(failed) == 1
        text = str(failed[0].message)
        assert "12 fits failed out of a total of 18" in text
        assert text.count("fits failed with the following error") == 2  # one for each mistake
    assert_same(*found)
    assert np.isnan(found[0].cv_results_["mean_test_score"]).sum() == 4
    with pytest.raises(ValueError, match="'learning_rate' parameter"):
        GridSearch(
            HistGradientBoostingClassifier(), {"learning_rate": [-1.0]}, error_score="raise"
        ).fit(*CANCER)
    with pytest.raises(ValueError, match="All the 3 fits failed"):
        GridSearch(HistGradientBoostingClassifier(), {"max_iter": [0]}, cv=3).fit(*CANCER)


def test_rows_that_cannot_be_scored_give_nan() -> None:
    X, y = CANCER
    X = X.copy()
    X[7, 3] = np.inf
    cv = [(np.arange(300), np.arange(300, 569)), (np.arange(200, 569), np.arange(200))]
    cv.append((np.arange(100, 569), np.arange(100)))
    found = []
    for kind in (GridSearch, GridSearchCV):
        search = kind(HistGradientBoostingClassifier(), HIST_GRID, cv=cv, refit=False)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found.append(search.fit(X, y))
        texts = [str(warning.message) for warning in caught]
        assert sum("4 fits failed out of a total of 12" in text for text in texts) == 1
        assert sum("Scoring failed" in text for text in texts) == 8
    assert_same(*found)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (LogisticRegression(), {"C": [0.1, 1.0]}),
        (
            make_pipeline(StandardScaler(), HistGradientBoostingClassifier()),
            {"histgradientboostingclassifier__max_iter": [2, 4]},
        ),
        (HistGradientBoostingClassifier(early_stopping=True, random_state=0), HIST_GRID),
        (HistGradientBoostingClassifier(warm_start=True), HIST_GRID),
        (HistGradientBoostingClassifier(), {"callbacks": [[print], None], "max_iter": [1]}),
        (GradientBoostingClassifier(n_iter_no_change=2, random_state=0), EXACT_GRID),
        (GradientBoostingClassifier(init=DummyClassifier()), EXACT_GRID),
        (HistGradientBoostingClassifier(max_iter=3), {}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_candidates_that_cannot_share_fits_use_scikit_learn(
    estimator: Any, grid: Any, fits: Counter
) -> None:
    X, y = StandardScaler().fit_transform(WINE[0]), WINE[1]
    ours = GridSearch(estimator, grid, cv=3).fit(X, y)
    n_ours = fits()
    theirs = GridSearchCV(estimator, grid, cv=3).fit(X, y)
    assert n_ours == fits() - n_ours
    assert_same(ours, theirs)


def test_many_rows_stop_early_by_default(fits: Counter) -> None:
    X = np.random.RandomState(0).rand(10_500, 2)
    y = X[:, 0] > 0.5
    grid = {"max_iter": [2, 3]}
    model = HistGradientBoostingClassifier(random_state=0)
    GridSearch(model, grid, cv=2, refit=False).fit(X, y)
    assert fits() == 4
    model.set_params(early_stopping=False)
    GridSearch(model, grid, cv=2, refit=False).fit(X, y)
    assert fits() == 4 + 2


def test_dart_fits_every_number_of_rounds_separately(fits: Counter) -> None:
    model = HistGradientBoostingClassifier(drop_rate=0.5, random_state=0)
    GridSearch(model, HIST_GRID, cv=2, refit=False).fit(*WINE)
    assert fits() == 8
    compare(model, HIST_GRID, WINE, cv=2)


def test_a_shared_fit_counts_by_rounds() -> None:
    grid = {"max_iter": [10, 40]}
    search = GridSearch(HistGradientBoostingClassifier(), grid, cv=2, refit=False).fit(*WINE)
    few, many = search.cv_results_["mean_fit_time"]
    assert few > 0
    assert many / few == pytest.approx(4)
    assert (search.cv_results_["mean_score_time"] > 0).all()


def test_progress_is_printed_like_scikit_learn(capsys: pytest.CaptureFixture[str]) -> None:
    caught = []
    for kind in (GridSearch, GridSearchCV):
        kind(HistGradientBoostingClassifier(), HIST_GRID, cv=2, verbose=4).fit(*WINE)
        first, *lines = capsys.readouterr().out.splitlines()
        assert first == "Fitting 2 folds for each of 4 candidates, totalling 8 fits"
        caught.append(sorted(line.partition(" total time")[0] for line in lines))
    assert caught[0] == caught[1]
    assert len(caught[0]) == 8


def test_a_search_is_an_estimator() -> None:
    search = GridSearch(HistGradientBoostingClassifier(), HIST_GRID, cv=2).fit(*WINE)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict_proba(WINE[0]), search.predict_proba(WINE[0]))
    assert clone(search).get_params().keys() == search.get_params().keys()
    assert search.n_features_in_ == 13
    with pytest.raises(ValueError, match="'cv' parameter of GridSearch"):
        GridSearch(HistGradientBoostingClassifier(), HIST_GRID, cv="five").fit(*WINE)
    with pytest.raises(ValueError, match="no parameter depth; here it is max_depth"):
        GridSearch(HistGradientBoostingClassifier(), {"depth": [1]}).fit(*WINE)
    with pytest.raises(ValueError, match="Invalid parameter 'deepness'"):
        GridSearch(HistGradientBoostingClassifier(), {"deepness": [1]}).fit(*WINE)
    with pytest.raises(ValueError, match="n_splits=5"):
        GridSearch(HistGradientBoostingRegressor(), HIST_GRID).fit(WINE[0][:3], WINE[1][:3])


def test_seeds_are_drawn_in_the_order_of_the_fits() -> None:
    model = HistGradientBoostingClassifier(subsample=0.5)
    found = []
    for n_jobs in (1, 2):
        np.random.seed(5)  # noqa: NPY002
        search = GridSearch(model, HIST_GRID, cv=2, n_jobs=n_jobs, refit=False)
        found.append(search.fit(*WINE))
    assert_same(*found)
    assert found[0].estimator.random_state is None


def test_ctrl_c_stops_all_fits() -> None:
    search = GridSearch(HistGradientBoostingClassifier(), {"max_iter": [1_000_000]}, n_jobs=2)
    main = threading.get_ident()
    timer = threading.Timer(0.5, signal.pthread_kill, [main, signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search.fit(*WINE)
    timer.join()
    assert not hasattr(search, "cv_results_")
    assert search.set_params(param_grid={"max_iter": [2]}).fit(*WINE).best_score_ > 0.5
