"""Models of LightGBM as ours: the same raw scores, bit by bit, for every objective."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.importers.peers import classes, mixed_frame, signal

import arboleda
from arboleda import ModelFormatError, from_lightgbm

lgb = pytest.importorskip("lightgbm")

FRAME = mixed_frame()
NUMBERS = FRAME.select_dtypes("float")
Y = signal(FRAME)


def train(X: Any, y: Any, n_rounds: int = 12, group: Any = None, **parameters: Any) -> Any:
    common = {"num_threads": 1, "num_leaves": 12, "verbose": -1, "seed": 0, "min_data_in_leaf": 5}
    common |= {"cat_smooth": 1, "cat_l2": 1, "min_data_per_group": 5}
    return lgb.train(common | parameters, lgb.Dataset(X, y, group=group), n_rounds)


def check(booster: Any, X: Any, **options: Any) -> Any:
    """Ours, whose raw scores are the booster's."""
    model = from_lightgbm(booster, **options)
    raw = model._raw_scores(X)
    theirs = booster.predict(X, raw_score=True)
    assert np.array_equal(raw, theirs.reshape(raw.shape))
    assert np.ptp(raw) > 0.0
    return model


@pytest.mark.parametrize(
    ("objective", "y"),
    [
        ("regression", Y),
        ("regression_l1", Y),
        ("huber", Y),
        ("fair", Y),
        ("quantile", Y),
        ("mape", Y + 20),
        ("poisson", np.floor(np.exp(Y / 3))),
        ("gamma", np.exp(Y / 3)),
        ("tweedie", np.exp(Y / 3)),
        ("lambdarank", classes(FRAME, 4)),
        ("rank_xendcg", classes(FRAME, 4)),
    ],
)
def test_regression_objectives_are_imported(objective: str, y: Any) -> None:
    group = [200, 400] if "rank" in objective else None
    booster = train(FRAME, y, objective=objective, group=group)
    model = check(booster, FRAME)
    np.testing.assert_allclose(model.predict(FRAME), booster.predict(FRAME), rtol=1e-14)


def test_a_custom_loss_gives_raw_scores() -> None:
    booster = train(FRAME, Y, objective=lambda raw, data: (raw - Y, np.ones_like(Y)))
    assert np.array_equal(from_lightgbm(booster).predict(FRAME), booster.predict(FRAME))


@pytest.mark.parametrize("sigmoid", [1.0, 2.0, 0.7])
def test_two_classes_are_imported(sigmoid: float) -> None:
    booster = train(FRAME, classes(FRAME, 2), objective="binary", sigmoid=sigmoid)
    model = from_lightgbm(booster, classes=["no", "yes"])
    shares = model.predict_proba(FRAME)[:, 1]
    np.testing.assert_allclose(shares, booster.predict(FRAME), rtol=1e-13)
    raw = booster.predict(FRAME, raw_score=True)
    np.testing.assert_allclose(model.decision_function(FRAME), sigmoid * raw, rtol=1e-13)
    assert model.classes_.tolist() == ["no", "yes"]


def test_several_classes_are_imported() -> None:
    booster = train(FRAME, classes(FRAME, 4), objective="multiclass", num_class=4)
    model = check(booster, FRAME)
    np.testing.assert_allclose(model.predict_proba(FRAME), booster.predict(FRAME), rtol=1e-13)


@pytest.mark.parametrize(
    "options",
    [
        {"boosting": "dart"},
        {"data_sample_strategy": "goss"},
        {"max_cat_to_onehot": 50},
        {"extra_trees": True},
        {"use_missing": False},
        {"boost_from_average": False},
        {"num_leaves": 2},
    ],
    ids=str,
)
def test_all_growth_policies_are_imported(options: dict[str, Any]) -> None:
    check(train(FRAME, Y, **options), FRAME)
    check(train(FRAME, classes(FRAME, 3), objective="multiclass", num_class=3, **options), FRAME)


def test_a_random_forest_predicts_the_mean() -> None:
    options = {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}
    booster = train(FRAME, Y, **options)
    np.testing.assert_allclose(from_lightgbm(booster).predict(FRAME), booster.predict(FRAME))
    booster = train(FRAME, classes(FRAME, 2), objective="binary", **options)
    shares = from_lightgbm(booster).predict_proba(FRAME)[:, 1]
    np.testing.assert_allclose(shares, booster.predict(FRAME))


def test_values_missing_only_at_prediction_are_routed_alike() -> None:
    """NaN counts as 0 in columns without NaN in training, and has its own side in others."""
    table = np.random.default_rng(1).normal(size=(400, 3)) + 0.3
    table[::5, 1] = np.nan
    booster = train(table, np.nan_to_num(table[:, 1], nan=2.0) + np.abs(table[:, 0]))
    model = check(booster, table)
    assert model.missing_columns_.tolist() == [1]
    holes = table.copy()
    holes[::2] = np.nan
    holes[::3, 0] = 0.0
    assert np.array_equal(model.predict(holes), booster.predict(holes))


