"""The automatic number of trees, on tables of thousands of rows."""

import numpy as np
import pandas as pd
import pytest
from tests.conftest import shared_data

from arboleda import ExtraTreesClassifier, RandomForestRegressor

pytestmark = pytest.mark.slow


def test_the_number_of_trees_for_spam_suffices() -> None:
    frame = pd.read_csv(shared_data("spambase/spam_esl.csv.gz"))
    X, y = frame.drop(columns=["test", "spam"]).to_numpy(), frame["spam"].to_numpy()
    forest = ExtraTreesClassifier("auto", bootstrap=True, random_state=0).fit(X, y)
    more = ExtraTreesClassifier(1_000, bootstrap=True, random_state=0, oob_score=True).fit(X, y)
    assert forest.n_estimators_ < 1_000
    assert abs(forest.oob_curve().error[-1] - more.oob_curve().error[-1]) < 0.002


def test_the_number_of_trees_for_car_prices_suffices() -> None:
    frame = pd.read_csv(shared_data("uk_used_cars/vw.csv.gz"))
    X, y = pd.get_dummies(frame.drop(columns="price")), frame["price"].to_numpy(dtype=np.float64)
    options = {"max_features": 1 / 3, "random_state": 0}
    forest = RandomForestRegressor("auto", **options).fit(X, y)
    more = RandomForestRegressor(1_000, oob_score=True, **options).fit(X, y)
    here, there = forest.oob_curve().error[-1], more.oob_curve().error[-1]
    assert forest.n_estimators_ < 1_000
    assert here == pytest.approx(there, rel=0.02)
