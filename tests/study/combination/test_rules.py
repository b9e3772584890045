"""How a learned rule combines the outputs of the members."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from arboleda.study.combination.rules import LinearRule, MeanRule, scale_by_temperature


@pytest.fixture
def member_outputs() -> np.ndarray:
    """Probabilities of three members for forty rows and three classes."""
    return np.random.default_rng(0).dirichlet(np.ones(3), (3, 40))


def test_a_mean_is_the_weighted_sum(member_outputs: np.ndarray) -> None:
    combined = MeanRule((0.5, 0.0, 0.5))(member_outputs)
    np.testing.assert_allclose(combined, (member_outputs[0] + member_outputs[2]) / 2)


def test_a_row_is_predicted_independently(member_outputs: np.ndarray) -> None:
    rule = MeanRule((0.2, 0.3, 0.5), temperature=1.7)
    some = np.array([3, 17])
    assert np.array_equal(rule(member_outputs)[some], rule(member_outputs[:, some]))


def test_a_temperature_of_two_takes_the_square_root() -> None:
    np.testing.assert_allclose(scale_by_temperature(np.array([[0.9, 0.1]]), 2.0), [[0.75, 0.25]])


@pytest.mark.parametrize("temperature", [0.25, 1.0, 4.0])
def test_a_temperature_keeps_the_order_and_the_sum(
    member_outputs: np.ndarray, temperature: float
) -> None:
    combined = scale_by_temperature(member_outputs[0], temperature)
    assert np.array_equal(combined.argsort(axis=1), member_outputs[0].argsort(axis=1))
    np.testing.assert_allclose(combined.sum(axis=1), 1.0)


def test_a_probability_of_zero_stays_finite() -> None:
    combined = scale_by_temperature(np.array([[1.0, 0.0]]), 0.5)
    assert np.isfinite(combined).all()
    assert combined[0].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_linear_rule_matches_logistic_regression(
    member_outputs: np.ndarray, n_classes: int
) -> None:
    member_outputs = member_outputs[:, :, :n_classes]
    target = member_outputs[1].argmax(axis=1)
    columns = LinearRule.make_columns(member_outputs)
    assert columns.shape == (40, 3 if n_classes == 2 else 9)
    model = LogisticRegression().fit(columns, target)
    rule = LinearRule(model.coef_, model.intercept_, tuple(model.classes_.tolist()))
    np.testing.assert_allclose(rule(member_outputs), model.predict_proba(columns), atol=1e-12)
    assert sum(rule.shares(3)) == pytest.approx(1.0)


def test_an_unseen_class_has_no_probability() -> None:
    rule = LinearRule(np.zeros((1, 9)), np.zeros(1), (0, 2))
    combined = rule(np.full((3, 2, 3), 1 / 3))
    assert combined.tolist() == [[0.5, 0.0, 0.5]] * 2


def test_a_linear_rule_of_values_is_a_sum() -> None:
    x, _ = load_iris(return_X_y=True)
    rule = LinearRule(np.array([[2.0, -1.0]]), np.array([3.0]))
    np.testing.assert_allclose(rule(x[:, :2].T), 2 * x[:, 0] - x[:, 1] + 3)
    assert rule.shares(2) == [2.0, -1.0]


def test_members_without_weight_are_not_used() -> None:
    assert MeanRule((0.0, 0.25, 0.0, 0.75), 2.0).select_used() == (
        [1, 3],
        MeanRule((0.25, 0.75), 2.0),
    )
    assert MeanRule((0.0, 0.0)).select_used() == ([0], MeanRule((0.0,)))