def test_zeros_can_count_as_missing() -> None:
    """They are read if thresholds are equivalent, and refused if they are not."""
    random = np.random.default_rng(0)
    above = random.uniform(0.5, 2.0, size=(300, 2))
    above[::4] = 0.0
    y = above[:, 0] + (above[:, 1] > 1)
    check(train(above, y, zero_as_missing=True, num_leaves=4, n_rounds=3), above)
    about = random.normal(size=(300, 1))
    about[::3] = 0.0
    y = np.where(about[:, 0] == 0.0, 5.0, about[:, 0])
    with pytest.raises(ModelFormatError, match="zeros count as missing"):
        from_lightgbm(train(about, y, zero_as_missing=True))


def test_estimators_keep_their_classes() -> None:
    labels = np.array(["low", "middle", "high"])[classes(FRAME, 3)]
    theirs = lgb.LGBMClassifier(n_estimators=5, num_leaves=6, n_jobs=1, verbose=-1)
    theirs.fit(FRAME, labels)
    ours = from_lightgbm(theirs)
    assert ours.classes_.tolist() == ["high", "low", "middle"]
    assert np.array_equal(ours.predict(FRAME), theirs.predict(FRAME))
    np.testing.assert_allclose(ours.predict_proba(FRAME), theirs.predict_proba(FRAME), rtol=1e-13)


def test_early_stopping_imports_the_rounds_used_by_predict() -> None:
    theirs = lgb.LGBMRegressor(n_estimators=80, learning_rate=0.7, n_jobs=1, verbose=-1)
    noisy = Y + np.random.default_rng(0).normal(size=Y.size)
    theirs.fit(
        FRAME, Y, eval_X=FRAME, eval_y=noisy, callbacks=[lgb.early_stopping(2, verbose=False)]
    )
    model = from_lightgbm(theirs)
    assert model.n_iter_ == theirs.best_iteration_ < 80
    assert np.array_equal(model.predict(FRAME), theirs.predict(FRAME))


def test_integers_can_be_categories() -> None:
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=400), random.integers(0, 40, 400)])
    X[::9, 1] = np.nan
    y = X[:, 0] + (X[:, 1] % 3 == 1)
    common = {"num_threads": 1, "verbose": -1, "min_data_per_group": 2, "min_data_in_leaf": 3}
    booster = lgb.train(common, lgb.Dataset(X, y, categorical_feature=[1]), 8)
    model = check(booster, X)
    assert model.schema_.levels[1] == tuple(range(40))
    unseen = X.copy()
    unseen[::2, 1] = 77
    assert np.array_equal(model.predict(unseen), booster.predict(unseen))


def test_names_with_blanks_are_matched() -> None:
    frame = FRAME.rename(columns={"plain": "plain number"})
    booster = train(frame, Y)
    assert from_lightgbm(booster).feature_names_in_[0] == "plain_number"
    model = from_lightgbm(booster, feature_names=list(frame))
    assert np.array_equal(model.predict(frame), booster.predict(frame))


def test_a_file_and_its_booster_give_the_same_model(tmp_path: Any) -> None:
    booster = train(FRAME, classes(FRAME, 3), objective="multiclass", num_class=3)
    booster.save_model(tmp_path / "model.txt")
    found = from_lightgbm(tmp_path / "model.txt")._raw_scores(FRAME)
    assert np.array_equal(found, from_lightgbm(booster)._raw_scores(FRAME))


def test_shap_values_use_the_row_counts_of_nodes() -> None:
    booster = train(FRAME, Y)
    model = from_lightgbm(booster)
    expected = sum(tree.value_rows[0, 0] for tree in model.ensemble_.trees)
    theirs = booster.predict(FRAME, pred_contrib=True)[:, -1]
    np.testing.assert_allclose(theirs, expected, rtol=1e-12)


def test_a_saved_model_predicts_bit_by_bit(tmp_path: Any) -> None:
    model = from_lightgbm(train(FRAME, classes(FRAME, 2), objective="binary"))
    model.save(tmp_path / "model.arboleda")
    again = arboleda.load(tmp_path / "model.arboleda")
    frame = pd.DataFrame(FRAME).sample(frac=1.0, axis=1, random_state=0)  # columns by name
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(FRAME))


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"linear_tree": True}, Y, "leaves are linear"),
        ({"reg_sqrt": True}, Y, "reg_sqrt=True"),
        ({"objective": "cross_entropy"}, classes(FRAME, 2), "'cross_entropy' has no counterpart"),
        ({"objective": "cross_entropy_lambda"}, classes(FRAME, 2), "no such link"),
        ({"objective": "multiclassova", "num_class": 3}, classes(FRAME, 3), "do not sum to 1"),
        ({"objective": "multiclass", "num_class": 2}, classes(FRAME, 2), "fit with binary"),
    ],
)
def test_unsupported_models_are_refused(options: dict[str, Any], y: Any, message: str) -> None:
    booster = train(NUMBERS, y, n_rounds=2, **options)
    with pytest.raises(ModelFormatError, match=message):
        from_lightgbm(booster)
