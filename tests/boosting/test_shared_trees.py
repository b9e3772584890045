"""Trees that all outputs share, and several targets: what they learn, refuse and keep."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_regression
from sklearn.metrics import log_loss

import arboleda
from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor, explain

DIGITS = load_digits(return_X_y=True)
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(700, 4))
TARGETS = np.column_stack([X @ [2, -1, 0, 0], np.sin(2 * X[:, 0]), 100 * X[:, 2] + X[:, 0]])


def classifier(**options):
    """A small classifier of shared trees."""
    settings = {"max_iter": 15, "multi_strategy": "multi_output_tree", "random_state": 0}
    return HistGradientBoostingClassifier(**settings | options)


def regressor(**options):
    """A small regressor of shared trees."""
    settings = {"max_iter": 15, "multi_strategy": "multi_output_tree", "random_state": 0}
    return HistGradientBoostingRegressor(**settings | options)


def test_digits_are_learned_by_trees_of_the_same_splits():
    X, y = DIGITS
    model = classifier(max_iter=60).fit(X[:1200], y[:1200])
    assert model.score(X[1200:], y[1200:]) > 0.9
    assert model.n_trees_per_iteration_ == 10
    leaves = model.apply(X[:50])
    assert (leaves == leaves[:, :, :1]).all()
    separate = classifier(max_iter=60, multi_strategy="one_output_per_tree").fit(X, y)
    assert (separate.apply(X[:50]) != separate.apply(X[:50])[:, :, :1]).any()


def test_a_round_is_the_newton_step_of_each_leaf():
    X, y = DIGITS
    model = classifier(max_iter=1, learning_rate=0.3, l2_regularization=2.0).fit(X, y)
    shares = np.bincount(y) / len(y)
    start = np.log(shares) - np.log(shares).mean()
    p = np.exp(start) / np.exp(start).sum()
    leaves = model.apply(X)[:, 0, 0]
    raw = model.decision_function(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        gradient = (p - (y[rows, None] == np.arange(10))).sum(axis=0)
        step = -gradient / (rows.sum() * p * (1 - p) + 2.0)
        assert_allclose(raw[rows], np.tile(start + 0.3 * step, (rows.sum(), 1)), rtol=1e-9)


@pytest.mark.parametrize("sketch", [None, "top", "sampling", "projection"])
def test_sketches_learn_and_do_not_depend_on_threads(sketch):
    X, y = DIGITS
    one, two = (
        classifier(output_sketch=sketch, sketch_dim=4, subsample=0.8, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.score(X, y) > 0.85


def test_two_classes_and_one_target_are_not_changed():
    X, y = DIGITS
    binary = [
        classifier(multi_strategy=strategy).fit(X, y > 4).predict_proba(X)
        for strategy in ("multi_output_tree", "one_output_per_tree")
    ]
    assert_array_equal(*binary)


def test_everything_else_works_with_shared_trees(tmp_path):
    X, y = DIGITS
    frame = pd.DataFrame(X[:, 10:40]).add_prefix("p")
    frame["kind"] = pd.Categorical(np.array(list("abcdefg"))[np.arange(len(y)) % 5 + y % 3])
    frame.loc[::9, "p3"] = np.nan
    labels = np.array([f"digit {i}" for i in y])
    model = classifier(early_stopping=True, class_weight="balanced", sampling="goss")
    model.fit(frame, labels, sample_weight=1.0 + y % 2)
    proba = model.predict_proba(frame)
    assert_allclose(proba.sum(axis=1), 1.0)
    model.save(tmp_path / "model.arboleda")
    assert_array_equal(arboleda.load(tmp_path / "model.arboleda").predict_proba(frame), proba)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(frame), proba)
    staged = list(model.staged_predict_proba(frame[:20]))
    assert_array_equal(staged[-1], proba[:20])
    values = explain.shap_values(model, frame[:10])
    total = values.values.sum(axis=1) + values.base_values
    assert_allclose(total, model.decision_function(frame[:10]), atol=1e-9)


def test_a_fit_that_goes_on_is_that_of_one():
    X, y = DIGITS
    whole = classifier(max_iter=9).fit(X, y)
    parts = classifier(max_iter=4, warm_start=True).fit(X, y)
    parts.set_params(max_iter=9).fit(X, y)
    assert_array_equal(whole.decision_function(X), parts.decision_function(X))


def test_rounds_chosen_automatically_share_trees_of_many_classes():
    X, y = DIGITS
    X, y = X[:900], y[:900]
    options = {"max_iter": "auto", "multi_strategy": "one_output_per_tree"}
    model = classifier(**options).fit(X, y)
    leaves = model.apply(X)
    assert (leaves == leaves[:, :, :1]).all()
    assert log_loss(DIGITS[1][900:], model.predict_proba(DIGITS[0][900:])) < 0.25
    for other in ({"growth": "symmetric", "max_depth": 4}, {"linear_leaves": True}):
        leaves = classifier(**options, **other).fit(X[y < 3], y[y < 3]).apply(X)
        assert (leaves != leaves[:, :, :1]).any()


def test_scores_that_leave_no_curvature_do_not_end_the_fit():
    X = np.repeat(np.arange(3.0), 40).reshape(-1, 1)
    y = np.repeat(np.arange(3), 40)
    model = classifier(max_iter=60, learning_rate=5.0, early_stopping=False).fit(X, y)
    assert_array_equal(model.predict(X), y)
    again = classifier(max_iter=60, learning_rate=5.0, early_stopping=False, warm_start=True)
    assert_array_equal(again.fit(X, y).predict(X), y)


@pytest.mark.parametrize("strategy", ["multi_output_tree", "one_output_per_tree"])
def test_several_targets_are_learned(strategy):
    model = regressor(multi_strategy=strategy, max_iter=150).fit(X[:500], TARGETS[:500])
    predicted = model.predict(X[500:])
    assert predicted.shape == (200, 3)
    assert model.score(X[500:], TARGETS[500:]) > 0.6
    if strategy == "one_output_per_tree":
        for k in range(3):
            single = HistGradientBoostingRegressor(max_iter=150, random_state=0)
            single.fit(X[:500], TARGETS[:500, k])
            assert_array_equal(predicted[:, k], single.predict(X[500:]))


def test_one_shared_round_of_squared_error_is_the_mean_of_each_leaf():
    model = regressor(max_iter=1, learning_rate=1.0).fit(X, TARGETS)
    leaves = model.apply(X)[:, 0, 0]
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        assert_allclose(model.predict(X[rows])[0], TARGETS[rows].mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson", "gamma"])
def test_losses_of_several_targets_are_those_of_each(loss):
    y = np.exp(X[:, :2])
    model = HistGradientBoostingRegressor(loss, max_iter=12).fit(X, y)
    for k in range(2):
        single = HistGradientBoostingRegressor(loss, max_iter=12).fit(X, y[:, k])
        assert_array_equal(model.predict(X)[:, k], single.predict(X))


def test_several_targets_with_early_stopping_weights_and_validation_rows(tmp_path):
    weight = np.arange(700) % 3 * 1.0
    y = pd.DataFrame(TARGETS, columns=["a", "b", "c"])
    model = regressor(max_iter=300, learning_rate=0.3, early_stopping=True)
    model.fit(X, y, sample_weight=weight, X_val=X[:100], y_val=y[:100])
    assert 0 < model.n_iter_ <= 300
    assert model.validation_score_[-1] == -model.history_["validation_loss"][model.n_iter_]
    by_hand = ((TARGETS[:100] - model.predict(X[:100])) ** 2).sum(axis=1).mean() / 2
    assert_allclose(-model.validation_score_[-1], by_hand, rtol=1e-9)
    model.save(tmp_path / "model.arboleda")
    loaded = arboleda.load(tmp_path / "model.arboleda")
    assert_array_equal(loaded.predict(X), model.predict(X))
    for scoring in ("r2", "loss"):
        scored = regressor(max_iter=30, early_stopping=True, scoring=scoring).fit(X, TARGETS)
        assert scored.predict(X).shape == (700, 3)


def test_a_custom_loss_gets_all_targets():
    seen = []

    def squared(y, raw):
        seen.append((y.shape, raw.shape))
        return raw - y, np.ones_like(raw)

    custom = regressor(loss=squared, max_iter=30).fit(X, TARGETS)
    assert set(seen) == {((700, 3), (700, 3))}
    known = regressor(max_iter=30).fit(X, TARGETS - TARGETS.mean(axis=0))
    assert np.corrcoef(custom.predict(X).ravel(), known.predict(X).ravel())[0, 1] > 0.9


def test_many_categories_get_a_statistic_for_each_target():
    shops = np.array([f"shop {i}" for i in range(400)])[RANDOM.integers(0, 400, 700)]
    frame = pd.DataFrame({"x": X[:, 0], "shop": shops})
    model = regressor(max_iter=10, category_encoding="ordered").fit(frame, TARGETS)
    assert len(model.statistics_.values) == 1
    assert model.statistics_.values[0].shape[1] == 3
    assert model.predict(frame).shape == (700, 3)


def test_a_thousand_outputs_are_fitted_by_a_sketch():
    X, y = make_regression(300, 8, n_informative=6, n_targets=1000, random_state=0)
    model = regressor(max_iter=30, output_sketch="projection").fit(X, y)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("sketch", [None, "projection"])
def test_columns_that_may_not_meet_stay_on_separate_paths(sketch):
    """A step is then a sum of one function for each set of columns, whatever the target."""
    model = regressor(
        interaction_cst=[{0, 1}, {2, 3}], max_iter=40, output_sketch=sketch, sketch_dim=2
    ).fit(X, TARGETS)
    corners = np.array([[a, a, b, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    low, right, left, high = model.predict(corners)
    assert_allclose(low + high, left + right, rtol=1e-9, atol=1e-9)
    free = regressor(max_iter=40, output_sketch=sketch, sketch_dim=2).fit(X, TARGETS)
    low, right, left, high = free.predict(corners)
    assert np.abs(low + high - left - right).max() > 0.1


def test_a_wide_table_has_the_same_bits_on_any_number_of_threads():
    """Its histograms are made block by block of columns."""
    random = np.random.default_rng(1)
    wide = random.normal(size=(500, 90))
    wide[:, 50:] *= random.random((500, 40)) < 0.3
    targets = wide @ random.normal(size=(90, 30))
    one, two = (regressor(max_iter=3, n_jobs=n).fit(wide, targets) for n in (1, 2))
    assert_array_equal(one.predict(wide), two.predict(wide))
    assert one.score(wide, targets) > 0.05


def test_predictions_are_sums_of_the_leaves_of_every_tree():
    """Batches and single rows walk once a round; the trees are those of every output."""
    model = regressor(max_iter=9).fit(X, TARGETS)
    by_hand = np.tile(model.ensemble_.start, (700, 1))
    leaves = model.apply(X)
    for t, tree in enumerate(model.ensemble_.trees):
        by_hand[:, t % 3] += tree.value.ravel()[leaves[:, t // 3, t % 3]]
    assert_array_equal(model.predict(X), by_hand)
    assert_array_equal(model.predict(X[:1]), by_hand[:1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"growth": "symmetric"}, "does not support growth='symmetric'"),
        ({"linear_leaves": True}, "does not support linear_leaves=True"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "does not support monotonic_cst"),
        ({"loss": "absolute_error"}, "loss='absolute_error' does not have"),
        ({"loss": "quantile", "quantile": 0.5}, "loss='quantile' supports a single target"),
        ({"output_sketch": "some"}, "output_sketch"),
        ({"sketch_dim": 0}, "sketch_dim"),
        ({"multi_strategy": "both"}, "multi_strategy"),
    ],
)
def test_what_is_not_supported_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        regressor(**options).fit(X, TARGETS)


def test_targets_are_checked():
    with pytest.raises(ValueError, match="y has 3 targets, and y_val 2: give as many"):
        regressor().fit(X, TARGETS, X_val=X, y_val=TARGETS[:, :2])
    with pytest.raises(ValueError, match="output 1 of y is -"):
        regressor(loss="poisson").fit(X, np.abs(TARGETS) * [1, -1, 1])
    with pytest.raises(ValueError, match="row 3"):
        regressor().fit(X, np.where(np.arange(700)[:, None] == 3, np.nan, TARGETS))
