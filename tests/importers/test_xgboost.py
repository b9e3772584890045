"""Models of XGBoost as ours: the same raw scores up to single precision, for every objective."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.importers.peers import classes, float32_bound, mixed_frame, signal

import arboleda
from arboleda import ModelFormatError, from_xgboost

xgb = pytest.importorskip("xgboost")

FRAME = mixed_frame()
NUMBERS = FRAME.select_dtypes("float")
Y = signal(FRAME)


def train(X: Any, y: Any, n_rounds: int = 12, **parameters: Any) -> tuple[Any, Any]:
    """Booster and rows."""
    rows = xgb.DMatrix(X, y, enable_categorical=True)
    common = {"nthread": 1, "max_depth": 5, "seed": 0, "max_bin": 64}
    return xgb.train(common | parameters, rows, n_rounds), rows


def check(booster: Any, rows: Any, X: Any, **options: Any) -> Any:
    """Ours, whose raw scores are the booster's."""
    model = from_xgboost(booster, **options)
    raw = model._raw_scores(X)
    theirs = booster.predict(rows, output_margin=True).reshape(raw.shape)
    assert np.abs(raw - theirs).max() <= float32_bound(model)
    assert np.ptp(raw) > 0.0
    return model


@pytest.mark.parametrize(
    ("objective", "y", "options"),
    [
        ("reg:squarederror", Y, {}),
        ("reg:squaredlogerror", np.exp(Y / 3), {}),
        ("reg:pseudohubererror", Y, {"huber_slope": 2.0}),
        ("reg:absoluteerror", Y, {}),
        ("reg:quantileerror", Y, {"quantile_alpha": 0.3}),
        ("reg:gamma", np.exp(Y / 3), {}),
        ("reg:tweedie", np.exp(Y / 3), {"tweedie_variance_power": 1.3}),
        ("count:poisson", np.floor(np.exp(Y / 3)), {}),
        ("survival:cox", np.exp(Y / 3), {}),
        ("rank:pairwise", classes(FRAME, 4), {}),
    ],
)
def test_regression_objectives_are_imported(
    objective: str, y: Any, options: dict[str, Any]
) -> None:
    booster, rows = train(FRAME, y, objective=objective, **options)
    model = check(booster, rows, FRAME)
    np.testing.assert_allclose(model.predict(FRAME), booster.predict(rows), rtol=2e-5, atol=2e-5)


def test_survival_models_are_imported() -> None:
    rows = xgb.DMatrix(FRAME, enable_categorical=True)
    rows.set_float_info("label_lower_bound", np.exp(Y / 3))
    rows.set_float_info("label_upper_bound", np.where(Y > 1, np.inf, np.exp(Y / 3)))
    booster = xgb.train({"objective": "survival:aft", "nthread": 1}, rows, 5)
    model = check(booster, rows, FRAME)
    np.testing.assert_allclose(model.predict(FRAME), booster.predict(rows), rtol=2e-5)


@pytest.mark.parametrize("objective", ["binary:logistic", "binary:logitraw"])
def test_two_classes_are_imported(objective: str) -> None:
    booster, rows = train(FRAME, classes(FRAME, 2), objective=objective)
    model = check(booster, rows, FRAME)
    if objective == "binary:logistic":
        shares = model.predict_proba(FRAME)[:, 1]
        np.testing.assert_allclose(shares, booster.predict(rows), atol=1e-6)


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_several_classes_are_imported(objective: str) -> None:
    booster, rows = train(FRAME, classes(FRAME, 4), objective=objective, num_class=4)
    model = check(booster, rows, FRAME, classes=list("dcba"))
    expected = booster.predict(rows)
    found = model.predict(FRAME)
    numbers = expected if expected.ndim == 1 else expected.argmax(axis=1)
    assert (found == np.array(list("dcba"))[numbers.astype(int)]).mean() > 0.995


