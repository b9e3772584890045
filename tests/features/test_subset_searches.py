"""Genetic and annealing searches against the best of all subsets, and against their definitions."""

from itertools import combinations
from math import exp
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score

from arboleda import (
    AnnealingSelector,
    DecisionTreeClassifier,
    GeneticSelector,
    HistGradientBoostingClassifier,
)
from arboleda.features._annealing_selector import is_accepted, neighbor
from arboleda.features._base_selectors import SubsetScores
from arboleda.features._genetic_selector import cross

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
SEARCHES = [
    GeneticSelector(TREE, population_size=12, n_generations=6, cv=3, random_state=0),
    AnnealingSelector(TREE, n_iter=60, cv=3, random_state=0),
]


def problem(n_columns: int = 6) -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    X = random.normal(size=(150, n_columns))
    y = (X[:, 1] + X[:, 3] * (X[:, 0] > 0) + random.normal(size=150) > 0).astype(int)
    return X, y


def score_of(X: Any, y: Any, columns: Any, cv: Any = 3) -> float:
    return float(cross_val_score(clone(TREE), X[:, list(columns)], y, cv=cv).mean())


@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: type(s).__name__)
def test_the_best_subset_of_few_columns_is_found(search: Any) -> None:
    X, y = problem(5)
    every = [c for k in range(1, 6) for c in combinations(range(5), k)]
    scores = {columns: score_of(X, y, columns) for columns in every}
    best = max(every, key=lambda columns: (scores[columns], -len(columns)))
    model = clone(search).fit(X, y)
    assert tuple(model.get_support(indices=True)) == best
    assert model.score_ == scores[best]
    assert model.n_features_ == len(best)
    assert model.n_evaluations_ <= len(every)
    np.testing.assert_array_equal(model.transform(X), X[:, list(best)])


@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(("wanted", "k"), [(2, 2), (0.5, 3), (6, 6)])
def test_a_fixed_number_of_columns_is_kept(
    search: Any, wanted: Any, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = problem(6)
    sizes = set()
    ranks = SubsetScores.compute_ranks

    def recorded(self: Any, masks: Any) -> Any:
        sizes.update(int(mask.sum()) for mask in masks)
        return ranks(self, masks)

    monkeypatch.setattr(SubsetScores, "compute_ranks", recorded)
    model = clone(search).set_params(n_features_to_select=wanted).fit(X, y)
    assert sizes == {k}
    best = max(score_of(X, y, columns) for columns in combinations(range(6), k))
    assert model.score_ == best


@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: type(s).__name__)
def test_jobs_change_nothing_and_each_subset_is_scored_once(
    search: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = problem()
    seen: list[bytes] = []
    score = SubsetScores._score

    def recorded(self: Any, mask: Any, n_jobs: Any) -> float:
        seen.append(mask.tobytes())
        return score(self, mask, n_jobs)

    monkeypatch.setattr(SubsetScores, "_score", recorded)
    one = clone(search).fit(X, y)
    assert len(seen) == len(set(seen)) == one.n_evaluations_
    monkeypatch.undo()
    two = clone(search).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.support_, two.support_)
    assert one.history_.keys() == two.history_.keys()
    for name, values in one.history_.items():
        np.testing.assert_array_equal(values, two.history_[name])
    other = clone(search).set_params(random_state=1).fit(X, y)
    assert any(not np.array_equal(v, other.history_[name]) for name, v in one.history_.items())


@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: type(s).__name__)
def test_jointly_useful_columns_are_found(search: Any) -> None:
    random = np.random.default_rng(0)
    X = random.integers(0, 2, size=(200, 8)).astype(float)
    y = (X[:, 2] != X[:, 5]).astype(int)
    tree = DecisionTreeClassifier(random_state=0)
    forward = SequentialFeatureSelector(tree, n_features_to_select=2, cv=3).fit(X, y)
    assert set(forward.get_support(indices=True)) != {2, 5}
    model = clone(search).set_params(estimator=tree, n_features_to_select=2).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 5]
    assert model.score_ == 1.0


