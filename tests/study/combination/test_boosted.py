"""The second layer: trees that learn from the predictions of the first."""

import json

import numpy as np
import pytest
from sklearn.metrics import log_loss

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.study.artifacts.combined_file import deserialize_combined, serialize_combined
from arboleda.study.combination import boosted, methods
from arboleda.study.combination.boosted import BoostedRule, fit_boosted_rule, make_columns
from arboleda.study.combination.methods import METHODS
from arboleda.study.combination.rules import MeanRule

METHOD = next(method for method in METHODS if method.key == "boosted_stacking")
HALF = MeanRule((0.5, 0.5))


def two_clues(n: int, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Make two members that predict one bit each; the class is whether the bits differ.

    No mean of their outputs predicts it, and trees of two splits do. Further classes are
    predicted correctly by both members.
    """
    draw = np.random.default_rng(seed)
    bits = draw.integers(0, 2, (2, n))
    y = bits[0] ^ bits[1]
    more = draw.random(n) < 0.5 if n_classes > 2 else np.zeros(n, dtype=bool)
    y = np.where(more, draw.integers(2, max(3, n_classes), n), y)
    second = np.where(bits == 1, 0.7, 0.3) + draw.uniform(-0.1, 0.1, (2, n))
    outputs = np.zeros((2, n, n_classes))
    outputs[:, :, 0], outputs[:, :, 1] = 1.0 - second, second
    outputs[:, more] = 0.0
    outputs[:, more, y[more]] = 1.0
    return outputs, y


def values(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Make a target that is the product of the outputs of two members, each around 100."""
    predicted = np.random.default_rng(seed).uniform(-1.0, 1.0, (2, n))
    return 100.0 + predicted, 100.0 + 5.0 * predicted[0] * predicted[1]


@pytest.mark.parametrize("n", [1_200, 180_000], ids=["by folds", "by held-out rows"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_boosted_trees_find_interactions_that_a_mean_misses(n: int, n_classes: int) -> None:
    outputs, y = two_clues(n, n_classes)
    rule = fit_boosted_rule(HALF, outputs[:, : n // 2], y[: n // 2], 0)
    others, target = outputs[:, n // 2 :], y[n // 2 :]
    predicted = rule(others)
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)
    assert log_loss(target, predicted) < 0.75 * log_loss(target, HALF(others))
    # With enough rows the mean gets no weight.
    assert rule.share == (0.5 if n == 1_200 else 1.0)
    assert sum(rule.shares(2)) == pytest.approx(1.0)


@pytest.mark.parametrize("n", [1_200, 180_000])
def test_boosted_trees_learn_the_residuals_of_the_mean(n: int) -> None:
    outputs, y = values(n)
    rule = fit_boosted_rule(HALF, outputs[:, : n // 2], y[: n // 2], 0)
    others, target = outputs[:, n // 2 :], y[n // 2 :]
    before, after = (np.sqrt(np.mean((r(others) - target) ** 2)) for r in (HALF, rule))
    assert after < 0.65 * before
    assert len(rule.shares(2)) == 2


def test_the_unit_of_the_values_does_not_matter() -> None:
    outputs, y = values(1_000)
    rule = fit_boosted_rule(HALF, outputs, y, 0)
    small = fit_boosted_rule(HALF, outputs * 2.0**-20, y * 2.0**-20, 0)
    assert small.model.n_iter_ == rule.model.n_iter_ > 50
    np.testing.assert_allclose(small(outputs * 2.0**-20), rule(outputs) * 2.0**-20, rtol=1e-9)


def test_the_mean_of_values_shares_its_weight_among_members() -> None:
    outputs, y = values(1_000)
    mean = MeanRule((0.75, 0.25))
    shares = fit_boosted_rule(mean, outputs, y, 0).shares(2)
    assert sum(shares) == pytest.approx(1.0)
    # The product needs both members alike; the mean does not.
    assert shares[0] > shares[1]


@pytest.mark.parametrize(
    ("sizes", "can"),
    [
        ((2, 199, 2), False),
        ((2, 200, 2), True),
        ((24, 16_000, 26), True),
        ((18, 50_000, 100), False),  # it would learn from 869 of the rows
        ((18, 800, 100), True),
    ],
)
def test_it_is_tried_on_suitable_table_sizes(sizes: tuple[int, int, int], can: bool) -> None:
    assert METHOD.suits(*sizes) == can


def test_the_share_is_zero_where_trees_learn_nothing() -> None:
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 80_000)
    p = np.clip(0.5 + 0.3 * (2 * y - 1) * draw.random((2, 80_000)), 0.01, 0.99)
    # The mean is the very model that made the outputs: nothing can be added.
    logit = np.log(p / (1 - p))
    truth = draw.random(80_000) < 1 / (1 + np.exp(-logit.mean(axis=0)))
    outputs = np.stack([1 - p, p], axis=2)
    rule = fit_boosted_rule(HALF, outputs, truth.astype(int), 0)
    predicted, mean = rule(outputs), HALF(outputs)
    assert log_loss(truth, predicted) < log_loss(truth, mean) + 1e-3


def test_predictions_match_the_definition_of_the_rule() -> None:
    outputs, y = two_clues(400)
    rule = fit_boosted_rule(HALF, outputs, y, 0)
    logs = np.log(np.clip(outputs, 1e-6, 1))
    trees = rule.model.predict_proba((logs[:, :, 1] - logs[:, :, 0]).T)
    np.testing.assert_allclose(rule(outputs), 0.5 * outputs.mean(axis=0) + 0.5 * trees)
    some = np.array([7, 300])
    assert np.array_equal(rule(outputs)[some], rule(outputs[:, some]))
    again = fit_boosted_rule(HALF, outputs, y, 0)
    assert np.array_equal(rule(outputs), again(outputs))


def test_meta_columns_of_classes_and_values_match() -> None:
    p = np.array([[[0.2, 0.8], [0.0, 1.0]]])
    np.testing.assert_allclose(make_columns(p, p[0])[:, 0], [np.log(4), np.log(1e6)])
    three = np.random.default_rng(0).dirichlet(np.ones(3), (2, 5))
    found = make_columns(three, three[0])
    assert found.shape == (5, 6)
    np.testing.assert_allclose(found[:, 4], np.log(three[1, :, 1]))
    predicted = np.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_allclose(
        make_columns(predicted, np.array([2.0, 2.0])), [[-1, 1, 2], [0, 3, 2]]
    )


@pytest.mark.parametrize("n", [400, 70_000])
def test_an_unlearned_class_has_no_probability(n: int) -> None:
    outputs, y = two_clues(n)
    wide = np.concatenate([outputs, np.zeros((2, n, 1))], axis=2)
    predicted = fit_boosted_rule(HALF, wide, y, 0)(wide)
    assert predicted.shape == (n, 3)
    assert not predicted[:, 2].any()
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)


def test_a_class_of_one_row_is_learned_and_not_held_out() -> None:
    outputs, y = two_clues(30_000, 4)
    y[y == 3] = 2
    # The rows held out are the first of the shuffled ones.
    shuffled = np.random.default_rng([0, 30_000]).permutation(30_000)
    for place in (shuffled[0], shuffled[-1]):
        rare = y.copy()
        rare[place] = 3
        rule = fit_boosted_rule(HALF, outputs, rare, 0)
        assert rule.model.classes_.tolist() == [0, 1, 2, 3]
        np.testing.assert_allclose(rule(outputs).sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_classes_of_one_row_leave_no_holdout() -> None:
    y = np.arange(200)
    outputs = np.stack([np.eye(200), np.full((200, 200), 1 / 200)])
    rule = fit_boosted_rule(HALF, outputs, y, 0)
    assert rule.share == 0.5
    np.testing.assert_allclose(rule(outputs).sum(axis=1), 1.0)


def test_too_large_tables_are_subsampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boosted, "MOST_CELLS", 30_000)
    outputs, y = two_clues(5_000)
    most = boosted.estimate_boosting_seconds(2, 30_000 // 42, 2)
    assert boosted.estimate_boosting_seconds(2, 5_000, 2) == most
    rule = fit_boosted_rule(HALF, outputs, y, 0)
    assert log_loss(y, rule(outputs)) < log_loss(y, HALF(outputs))


def test_the_estimated_seconds_grow_with_the_table() -> None:
    few, *more = (
        boosted.estimate_boosting_seconds(*sizes)
        for sizes in ((4, 500, 2), (8, 500, 2), (4, 900, 2), (4, 500, 5))
    )
    assert all(few < seconds for seconds in more)
    assert boosted.estimate_boosting_seconds(4, 500, 0) == few


def test_the_first_time_windows_use_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs, y = two_clues(methods.LEAST_ROWS // 2)
    assert isinstance(METHOD.fit(outputs, y, 0), BoostedRule)
    few = METHOD.fit(outputs[:, :-1], y[:-1], 0)
    assert isinstance(few, MeanRule)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_it_is_saved_and_loaded(n_classes: int) -> None:
    outputs, y = two_clues(400, n_classes) if n_classes else values(400)
    rule = fit_boosted_rule(HALF, outputs, y, 0)
    content = serialize_combined([("one", ["a"]), ("two", ["b"])], rule, 3, n_classes)
    found = deserialize_combined(content, lambda key: None).rule
    assert isinstance(found, BoostedRule)
    assert np.array_equal(found(outputs), rule(outputs))


def _stored(n_classes: int = 2) -> dict:
    outputs, y = two_clues(400, n_classes)
    members = [("one", ["a"]), ("two", ["b"])]
    return json.loads(
        serialize_combined(members, fit_boosted_rule(HALF, outputs, y, 0), 3, n_classes)
    )


def _other_trees(model: object) -> str:
    rule = BoostedRule(HALF, model, 0.5)  # type: ignore[arg-type]
    return json.loads(serialize_combined([("one", ["a"])], rule, 1, 2))["rule"]["model"]


def _spoiled() -> dict[str, dict]:
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=(50, 2)), draw.integers(0, 2, 50)
    far = HistGradientBoostingClassifier(max_iter=1).fit(x, y + 5)
    wide = HistGradientBoostingClassifier(max_iter=1).fit(np.hstack([x, x]), y)
    texts = HistGradientBoostingClassifier(max_iter=1).fit(x, np.array(["no", "yes"])[y])
    labels = np.array([["a"], ["b"]], dtype=object)[draw.integers(0, 2, (50, 1))[:, 0]]
    labelled = HistGradientBoostingClassifier(max_iter=1, categorical_features=[0]).fit(labels, y)
    number = HistGradientBoostingRegressor(max_iter=1).fit(x, y)
    return {
        "no base 64": {"model": "§"},
        "no model": {"model": "AAAA"},
        "too wide": {"model": _other_trees(wide)},
        "of values": {"model": _other_trees(number)},
        "of other classes": {"model": _other_trees(far)},
        "of texts": {"model": _other_trees(texts)},
        "with categories": {"model": _other_trees(labelled)},
        "a share beyond one": {"share": 1.5},
        "a share beyond all numbers": {"share": 10**400},
        "no share": {"share": None},
        "an invalid mean": {"mean": {"kind": "boosted"}},
        "a linear mean": {
            "mean": {"kind": "linear", "coef": [[1, 1]], "intercept": [0], "classes": [0, 1]}
        },
    }


@pytest.mark.parametrize("name", _spoiled())
def test_mismatched_inputs_are_refused(name: str) -> None:
    stored = _stored()
    deserialize_combined(json.dumps(stored).encode(), lambda key: None)
    stored["rule"] |= _spoiled()[name]
    with pytest.raises((ValueError, TypeError)):
        deserialize_combined(json.dumps(stored).encode(), lambda key: None)


def test_many_rows_are_held_out_rather_than_cross_validated() -> None:
    cells = boosted._count_row_cells(12, 2)
    assert boosted._uses_cv_rounds(15_000, cells)
    assert not boosted._uses_cv_rounds(20_000, cells)
    # One fit instead of six.
    few, many = (boosted.estimate_boosting_seconds(12, n, 2) for n in (15_000, 20_000))
    assert many < few / 4
