"""scikit-learn's wrappers around our estimators: forward, backward and recursive selection."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from arboleda import (
    DecisionTreeClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

Array = npt.NDArray[Any]


def table() -> tuple[pd.DataFrame, Array]:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((150, 6)), columns=list("abcdef"))
    return frame, (frame["b"] + frame["e"]).to_numpy()


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_sequential_selection_works_in_both_directions(direction: Any, kind: str) -> None:
    X, y = table()
    if kind == "classes":
        y, model = y > 0, RandomForestClassifier(15, random_state=0)
    else:
        model = HistGradientBoostingRegressor(max_iter=30, learning_rate=0.2)
    selector = SequentialFeatureSelector(
        model, n_features_to_select=2, direction=direction, cv=3
    ).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["b", "e"]


@pytest.mark.parametrize("model", [RandomForestRegressor(20, random_state=0)], ids=repr)
def test_recursive_elimination_uses_importances(model: Any) -> None:
    X, y = table()
    selector = RFE(model, n_features_to_select=2).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["b", "e"]
    assert RFECV(model, cv=3).fit(X, y).support_[[1, 4]].all()


def test_selectors_work_in_a_pipeline_in_cross_validation() -> None:
    X, y = table()
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    for selector in (
        RFE(RandomForestClassifier(15, random_state=0), n_features_to_select=2),
        SequentialFeatureSelector(tree, n_features_to_select=2, cv=3),
    ):
        pipeline = make_pipeline(selector, tree)
        assert cross_val_score(pipeline, X, y > 0, cv=3).mean() > 0.75
