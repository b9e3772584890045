"""The loop of boosting against scikit-learn's GradientBoosting*: the same losses, round by round.

X is float32, as scikit-learn reads it, and nodes are so large that no two splits are equally good;
losses whose gradients have few different values need weights for that.
scikit-learn's training loss is twice ours for squared error and binary log-loss: it leaves out the
half that its own losses have.
"""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from tests.boosting.loop import Problem

from arboleda._engine.ensemble import Ensemble

PARAMETERS = {
    "squared_error": {"loss": "squared_error"},
    "absolute_error": {"loss": "absolute_error"},
    "huber": {"loss": "huber", "alpha": 0.9},
    "quantile": {"loss": "quantile", "alpha": 0.3},
    "log_loss": {"loss": "log_loss"},
    "softmax": {"loss": "log_loss"},
    "exponential": {"loss": "exponential"},
}
TWICE = {"squared_error", "log_loss"}
CASES = [(loss, True) for loss in PARAMETERS] + [
    (loss, False) for loss in PARAMETERS if loss not in {"absolute_error", "quantile", "softmax"}
]
GROWTH = {
    "depth": {"max_depth": 3, "min_samples_leaf": 9},
    "leaves": {"max_depth": None, "max_leaf_nodes": 6, "min_samples_leaf": 9},
    "pruned": {"max_depth": 4, "min_samples_leaf": 9, "ccp_alpha": 0.002},
    "decrease": {"max_depth": 4, "min_impurity_decrease": 0.01, "min_weight_fraction_leaf": 0.05},
}


@pytest.mark.filterwarnings("ignore:.*criterion:FutureWarning")
@pytest.mark.parametrize("growth", GROWTH.values(), ids=GROWTH)
@pytest.mark.parametrize(("loss", "weighted"), CASES)
def test_losses_match_in_each_round(loss, weighted, growth):
    problem = Problem.make(400, seed=2)
    y = problem.target(loss)
    weight = 0.25 + np.arange(400) % 5 / 4 if weighted else None
    make = (
        GradientBoostingClassifier
        if loss in {"log_loss", "softmax", "exponential"}
        else GradientBoostingRegressor
    )
    # Its quantiles without weights are interpolated, those with weights are not: start from 0.
    parameters = PARAMETERS[loss] | growth | ({"init": "zero"} if loss == "quantile" else {})
    start = Ensemble.from_trees([0.0], []) if loss == "quantile" else None
    theirs = make(**parameters, n_estimators=12, learning_rate=0.3, criterion="squared_error").fit(
        problem.X, y, sample_weight=weight
    )
    options = {name: -1 if value is None else value for name, value in growth.items()}
    ours = problem.fit(loss, n_rounds=12, weight=weight, resume=start, **options)
    found = ours.history["train_loss"][1:] * (2.0 if loss in TWICE else 1.0)
    np.testing.assert_allclose(found, theirs.train_score_, rtol=1e-8, atol=1e-10)
    raw = theirs.decision_function(problem.X) if hasattr(theirs, "classes_") else None
    if raw is None:
        raw = theirs.predict(problem.X)
    scores = ours.ensemble.scores(problem.table)
    np.testing.assert_allclose(scores.reshape(raw.shape), raw, rtol=1e-7, atol=1e-8)
