"""A grid search on workers has the scores and the model of one in this process."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import HistGradientBoostingClassifier, RandomForestClassifier
from arboleda.model_selection import GridSearch

SHARED = [
    (
        HistGradientBoostingClassifier(early_stopping=False),
        {"learning_rate": [0.1, 0.3], "max_iter": [3, 5], "max_depth": [2, -1]},
    ),
    (RandomForestClassifier(random_state=0), {"n_estimators": [3, 7], "max_depth": [2, None]}),
]
OTHER = (
    make_pipeline(StandardScaler(), LogisticRegression()),
    {"logisticregression__C": [0.01, 1.0]},
)


@pytest.mark.filterwarnings("ignore")  # of the candidate that fails, and of joblib
@pytest.mark.parametrize(("estimator", "grid"), [*SHARED, OTHER])
def test_scores_and_model_are_the_same(client: Any, estimator: Any, grid: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    options: dict[str, Any] = {"cv": 3, "return_train_score": True, "scoring": "roc_auc"}
    here = GridSearch(estimator, grid, **options).fit(X, y)
    there = GridSearch(estimator, grid, client=client, **options).fit(X, y)
    for name, values in here.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(there.cv_results_[name], values, err_msg=name)
    assert there.best_params_ == here.best_params_
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))
