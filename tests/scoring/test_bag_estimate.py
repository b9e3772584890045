"""The .632+ estimate of a study is that of `arboleda.model_selection.bootstrap_error`."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from arboleda.model_selection import BootstrapSplit, bootstrap_error
from arboleda.scoring.scores import all_scores, compute_chance_scores, estimate_plus_632, name_loss


@pytest.mark.parametrize("metric", ["accuracy", "error", "rmse", "mse"])
def test_the_estimate_matches_the_formula(metric: str) -> None:
    classify = metric in ("accuracy", "error")
    x, y = (load_iris if classify else load_diabetes)(return_X_y=True)
    some = np.random.default_rng(0).permutation(len(y))[:45]
    x, y = x[some], y[some]
    model = KNeighborsClassifier(1) if classify else KNeighborsRegressor(1)
    n_classes = 3 if classify else 0
    left_out, weights = [], []
    for bag, out in BootstrapSplit(400, random_state=1).split(y):
        predicted = model.fit(x[bag], y[bag]).predict(x[out])
        left_out.append(all_scores(y[out], predicted, None, n_classes)[metric])
        weights.append(len(out))
    predicted = model.fit(x, y).predict(x)
    training = all_scores(y, predicted, None, n_classes)[metric]
    chance = compute_chance_scores(y, predicted, None, n_classes)[metric]
    found = estimate_plus_632(name_loss(metric), left_out, weights, training, chance)
    expected = bootstrap_error(model, x, y, n_splits=400, random_state=1)
    loss = {"accuracy": 1 - found, "rmse": found**2}.get(metric, found)
    # The two forms of the leave-one-out bootstrap agree for many bags.
    assert loss == pytest.approx(expected.plus_632, rel=0.03)
    assert expected.plus_632 > 1.05 * expected.plain_632 > 0


def test_the_no_information_rate_pairs_all_targets_and_predictions() -> None:
    draw = np.random.default_rng(0)
    y, predicted = draw.integers(0, 3, 40), draw.integers(0, 3, 40)
    score = draw.dirichlet(np.ones(3), 40)
    found = compute_chance_scores(y, predicted, score, 3)
    pairs = np.equal.outer(y, predicted)
    assert found["accuracy"] == pytest.approx(pairs.mean())
    assert found["log_loss"] == pytest.approx(np.mean([-np.log(score[:, k]) for k in y]))
    assert found["mcc"] == pytest.approx(0.0, abs=1e-12)
    assert found["roc_auc"] == pytest.approx(0.5)
    value, guess = draw.normal(size=40), draw.normal(size=40)
    found = compute_chance_scores(value, guess, None, 0)
    gap = np.subtract.outer(value, guess)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(gap**2)))
    assert found["mae"] == pytest.approx(np.mean(np.abs(gap)))


def test_without_overfitting_it_is_the_632_estimate() -> None:
    assert estimate_plus_632(name_loss("mae"), [2.0, 4.0], [1, 1], 3.0, 9.0) == pytest.approx(3.0)
    assert estimate_plus_632(name_loss("mae"), [2.0, 4.0], [3, 1], 3.0, 9.0) == pytest.approx(
        0.368 * 3 + 0.632 * 2.5
    )
    assert estimate_plus_632(name_loss("accuracy"), [0.9, 0.7], [1, 1], 0.8, 0.5) == pytest.approx(
        0.8
    )


def test_a_rule_that_only_memorizes_scores_at_chance() -> None:
    assert estimate_plus_632(name_loss("accuracy"), [0.5], [1], 1.0, 0.5) == pytest.approx(0.5)
    assert estimate_plus_632(name_loss("r2"), [-1.0], [1], 1.0, -1.0) == pytest.approx(-1.0)
