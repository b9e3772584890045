"""Categories in boosting: native splits, ordered statistics, and which rows they may use."""

import pickle
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV

import arboleda
from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda._engine import parallel as threads
from arboleda.model_selection import GridSearch

Frame = pd.DataFrame


def towns(n: int = 3000, n_towns: int = 400, n_classes: int = 2, seed: int = 0) -> Any:
    """A number, a column of many categories that matters, and a target."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, n_towns, n)
    effect = np.random.default_rng(99).normal(size=n_towns)
    x = rng.normal(size=n).round(3)
    score = x + 1.5 * effect[town] + rng.logistic(size=n)
    frame = pd.DataFrame({"x": x, "town": [f"t{number:04}" for number in town]})
    if n_classes == 0:
        return frame, score.round(4)
    return frame, np.digitize(score, np.linspace(-1, 1, n_classes + 1)[1:-1])


FEW_ROUNDS: dict[str, Any] = {"max_iter": 20, "early_stopping": False, "random_state": 0}
MODELS: dict[str, Any] = {
    "two classes": (HistGradientBoostingClassifier(**FEW_ROUNDS), 2),
    "three classes": (HistGradientBoostingClassifier(**FEW_ROUNDS), 3),
    "regressor": (HistGradientBoostingRegressor(**FEW_ROUNDS), 0),
    "exact classes": (GradientBoostingClassifier(n_estimators=10, random_state=0), 2),
    "exact regressor": (GradientBoostingRegressor(n_estimators=10, random_state=0), 0),
}


def predict_outputs(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


# What "auto" chooses


def test_auto_uses_target_statistics_for_columns_with_many_categories() -> None:
    tables = {
        (3000, 50): (),
        (3000, 60): (),
        (3000, 61): (1,),  # 49 rows each
        (1000, 50): (),
        (1000, 51): (1,),
        (15_000, 255): (),
        (15_000, 256): (1,),
    }
    for (n, n_towns), columns in tables.items():
        X, y = towns(n, n_towns)
        model = HistGradientBoostingClassifier(**FEW_ROUNDS).fit(X, y)
        assert model.statistics_.columns == columns
        native = clone(model).set_params(category_encoding="native").fit(X, y)
        assert native.statistics_.columns == ()
        assert np.array_equal(predict_outputs(native, X), predict_outputs(model, X)) == (
            not columns
        )
    X, y = towns(n_towns=3)
    ordered = clone(model).set_params(category_encoding="ordered").fit(X, y)
    assert ordered.statistics_.columns == (1,)
    two = X.assign(town=np.where(X["town"] < "t0001", "a", "b"))
    assert ordered.fit(two, y).statistics_.columns == ()  # one split separates two


def test_held_out_rows_do_not_count_in_the_statistics() -> None:
    X, y = towns(n_towns=300)
    weight = (X["town"] < "t0040").to_numpy().astype(float)
    model = HistGradientBoostingClassifier(**FEW_ROUNDS).fit(X, y, weight)
    assert model.statistics_.columns == ()
    X, y = towns(n_towns=600)
    weight = (X["town"] < "t0400").to_numpy().astype(float)
    model.fit(X, y, weight)
    cut = clone(model).fit(X[weight > 0], y[weight > 0])
    assert model.statistics_.columns == cut.statistics_.columns == (1,)
    seen = X[weight > 0]
    # The random order goes by the number of a row, so only what predictions use is compared.
    kept = [model.schema_.levels[1].index(level) for level in cut.schema_.levels[1]]
    assert np.array_equal(model.statistics_.values[0][kept], cut.statistics_.values[0][:-1])
    assert predict_outputs(model, seen).shape == predict_outputs(cut, seen).shape


# Leakage


@pytest.mark.parametrize("encoding", ["auto", "ordered"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_identifiers_carry_no_information(encoding: str, repeats: int) -> None:
    n = 4000
    without, with_ids, gap = [], [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"x": rng.normal(size=2 * n)})
        y = (X["x"] + rng.logistic(size=2 * n) > 0).astype(int)
        ids = rng.permutation(2 * n) // repeats
        noisy = X.assign(id=[f"i{number}" for number in ids])
        train, test = slice(0, n), slice(n, None)
        model = HistGradientBoostingClassifier(
            max_iter=40, early_stopping=False, random_state=seed, category_encoding=encoding
        )
        for table, losses in ((X, without), (noisy, with_ids)):
            model.fit(table[train], y[train])
            losses.append(log_loss(y[test], predict_outputs(model, table[test])))
        gap.append(losses[-1] - log_loss(y[train], predict_outputs(model, noisy[train])))
    assert np.mean(with_ids) < np.mean(without) + 0.004
    if repeats == 1:
        assert with_ids == without  # a constant column is dropped
    assert np.isfinite(gap).all()


def test_losses_of_training_rows_match_those_of_unseen_rows() -> None:
    X, y = towns(n=8000, n_towns=2000)
    train, test = slice(0, 4000), slice(4000, None)
    recorded: list[float] = []
    model = HistGradientBoostingClassifier(
        max_iter=15, max_leaf_nodes=8, early_stopping=False, random_state=0,
        callbacks=[lambda now: recorded.append(now.train_loss)],
    ).fit(X[train], y[train])  # fmt: skip
    unseen = log_loss(y[test], predict_outputs(model, X[test]))
    assert abs(recorded[-1] - unseen) < 0.03  # a mean per category of the training rows: 0.25 apart


def test_holdout_rows_are_ignored_by_the_statistics() -> None:
    X, y = towns(n=3000)
    model = HistGradientBoostingClassifier(
        max_iter=10, early_stopping=True, validation_fraction=0.5, random_state=0
    )
    model.fit(X, y)
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(model.statistics_.values[0], other.statistics_.values[0])
    whole = clone(model).set_params(early_stopping=False).fit(X, y)
    counts = X["town"].value_counts().sort_index().to_numpy()
    shares = pd.Series(y).groupby(X["town"]).mean().to_numpy()
    a, prior = 5.0, y.mean()
    expected = (shares * counts + a * prior) / (counts + a)
    np.testing.assert_allclose(whole.statistics_.values[0][:-1, 0], expected, rtol=1e-9)
    assert np.abs(model.statistics_.values[0][:-1, 0] - expected).max() > 0.01


def test_many_informative_categories_are_learned() -> None:
    X, y = towns(n=12_000, n_towns=1000)
    train, test = slice(0, 6000), slice(6000, None)
    model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
    loss = {
        name: log_loss(y[test], predict_outputs(model.fit(table[train], y[train]), table[test]))
        for name, table in (("with", X), ("without", X[["x"]]))
    }
    assert loss["with"] < loss["without"] - 0.05


# Missing, unseen and unusual categories


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("encoding", ["native", "ordered"])
def test_missing_and_unseen_categories_are_predicted(name: str, encoding: str) -> None:
    model, n_classes = MODELS[name]
    model = clone(model).set_params(category_encoding=encoding)
    X, y = towns(n_classes=n_classes)
    X.loc[::7, "town"] = None
    model.fit(X, y)
    assert model.missing_columns_.tolist() == [1]
    odd = pd.DataFrame({"x": [0.1] * 3, "town": ["nowhere", None, "t0001"]})
    found = predict_outputs(model, odd)
    assert np.array_equal(found[0], found[1])  # unseen categories follow missing ones
    assert np.isfinite(found).all()
    complete, y = towns(n_classes=n_classes)
    model.fit(complete, y)
    found = predict_outputs(model, odd)
    assert np.array_equal(found[0], found[1])
    assert model.missing_columns_.tolist() == []


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("encoding", ["auto", "native", "ordered"])
def test_columns_with_one_or_no_category_are_fitted(name: str, encoding: str) -> None:
    model, n_classes = MODELS[name]
    model = clone(model).set_params(category_encoding=encoding)
    X, y = towns(n=500, n_classes=n_classes)
    plain = predict_outputs(model.fit(X[["x"]], y), X[["x"]])
    one = X[["x"]].assign(same="a", none=pd.Series([None] * 500, dtype="str"))
    np.testing.assert_array_equal(predict_outputs(model.fit(one, y), one), plain)


@pytest.mark.parametrize("encoding", ["auto", "ordered"])
def test_more_categories_than_the_engine_limit_are_fitted(encoding: str, tmp_path: Path) -> None:
    n = 150_000
    rng = np.random.default_rng(0)
    number = rng.permutation(n) // 2
    y = (number % 7 + rng.normal(size=n)).round(3)
    X = np.column_stack([rng.normal(size=n), number])
    model = HistGradientBoostingRegressor(
        max_iter=3, early_stopping=False, categorical_features=[1], category_encoding=encoding,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    assert model.score(X, y) > 0.05
    model.save(tmp_path / "m.arboleda")
    again = arboleda.load(tmp_path / "m.arboleda")
    new = np.array([[0.0, 5.0], [0.0, 1e6], [0.0, np.nan]])
    for table in (X[:100], new):
        np.testing.assert_array_equal(again.predict(table), model.predict(table))
    with pytest.raises(ValueError, match="column 1 of X has 75,000 categories, more than 65,535"):
        clone(model).set_params(category_encoding="native").fit(X, y)


# The same model, whatever the categories are written as


def written_as(kind: str, town: Any) -> Any:
    number = town.str[1:].astype(int)
    if kind == "int":
        return number
    if kind == "negative":
        return -number
    if kind == "float":
        return number / 4
    if kind == "date":
        return [date(2000, 1, 1) + timedelta(int(n)) for n in number]
    if kind == "timestamp":
        return pd.Timestamp("2000-01-01") + pd.to_timedelta(number, unit="D")
    return town


@pytest.mark.parametrize("encoding", ["native", "ordered"])
@pytest.mark.parametrize("kind", ["int", "negative", "float", "date", "timestamp"])
def test_levels_of_every_type_and_order_give_the_same_model(kind: str, encoding: str) -> None:
    X, y = towns(n_towns=60)
    model = HistGradientBoostingClassifier(
        **FEW_ROUNDS, categorical_features=["town"], category_encoding=encoding
    )
    expected = predict_outputs(model.fit(X, y), X)
    other = X.assign(town=written_as(kind, X["town"]))
    assert np.array_equal(predict_outputs(model.fit(other, y), other), expected)


@pytest.mark.parametrize("encoding", ["native", "ordered"])
def test_booleans_are_categories_when_listed(encoding: str) -> None:
    X, y = towns()
    X["town"] = X["town"] < "t0200"
    model = HistGradientBoostingClassifier(**FEW_ROUNDS, category_encoding=encoding)
    named = model.set_params(categorical_features=["town"]).fit(X, y)
    assert named.is_categorical_.tolist() == [False, True]
    assert predict_outputs(named, X).shape == (len(X), 2)


@pytest.mark.parametrize("encoding", ["native", "ordered"])
def test_columns_are_selected_by_name_number_mask_and_type(encoding: str) -> None:
    X, y = towns()
    model = HistGradientBoostingClassifier(**FEW_ROUNDS, category_encoding=encoding)
    expected = predict_outputs(model.fit(X, y), X)
    for columns in (["town"], [1], [False, True], np.array([False, True])):
        model.set_params(categorical_features=columns)
        assert np.array_equal(predict_outputs(model.fit(X, y), X), expected)
        if columns[0] != "town":
            array = X.to_numpy(dtype=object)
            assert np.array_equal(predict_outputs(clone(model).fit(array, y), array), expected)


@pytest.mark.parametrize("encoding", ["native", "ordered"])
def test_every_container_gives_the_same_model(encoding: str) -> None:
    X, y = towns(n_classes=3)
    model = HistGradientBoostingClassifier(**FEW_ROUNDS, category_encoding=encoding)
    expected = pickle.dumps(model.fit(X, y).ensemble_)
    levels = sorted(X["town"].unique())
    mixed = np.random.default_rng(0).permutation(levels).tolist()
    for table in (
        X.astype({"town": "category"}),
        X.assign(town=pd.Categorical(X["town"], categories=mixed)),
        X.assign(town=pd.Categorical(X["town"], categories=[*mixed, "more"], ordered=True)),
        pl.DataFrame({"x": X["x"].to_numpy(), "town": X["town"].to_list()}),
        pl.DataFrame(
            {"x": X["x"].to_numpy(), "town": pl.Series(X["town"].to_list(), dtype=pl.Categorical)}
        ),
        pl.DataFrame(
            {"x": X["x"].to_numpy(), "town": pl.Series(X["town"].to_list(), dtype=pl.Enum(mixed))}
        ),
        pa.table({"x": X["x"].to_numpy(), "town": X["town"].to_list()}),
        pa.table(
            {"x": X["x"].to_numpy(), "town": pa.array(X["town"].to_list()).dictionary_encode()}
        ),
    ):
        model.fit(table, y)
        assert pickle.dumps(model.ensemble_) == expected
        assert np.array_equal(predict_outputs(model, table), predict_outputs(model, X))


# Attributes of a fitted model


@pytest.mark.parametrize("name", MODELS)
def test_threads_and_saving_change_no_byte(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(threads, "count_available_cores", lambda: 8)
    model, n_classes = MODELS[name]
    X, y = towns(n_classes=n_classes)
    one, *others = (clone(model).set_params(n_jobs=n).fit(X, y) for n in (1, 2, 3, 8))
    assert one.statistics_.columns == (1,)
    assert one.statistics_.n_statistics == (3 if n_classes == 3 else 1)
    for other in others:
        assert pickle.dumps(other.ensemble_) == pickle.dumps(one.ensemble_)
        assert np.array_equal(other.statistics_.values[0], one.statistics_.values[0])
    one.save(tmp_path / "m.arboleda")
    X.loc[:5, "town"] = [None, "new", "t0001", "t0002", "", "t0003"]
    for kept in (arboleda.load(tmp_path / "m.arboleda"), pickle.loads(pickle.dumps(one))):
        assert np.array_equal(predict_outputs(kept, X), predict_outputs(one, X))
        assert np.array_equal(kept.feature_importances_, one.feature_importances_)


@pytest.mark.parametrize("name", MODELS)
def test_warm_starts_and_stages_use_the_statistics(name: str) -> None:
    model, n_classes = MODELS[name]
    X, y = towns(n_classes=n_classes)
    rounds = model._rounds_parameter
    whole = clone(model).fit(X, y)
    half = clone(model).set_params(**{rounds: 5}, warm_start=True).fit(X, y)
    kept = half.statistics_
    half.set_params(**{rounds: whole.best_iteration_}).fit(X, y)
    assert pickle.dumps(half.ensemble_) == pickle.dumps(whole.ensemble_)
    assert half.statistics_ is kept
    *_, last = half.staged_predict(X)
    assert np.array_equal(last, whole.predict(X))
    assert whole.apply(X).shape[:2] == (len(X), whole.best_iteration_)


def test_given_validation_rows_are_scored_like_predictions() -> None:
    X, y = towns(n=4000)
    train, test = slice(0, 2000), slice(2000, None)
    model = HistGradientBoostingClassifier(max_iter=10, n_iter_no_change=10, random_state=0)
    model.fit(X[train], y[train], X_val=X[test], y_val=y[test])
    for k, p in enumerate(model.staged_predict_proba(X[test]), start=1):
        np.testing.assert_allclose(
            model.history_["validation_loss"][k], log_loss(y[test], p), rtol=1e-9
        )


@pytest.mark.parametrize("name", MODELS)
def test_importances_refer_to_the_original_columns(name: str) -> None:
    model, n_classes = MODELS[name]
    X, y = towns(n_classes=n_classes)
    found = clone(model).fit(X, y).feature_importances_
    assert found.shape == (2,)
    assert (found > 0.05).all()
    np.testing.assert_allclose(found.sum(), 1.0)


def test_constraints_refer_to_the_original_columns() -> None:
    X, y = towns(n_classes=3)
    X["z"] = np.random.default_rng(1).normal(size=len(X))
    model = HistGradientBoostingClassifier(
        **FEW_ROUNDS, interaction_cst=[{"x", "z"}, {"town"}], min_samples_leaf=5
    ).fit(X, y)
    owners = model.statistics_.owners(3)
    assert owners.tolist() == [0, 1, 2, 1, 1]
    met = [set(owners[tree.feature[tree.feature >= 0]]) for tree in model.ensemble_.trees]
    assert all(columns <= {0, 2} or columns == {1} for columns in met)
    assert {1} in met
    X, y = towns()
    rising = HistGradientBoostingClassifier(**FEW_ROUNDS, monotonic_cst={"x": 1}).fit(X, y)
    high = X.assign(x=X["x"] + 1.0)
    assert (predict_outputs(rising, high)[:, 1] >= predict_outputs(rising, X)[:, 1]).all()
    with pytest.raises(ValueError, match="Categorical features cannot have monotonic"):
        clone(rising).set_params(monotonic_cst={"town": 1}).fit(X, y)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_shape_functions_refer_to_categories(n_classes: int) -> None:
    X, y = towns(n_classes=n_classes)
    X.loc[::50, "town"] = None
    kind = HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor
    model = kind(**FEW_ROUNDS, interaction_cst="no_interactions").fit(X, y)
    shapes = model.shape_functions()
    assert shapes["town"].levels == model.schema_.levels[1]
    raw = model.predict(X) if n_classes == 0 else model.decision_function(X)
    towns_given = [None if value is None or value != value else value for value in X["town"]]
    parts = shapes["x"].at(X["x"]) + shapes["town"].at(towns_given)
    total = np.squeeze(parts + (shapes.intercept if n_classes == 3 else shapes.intercept[0]))
    np.testing.assert_allclose(total, raw, atol=1e-9)


def test_trees_on_statistics_are_not_shown_as_trees_on_columns() -> None:
    X, y = towns()
    model = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(AttributeError, match=r"target statistics of 'town'.*'native'"):
        _ = model.estimators_
    assert model.set_params(category_encoding="native").fit(X, y).estimators_.shape == (3, 1)


@pytest.mark.parametrize("encoding", ["auto", "ordered"])
def test_a_grid_of_fits_matches_the_scores_of_single_fits(encoding: str) -> None:
    X, y = towns(n=1500)
    grid = {"max_iter": [3, 6], "category_encoding": [encoding, "native"]}
    model = HistGradientBoostingClassifier(**FEW_ROUNDS)
    scores = [
        kind(model, grid, cv=2, scoring="neg_log_loss").fit(X, y).cv_results_["mean_test_score"]
        for kind in (GridSearch, GridSearchCV)
    ]
    assert np.array_equal(*scores)
    assert len(set(scores[0])) == 4
