"""The ranker: naive twin, queries, early stopping, validity of inputs, files, levels."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GroupKFold

from arboleda import HistGradientBoostingRanker, explain, load
from arboleda.metrics import ranking_table
from arboleda.model_selection import GridSearch

LOSSES = ["lambdarank", "pairwise", "xe_ndcg", "yetirank"]
_RANDOM = np.random.default_rng(5)
QID = np.repeat(np.arange(60), _RANDOM.integers(1, 21, 60))
X = _RANDOM.normal(size=(len(QID), 5))
Y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * _RANDOM.normal(size=len(X)), [0.3, 1.0, 2.0])
QUICK = {"max_iter": 8, "min_samples_leaf": 5, "random_state": 0}


def ranker(loss: Any = "lambdarank", **options: Any) -> HistGradientBoostingRanker:
    return HistGradientBoostingRanker(loss, **{**QUICK, **options})


def model_bytes(model: HistGradientBoostingRanker) -> bytes:
    return pickle.dumps(model.ensemble_)


def naive_derivatives(y: Any, f: Any, *, by_ndcg: bool) -> tuple[Any, Any]:
    """Burges (2010) for one query, pair by pair."""
    order = np.argsort(-f, kind="stable")
    rank = np.empty(len(y), dtype=int)
    rank[order] = np.arange(len(y))
    discount = 1 / np.log2(2 + rank)
    gain = 2.0**y - 1
    best = np.sum(np.sort(gain)[::-1][:30] / np.log2(2 + np.arange(min(30, len(y)))))
    g, h = np.zeros(len(y)), np.zeros(len(y))
    size = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] <= y[j]:
                continue
            weight = 1.0
            if by_ndcg:
                weight = (gain[i] - gain[j]) * abs(discount[i] - discount[j]) / best
                weight /= 0.01 + abs(f[i] - f[j]) if np.ptp(f) > 0 else 1.0
            rho = 1 / (1 + np.exp(f[i] - f[j]))
            g[i] -= weight * rho
            g[j] += weight * rho
            h[[i, j]] += weight * rho * (1 - rho)
            size += 2 * weight * rho
    scale = np.log2(1 + size) / size if size else 0.0
    return scale * g, scale * h


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_scores_are_those_of_naive_newton_steps(loss: Any) -> None:
    # Every row is a leaf of its own, so that a round moves its score by -g / h.
    query = np.repeat([0, 1, 2], [9, 12, 7])
    y = np.array([0, 1, 2, 3] * 7)
    row = np.arange(28.0).reshape(-1, 1)
    model = ranker(
        loss, max_iter=3, learning_rate=0.3, max_leaf_nodes=None, min_samples_leaf=1,
        min_child_weight=0.0,
    ).fit(row, y, qid=query)  # fmt: skip
    scores = np.zeros(28)
    for _ in range(3):
        for q in range(3):
            of_query = query == q
            g, h = naive_derivatives(y[of_query], scores[of_query], by_ndcg=loss == "lambdarank")
            scores[of_query] -= 0.3 * g / h
    np.testing.assert_allclose(model.predict(row), scores, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_ranker_learns_and_its_score_is_the_mean_ndcg(loss: Any) -> None:
    model = ranker(loss, max_iter=40).fit(X, Y, qid=QID)
    scores = model.predict(X)
    expected = [
        ndcg_score([2.0 ** Y[q == QID] - 1], [scores[q == QID]], k=10)
        if np.sum(q == QID) > 1
        else 1.0
        for q in range(60)
        if Y[q == QID].any()
    ]
    assert model.score(X, Y, qid=QID) == pytest.approx(np.mean(expected))
    assert model.score(X, Y, qid=QID) > 0.9
    assert model.feature_importances_.argmax() < 3
    assert model.n_queries_ == 60


@pytest.mark.parametrize("loss", LOSSES)
def test_models_do_not_depend_on_threads_or_how_queries_are_given(loss: Any) -> None:
    one = ranker(loss, n_jobs=1).fit(X, Y, qid=QID)
    names = np.array([f"query {9 - q % 10}{q}" for q in QID])
    others = [
        ranker(loss, n_jobs=4).fit(X, Y, qid=QID),
        ranker(loss).fit(X, Y, qid=names),
        ranker(loss).fit(X, Y, qid=names.astype(object)),
        ranker(loss).fit(X, Y, group=np.bincount(QID)),
    ]
    for other in others:
        assert model_bytes(other) == model_bytes(one)


def test_queries_need_not_be_contiguous() -> None:
    # A stable sort by a random key moves queries apart, and keeps the order of the rows of each.
    key = np.random.default_rng(0).permutation(len(QID))
    order = np.empty(len(QID), dtype=int)
    for q in range(60):  # the places of a query, in ascending order
        order[np.sort(key[q == QID])] = np.flatnonzero(q == QID)
    assert np.any(np.diff(QID[order]) < 0)
    apart = ranker().fit(X[order], Y[order], qid=QID[order])
    np.testing.assert_array_equal(apart.predict(X), ranker().fit(X, Y, qid=QID).predict(X))


def test_rows_of_weight_zero_are_as_rows_left_out() -> None:
    weight = (np.arange(len(Y)) % 4 > 0).astype(float)
    kept = weight > 0
    weighted = ranker().fit(X, Y, sample_weight=weight, qid=QID)
    np.testing.assert_array_equal(
        weighted.predict(X), ranker().fit(X[kept], Y[kept], qid=QID[kept]).predict(X)
    )


def test_the_queries_can_be_a_column_of_the_frame(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcde"))
    by_name = ranker().fit(frame.assign(query=QID), Y, qid="query")
    assert by_name.feature_names_in_.tolist() == list("abcde")
    assert model_bytes(by_name) == model_bytes(ranker().fit(frame, Y, qid=QID))
    with_column = frame.assign(query=QID)
    np.testing.assert_array_equal(by_name.predict(with_column), by_name.predict(frame))
    assert by_name.score(with_column, Y) == by_name.score(frame, Y, qid=QID)
    by_name.save(tmp_path / "ranker.arboleda")
    loaded = load(tmp_path / "ranker.arboleda")
    assert (loaded.query_column_, loaded.n_queries_) == ("query", 60)
    np.testing.assert_array_equal(loaded.predict(with_column), by_name.predict(with_column))
    assert pickle.loads(pickle.dumps(by_name)).score(with_column, Y) == loaded.score(with_column, Y)


def test_grid_search_keeps_queries_whole() -> None:
    frame = pd.DataFrame(X, columns=list("abcde")).assign(query=QID)
    search = GridSearch(ranker(), {"max_iter": [1, 20]}, cv=GroupKFold(3))
    search.fit(frame, Y, groups=QID, qid="query")
    assert search.best_params_ == {"max_iter": 20}
    folds = GroupKFold(3).split(X, Y, QID)
    expected = np.mean(
        [
            ranker(max_iter=20).fit(X[a], Y[a], qid=QID[a]).score(X[b], Y[b], qid=QID[b])
            for a, b in folds
        ]
    )
    assert search.best_score_ == pytest.approx(expected)


def test_early_stopping_holds_out_whole_queries() -> None:
    model = ranker(max_iter=200, early_stopping=True, validation_fraction=0.3).fit(X, Y, qid=QID)
    assert 0 < model.n_iter_ < 200
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    assert model.validation_score_.argmax() == model.n_iter_
    given = ranker(max_iter=200).fit(
        X[QID < 40], Y[QID < 40], qid=QID[QID < 40],
        X_val=X[QID >= 40], y_val=Y[QID >= 40], qid_val=QID[QID >= 40],
    )  # fmt: skip
    score = given.score(X[QID >= 40], Y[QID >= 40], qid=QID[QID >= 40])
    assert given.validation_score_[-1] == pytest.approx(score)


def test_warm_start_equals_one_fit() -> None:
    for loss in LOSSES:
        model = ranker(loss, max_iter=3, warm_start=True).fit(X, Y, qid=QID)
        model.set_params(max_iter=8).fit(X, Y, qid=QID)
        assert model_bytes(model) == model_bytes(ranker(loss).fit(X, Y, qid=QID))


@pytest.mark.parametrize(
    "options",
    [
        {"monotonic_cst": [1, 0, 0, 0, 0]},
        {"subsample": 0.5},
        {"sampling": "goss"},
        {"drop_rate": 0.2, "early_stopping": False},
        {"growth": "symmetric", "max_depth": 3},
        {"linear_leaves": True},
        {"label_gain": [0, 1, 2, 3], "truncation_level": 3},
    ],
    ids=str,
)
def test_options_of_trees_and_samples(options: dict[str, Any], tmp_path: Path) -> None:
    table = X.copy()
    table[::9, 3] = np.nan
    model = ranker(**options).fit(table, Y, qid=QID)
    assert model.score(table, Y, qid=QID) > 0.8
    model.save(tmp_path / "ranker.arboleda")
    loaded = load(tmp_path / "ranker.arboleda")
    assert loaded.score(table, Y, qid=QID) == model.score(table, Y, qid=QID)
    if "monotonic_cst" in options:
        line = np.zeros((50, 5))
        line[:, 0] = np.linspace(-3, 3, 50)
        assert np.all(np.diff(model.predict(line)) >= 0)


def test_shapley_values_add_up_to_the_score() -> None:
    model = ranker().fit(X, Y, qid=QID)
    values = explain.shap_values(model, X[:20])
    np.testing.assert_allclose(
        values.values.sum(axis=1) + values.base_values, model.predict(X[:20]), atol=1e-9
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": np.where(np.arange(len(Y)) == 7, -1, Y)}, r"is -1\.0 in row 7"),
        ({"y": np.where(np.arange(len(Y)) == 7, 0.5, Y)}, r"is 0\.5 in row 7"),
        ({"y": np.where(np.arange(len(Y)) == 7, 40, Y)}, r"40 in row 7.*label_gain"),
        ({"qid": np.where(np.arange(len(Y)) == 7, np.nan, QID)}, "missing value nan in row 7"),
        ({"qid": [None, *QID[1:]]}, "missing value None in row 0"),
        ({"qid": pd.Series([*map(str, QID[1:]), pd.NA])}, "missing value .* in row"),
        ({"qid": QID[1:]}, "give the query of each of"),
        ({"qid": "query"}, "is not a column of X"),
        ({"qid": None, "group": [5, 6]}, "add up to 11, but there are"),
        ({"qid": None, "group": [0, len(Y)]}, "holds 0 at position 0"),
        ({"group": [len(Y)]}, "give one of them"),
        ({"y": np.column_stack([Y, Y])}, "1d"),
    ],
)
def test_invalid_data(arguments: dict[str, Any], message: str) -> None:
    given = {"y": Y, "qid": QID} | arguments
    with pytest.raises(ValueError, match=message):
        ranker().fit(X, **given)


@pytest.mark.parametrize(
    "options", [{"label_gain": [0, 2, 1]}, {"label_gain": [[0]]}, {"label_gain": ["a"]}], ids=str
)
def test_invalid_gains(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="label_gain must hold"):
        ranker(**options).fit(X, Y, qid=QID)


def test_relevance_beyond_the_given_gains() -> None:
    with pytest.raises(ValueError, match=r"y is 3 in row \d+, and label_gain has gains for"):
        ranker(label_gain=[0, 1, 3]).fit(X, Y, qid=QID)


def test_without_queries() -> None:
    assert ranker().fit(X[:50], Y[:50]).n_queries_ == 1
    with pytest.raises(ValueError, match="qid and group are None, so that all 10,001 rows"):
        ranker().fit(np.zeros((10_001, 1)), np.zeros(10_001))
    model = ranker().fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="score needs the query of each row"):
        model.score(X, Y)


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_to_learn_is_a_constant_model(loss: Any) -> None:
    with pytest.warns(UserWarning, match="no query has two rows of different relevance"):
        model = ranker(loss).fit(X[:60], np.arange(60) % 3, qid=np.arange(60))
    assert not model.predict(X).any()


@pytest.mark.skipif("ARBOLEDA_DATA" not in os.environ, reason="ARBOLEDA_DATA is not set")
def test_level_on_lightgbms_example() -> None:
    """LightGBM 4.7 lambdarank 0.736 and xe-ndcg 0.724, XGBoost 3.2 rank:ndcg 0.746."""
    from sklearn.datasets import load_svmlight_file

    folder = Path(os.environ["ARBOLEDA_DATA"]) / "ranking"
    if not folder.exists():
        pytest.skip(f"{folder} does not exist")
    parts = {}
    for part in ("train", "test"):
        table, y = load_svmlight_file(str(folder / f"rank.{part}.svmlight.gz"), n_features=301)
        parts[part] = table, y, np.loadtxt(folder / f"rank.{part}.query", dtype=int)
    table, y, group = parts["train"]
    levels = {"lambdarank": 0.74, "pairwise": 0.745, "xe_ndcg": 0.745, "yetirank": 0.73}
    for loss, level in levels.items():
        model = HistGradientBoostingRanker(loss, random_state=0).fit(table, y, group=group)
        test, relevance, sizes = parts["test"]
        assert model.score(test, relevance, group=sizes) > level
        queries = np.repeat(np.arange(len(sizes)), sizes)
        metrics = ranking_table(relevance, model.predict(test), qid=queries).metrics
        assert metrics["ndcg@10"] == pytest.approx(model.score(test, relevance, group=sizes))
