"""A shared search of any boosting model gives the scores that scikit-learn's search gives."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, KFold
from tests.property.strategies import checked

from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda.model_selection import GridSearch

OPTIONS: dict[str, Any] = {
    "subsample": [1.0, 0.6],
    "drop_rate": [0.0, 0.0, 0.3],
    "init": [None, "zero"],
    "max_depth": [1, 3, None],
    "learning_rate": [0.1, 1.0],
    "max_features": [1.0, 0.5],
    "min_samples_leaf": [1, 5],
    "max_bins": [4, 255],
    "growth": ["leaf_wise", "level_wise", "symmetric"],
    "sampling": ["uniform", "uniform", "goss"],
    "colsample_bytree": [1.0, 0.5],
    "extra_trees": [False, True],
    "class_weight": [None, "balanced"],
    "loss": ["log_loss", "exponential", "squared_error", "absolute_error"],
    "random_state": [0, 1],
}
NEVER = {"GradientBoosting": {"sampling"}, "HistGradientBoosting": {"init"}}


@st.composite
def searches(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """Draw a model with options of its own, and a grid of rounds and some other parameters."""
    kind = draw(
        st.sampled_from(
            [
                GradientBoostingClassifier,
                GradientBoostingRegressor,
                HistGradientBoostingClassifier,
                HistGradientBoostingRegressor,
            ]
        )
    )
    classify = kind.__name__.endswith("Classifier")
    never = NEVER[kind.__name__.removesuffix("Classifier").removesuffix("Regressor")]
    losses = {"log_loss", "exponential"} if classify else {"squared_error", "absolute_error"}
    options = {}
    for name in sorted(OPTIONS.keys() & kind().get_params().keys() - never):
        values = [v for v in OPTIONS[name] if name != "loss" or v in losses]
        options[name] = draw(st.sampled_from(values))
    if options.get("sampling") == "goss":
        options["subsample"] = 1.0
    free = sorted(options.keys() - {"subsample", "sampling", "loss", "random_state"})
    searched = draw(st.lists(st.sampled_from(free), max_size=2, unique=True))
    grid = {name: list(dict.fromkeys(OPTIONS[name])) for name in searched}
    rounds = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    return kind(**options), grid | {kind._rounds_parameter: rounds}


@checked
@given(searches(), st.integers(0, 2**16), st.booleans())
def test_scores_match_scikit_learn(
    search: tuple[Any, dict[str, Any]], seed: int, weighted: bool
) -> None:
    model, grid = search
    random = np.random.RandomState(seed)
    X = random.normal(size=(60, 3)).round(random.randint(0, 3))
    X[random.rand(60, 3) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + random.normal(size=60)
    if hasattr(model, "predict_proba"):
        y = y > 0.2
    params = {"sample_weight": random.randint(0, 3, 60).astype(float)} if weighted else {}
    cv = KFold(3, shuffle=True, random_state=seed)
    ours, theirs = (
        kind(model, grid, cv=cv, refit=False, return_train_score=True).fit(X, y, **params)
        for kind in (GridSearch, GridSearchCV)
    )
    for name, expected in theirs.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(ours.cv_results_[name], expected, err_msg=name)
