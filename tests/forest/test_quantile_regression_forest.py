"""The quantile regression forest, by Meinshausen's definition, and functions of the mean."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict

import arboleda
from arboleda import QuantileRegressionForest, RandomForestRegressor, VotingRegressor

X, Y = load_diabetes(return_X_y=True)


def forest(**options: Any) -> QuantileRegressionForest:
    return QuantileRegressionForest(15, min_samples_leaf=4, random_state=0, **options)


@pytest.mark.parametrize("level", [0.0, 0.1, 0.5, 0.95, 1.0])
def test_a_quantile_is_where_the_weights_reach_its_level(level: float) -> None:
    """F(y | x) = sum of the weights of the training rows with targets up to y."""
    model = forest().fit(X[:300], Y[:300])
    found = model.predict(X[300:320], level)
    order = np.argsort(Y[:300])
    for row, weights in zip(found, model.neighbor_weights(X[300:320]).toarray(), strict=True):
        reached = np.cumsum(weights[order])
        weighed = weights[order] > 0.0
        first = np.flatnonzero(weighed & (reached >= level - 1e-12))[0]
        assert row == Y[:300][order][first]


def test_the_median_is_predicted_unless_quantiles_are_given() -> None:
    model = forest().fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), model.predict(X, quantiles=0.5))
    three = model.predict(X, quantiles=[0.1, 0.5, 0.9])
    np.testing.assert_array_equal(three[:, 1], model.predict(X))
    assert (np.diff(three, axis=1) >= 0.0).all()
    assert model.score(X, Y) == r2_score(Y, three[:, 1])
    assert cross_val_predict(model, X, Y, cv=3).shape == Y.shape
    with pytest.raises(ValueError, match="from 0 to 1"):
        model.predict(X, quantiles=1.5)


def test_several_targets() -> None:
    model = forest().fit(X, np.column_stack([Y, -Y]))
    assert model.predict(X).shape == (len(X), 2)
    assert model.predict(X, [0.1, 0.9]).shape == (len(X), 2, 2)


def test_members_of_a_vote_predict_their_medians() -> None:
    vote = VotingRegressor([("forest", forest())]).fit(X, Y)
    np.testing.assert_array_equal(vote.predict(X), forest().fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("use", "match"),
    [
        (arboleda.to_c, "only means of trees can be exported"),
        (arboleda.to_onnx, "only means of trees can be exported"),
        (lambda model: arboleda.explain.shap_values(model, X[:5]), "not sums over trees"),
        (lambda model: model.predictor().predict(X[0]), "no single-row predictor"),
    ],
    ids=["c", "onnx", "shap", "predictor"],
)
def test_functions_of_the_mean_are_refused(use: Callable[[Any], Any], match: str) -> None:
    """The mean of the trees must not pass for the median, alone or within a combination."""
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=match):
        use(forest().fit(X, Y))
    if match != "no single-row predictor":
        with pytest.raises(ValueError, match=match):
            use(VotingRegressor([("forest", forest())]).fit(X, Y))
    RandomForestRegressor(2).fit(X, Y).predictor()


def test_staged_predictions_end_at_the_prediction() -> None:
    model = forest().fit(X, Y)
    if hasattr(model, "staged_predict"):
        np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))


def test_partial_dependence_uses_the_median() -> None:
    model = forest().fit(X, Y)
    found = arboleda.explain.partial_dependence(
        model, X[:30], 2, custom_values={2: [0.0]}, kind="individual"
    )
    moved = X[:30].copy()
    moved[:, 2] = 0.0
    assert found.individual is not None
    np.testing.assert_array_equal(found.individual[0, :, 0], model.predict(moved))