def test_the_genetic_search_records_its_history() -> None:
    X, y = problem()
    model = clone(SEARCHES[0]).fit(X, y)
    history = pd.DataFrame(model.history_)
    assert len(history) == 7
    assert (np.diff(history["best_score"]) >= 0).all()  # the best survives
    assert (history["mean_score"] <= history["best_score"]).all()
    assert history["best_score"].iloc[-1] == model.score_ >= score_of(X, y, range(6))
    assert history["n_evaluations"].iloc[-1] == model.n_evaluations_
    assert history["n_features"].iloc[-1] == model.n_features_


def test_annealing_records_its_history() -> None:
    X, y = problem()
    model = clone(SEARCHES[1]).set_params(initial_temperature=0.1, cooling=0.5).fit(X, y)
    history = pd.DataFrame(model.history_)
    assert len(history) == 61
    np.testing.assert_allclose(history["temperature"], 0.1 * 0.5 ** np.arange(61))
    np.testing.assert_array_equal(history["best_score"], np.maximum.accumulate(history["score"]))
    assert (np.abs(np.diff(history["n_features"])) <= 1).all()
    cold = clone(SEARCHES[1]).set_params(initial_temperature=0.0).fit(X, y)
    assert (np.diff(cold.history_["score"]) >= 0).all()  # no temperature: only uphill
    hot = clone(SEARCHES[1]).set_params(initial_temperature=1e9, cooling=1.0).fit(X, y)
    sizes = hot.history_["n_features"]  # every change is accepted
    assert ((np.abs(np.diff(sizes)) == 1) | (sizes[1:] == 1)).all()


def test_annealing_follows_the_metropolis_rule() -> None:
    random = np.random.RandomState(0)
    chances = random.random_sample(4000)
    share = np.mean([is_accepted(0.3, 0.2, chance) for chance in chances])
    assert share == pytest.approx(exp(-1.5), abs=0.02)
    assert not is_accepted(0.3, 0.0, 0.0)
    mask = np.array([True, False, True, False])
    for _ in range(50):
        assert (neighbor(mask, None, random) != mask).sum() == 1
        other = neighbor(mask, 2, random)
        assert other.sum() == 2
        assert (other != mask).sum() == 2
    single = np.array([True, False])
    assert {int(neighbor(single, None, random).sum()) for _ in range(50)} == {1, 2}


def test_a_child_keeps_columns_shared_by_its_parents() -> None:
    random = np.random.RandomState(0)
    one = np.array([1, 1, 0, 0, 1, 0], dtype=bool)
    other = np.array([1, 0, 1, 0, 0, 1], dtype=bool)
    seen = set()
    for _ in range(100):
        child = cross(one, other, None, random)
        assert child[0]
        assert not child[3]
        seen.add(child.tobytes())
        fixed = cross(one, other, 3, random)
        assert fixed[0]
        assert not fixed[3]
        assert fixed.sum() == 3
    assert len(seen) == 16


@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: type(s).__name__)
def test_frames_missing_values_splitters_and_scores_are_supported(search: Any) -> None:
    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[::7, "b"] = np.nan
    frame["town"] = pd.Categorical(np.where(y ^ (np.arange(150) % 9 == 0), "Lima", "Quito"))
    boosted = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    model = clone(search).set_params(
        estimator=boosted, cv=GroupKFold(3), scoring="neg_log_loss", n_features_to_select=1
    )
    model.fit(frame, y, groups=np.arange(150) // 10)
    assert model.get_feature_names_out().tolist() == ["town"]
    assert model.transform(frame)["town"].dtype == "category"
    assert model.score_ < 0
    ridge = clone(search).set_params(estimator=Ridge(), cv=StratifiedKFold(3))
    assert ridge.fit(X, y).score_ > 0


@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: type(s).__name__)
def test_invalid_arguments_are_refused(search: Any) -> None:
    X, y = problem()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"n_features_to_select": 9}, "n_features_to_select=9 is more than the 6 columns"),
        ({"scoring": "no such"}, "'scoring'"),
        ({"estimator": TREE, "cv": 1}, "cv|n_splits"),
    ]
    for params, message in cases:
        with pytest.raises(ValueError, match=message):
            clone(search).set_params(**params).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(search).fit(X, y[:-1])


def test_progress_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = problem()
    for search, last in zip(SEARCHES, ("generation 6 of 6", "step 60 of 60"), strict=True):
        clone(search).set_params(verbose=1).fit(X, y)
        assert last in capsys.readouterr().out