def test_quantiles_are_put_in_order() -> None:
    levels = [0.9, 0.1, 0.5]
    booster, rows = train(FRAME, Y, objective="reg:quantileerror", quantile_alpha=levels)
    model = check(booster, rows, FRAME)
    expected = np.sort(booster.predict(rows), axis=1)[:, [2, 0, 1]]
    np.testing.assert_allclose(model.predict(FRAME), expected, atol=2e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"booster": "dart", "rate_drop": 0.3},
        {"num_parallel_tree": 4, "subsample": 0.5, "eta": 1.0},
        {"grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0},
        {"tree_method": "exact"},
        {"tree_method": "approx", "gamma": 1.0},
        {"max_cat_to_onehot": 100},
        {"max_cat_to_onehot": 1},
        {"base_score": 3.5},
        {"min_child_weight": 0.0, "lambda": 0.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_all_growth_policies_are_imported(options: dict[str, Any], n_classes: int) -> None:
    objective = {"objective": "multi:softprob", "num_class": 3} if n_classes else {}
    if n_classes and "base_score" in options:
        options = {"base_score": 0.2}
    X = NUMBERS if options.get("tree_method") == "exact" else FRAME
    y = classes(FRAME, 3) if n_classes else Y
    booster, rows = train(X, y, n_rounds=6, **objective, **options)
    check(booster, rows, X)


TARGETS = np.c_[Y, -(Y**2), np.sin(Y)]
LABELS = (TARGETS > [0.0, -1.0, 0.5]).astype(int)


@pytest.mark.parametrize("multi_strategy", ["one_output_per_tree", "multi_output_tree"])
@pytest.mark.parametrize(
    ("objective", "y", "options"),
    [
        ("multi:softprob", classes(FRAME, 4), {"num_class": 4}),
        ("multi:softmax", classes(FRAME, 4), {"num_class": 4}),
        ("reg:squarederror", TARGETS, {}),
        ("reg:squarederror", TARGETS, {"num_parallel_tree": 3, "subsample": 0.5, "eta": 1.0}),
        ("reg:squarederror", TARGETS, {"grow_policy": "lossguide", "max_leaves": 9}),
        ("reg:squarederror", TARGETS, {"gamma": 20.0, "base_score": 2.5}),
        ("reg:absoluteerror", TARGETS, {}),
        ("reg:pseudohubererror", TARGETS, {}),
        ("count:poisson", np.exp(TARGETS / 20), {}),
        ("reg:tweedie", np.exp(TARGETS / 20), {"tweedie_variance_power": 1.3}),
        ("reg:quantileerror", Y, {"quantile_alpha": [0.1, 0.5, 0.9]}),
    ],
)
def test_several_outputs_are_imported(
    objective: str, y: Any, options: dict[str, Any], multi_strategy: str
) -> None:
    booster, rows = train(NUMBERS, y, objective=objective, multi_strategy=multi_strategy, **options)
    model = check(booster, rows, NUMBERS)
    if y is not Y and objective != "multi:softmax":
        ours = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        np.testing.assert_allclose(ours(NUMBERS), booster.predict(rows), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("multi_strategy", ["one_output_per_tree", "multi_output_tree"])
@pytest.mark.parametrize(
    "options",
    [
        {"objective": "binary:logistic"},
        {"objective": "binary:logitraw"},
        {"objective": "binary:logistic", "base_score": 0.2, "gamma": 2.0},
        {"objective": "binary:logistic", "num_parallel_tree": 3, "subsample": 0.5, "eta": 1.0},
        {"objective": "binary:logistic", "scale_pos_weight": 3.0, "grow_policy": "lossguide"},
    ],
    ids=str,
)
def test_several_labels_are_imported(options: dict[str, Any], multi_strategy: str) -> None:
    booster, rows = train(NUMBERS, LABELS, multi_strategy=multi_strategy, **options)
    model = check(booster, rows, NUMBERS)
    if options["objective"] == "binary:logistic":
        theirs = booster.predict(rows)
        ours = np.column_stack([of_label[:, 1] for of_label in model.predict_proba(NUMBERS)])
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
        assert np.array_equal(model.predict(NUMBERS), (model._raw_scores(NUMBERS) > 0).astype(int))


def test_estimators_of_several_labels_are_imported() -> None:
    options = {"n_estimators": 5, "enable_categorical": True, "n_jobs": 1}
    theirs = xgb.XGBClassifier(**options).fit(FRAME, LABELS)
    ours = from_xgboost(theirs)
    assert [known.tolist() for known in ours.classes_] == [[0, 1]] * 3
    assert np.array_equal(ours.predict(FRAME), theirs.predict(FRAME))


def test_strategies_may_change_during_training() -> None:
    class Alternate(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            strategies = ("one_output_per_tree", "multi_output_tree")
            model.set_param({"multi_strategy": strategies[epoch % 2]})
            return False

    rows = xgb.DMatrix(NUMBERS, TARGETS)
    booster = xgb.train({"nthread": 1}, rows, 6, callbacks=[Alternate()])
    check(booster, rows, NUMBERS)


def test_a_model_without_trees_predicts_its_base_score() -> None:
    booster, rows = train(NUMBERS, Y, n_rounds=0)
    model = from_xgboost(booster)
    np.testing.assert_allclose(model.predict(NUMBERS), booster.predict(rows), rtol=1e-6)


def test_thresholds_compare_after_rounding_to_float32() -> None:
    """Values very close to each threshold go where XGBoost sends them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 1))
    booster, _ = train(X, np.sin(5 * X[:, 0]), n_rounds=3)
    model = from_xgboost(booster)
    thresholds = np.concatenate([tree.threshold for tree in model.ensemble_.trees])
    near = np.concatenate([thresholds, np.nextafter(thresholds, 9), np.nextafter(thresholds, -9)])
    near = np.concatenate([near, thresholds * (1 + 4e-8), thresholds * (1 - 4e-8)])[:, np.newaxis]
    theirs = booster.predict(xgb.DMatrix(near), output_margin=True)
    assert np.abs(model.predict(near) - theirs).max() < float32_bound(model)
    single = near.astype(np.float32)
    theirs = booster.predict(xgb.DMatrix(single), output_margin=True)
    assert np.abs(model.predict(single) - theirs).max() < float32_bound(model)


def test_estimators_keep_their_classes() -> None:
    y = classes(FRAME, 3)
    options = {"n_estimators": 5, "enable_categorical": True, "n_jobs": 1}
    theirs = xgb.XGBClassifier(**options).fit(FRAME, y)
    ours = from_xgboost(theirs)
    np.testing.assert_allclose(ours.predict_proba(FRAME), theirs.predict_proba(FRAME), atol=1e-6)
    assert ours.classes_.tolist() == [0, 1, 2]
    assert ours.get_params()["max_iter"] == 5
    forest = xgb.XGBRFRegressor(**options, max_depth=4).fit(FRAME, Y)
    np.testing.assert_allclose(
        from_xgboost(forest).predict(FRAME), forest.predict(FRAME), atol=1e-5
    )


def test_early_stopping_imports_the_rounds_used_by_predict(tmp_path: Any) -> None:
    options = {"n_estimators": 60, "early_stopping_rounds": 2, "n_jobs": 1, "learning_rate": 0.8}
    random = np.random.default_rng(0)
    theirs = xgb.XGBRegressor(**options).fit(
        NUMBERS, Y, eval_set=[(NUMBERS[::-1], Y[::-1] + random.normal(size=Y.size))], verbose=False
    )
    path = tmp_path / "model.json"
    theirs.save_model(path)
    for model in (from_xgboost(theirs), from_xgboost(path)):
        assert (
            model.n_iter_ == theirs.best_iteration + 1 < theirs.get_booster().num_boosted_rounds()
        )
        np.testing.assert_allclose(model.predict(NUMBERS), theirs.predict(NUMBERS), atol=1e-5)
    every = from_xgboost(theirs.get_booster())
    assert every.n_iter_ == theirs.get_booster().num_boosted_rounds()


@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_files_and_the_booster_give_the_same_model(suffix: str, tmp_path: Any) -> None:
    booster, _ = train(FRAME, classes(FRAME, 3), objective="multi:softprob", num_class=3)
    path = tmp_path / f"model.{suffix}"
    booster.save_model(path)
    found = from_xgboost(path)._raw_scores(FRAME)
    assert np.array_equal(found, from_xgboost(booster)._raw_scores(FRAME))


def test_categories_of_arrays_must_be_given() -> None:
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=300), random.integers(0, 9, 300)])
    X[::7, 1] = np.nan
    y = X[:, 0] + (X[:, 1] % 2 == 1)
    rows = xgb.DMatrix(X, y, feature_types=["q", "c"], enable_categorical=True)
    booster = xgb.train({"max_depth": 3, "nthread": 1, "max_cat_to_onehot": 1}, rows, 5)
    with pytest.raises(ValueError, match=r"give categories=\{1: \[\.\.\.\]\}"):
        from_xgboost(booster)
    check(booster, rows, X, categories={1: range(9)})


def test_shap_values_use_the_cover_of_nodes() -> None:
    """XGBoost's expected score is the mean of the leaves by cover, and so is that of our roots."""
    booster, rows = train(FRAME, Y)
    model = from_xgboost(booster)
    expected = sum(tree.value_rows[0, 0] for tree in model.ensemble_.trees) + model.ensemble_.start
    theirs = booster.predict(rows, pred_contribs=True)[:, -1]
    np.testing.assert_allclose(theirs, expected[0], rtol=1e-5)


def test_a_saved_model_predicts_bit_by_bit(tmp_path: Any) -> None:
    booster, _ = train(FRAME, classes(FRAME, 2), objective="binary:logistic")
    model = from_xgboost(booster)
    model.save(tmp_path / "model.arboleda")
    again = arboleda.load(tmp_path / "model.arboleda")
    assert np.array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    frame = pd.DataFrame(FRAME).sample(frac=1.0, axis=1, random_state=0)  # columns by name
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(FRAME))


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"objective": "binary:hinge"}, classes(FRAME, 2), "'binary:hinge' has no counterpart"),
        ({"objective": "reg:logistic"}, classes(FRAME, 2), "no logistic link"),
        ({"objective": "multi:softprob", "num_class": 2}, classes(FRAME, 2), "binary:logistic"),
    ],
)
def test_unsupported_models_are_refused(options: dict[str, Any], y: Any, message: str) -> None:
    booster, _ = train(NUMBERS, y, n_rounds=2, **options)
    with pytest.raises(ModelFormatError, match=message):
        from_xgboost(booster)


def test_linear_boosters_are_refused() -> None:
    booster = xgb.train({"booster": "gblinear", "nthread": 1}, xgb.DMatrix(NUMBERS, Y), 2)
    with pytest.raises(ModelFormatError, match="its booster is 'gblinear'"):
        from_xgboost(booster)


def test_another_missing_value_marker_is_refused() -> None:
    model = xgb.XGBRegressor(n_estimators=2, missing=-999.0, n_jobs=1).fit(NUMBERS, Y)
    with pytest.raises(ValueError, match="uses -999.0 as the missing value"):
        from_xgboost(model)
