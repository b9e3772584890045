"""Classes that follow from the probabilities are those that `predict` returns."""

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from arboleda.bagging import BaggingClassifier, RandomSubspaceClassifier
from arboleda.forest import ExtraTreesClassifier, RandomForestClassifier
from arboleda.study.execution.single_pass import predict_once

ONE_PASS: list[Any] = [
    KNeighborsClassifier(4),
    KNeighborsClassifier(4, algorithm="brute"),
    make_pipeline(StandardScaler(), KNeighborsClassifier(4)),
    CalibratedClassifierCV(LinearSVC(dual=False), cv=2, ensemble=False),
    BaggingClassifier(n_estimators=4, random_state=0),
    RandomSubspaceClassifier(n_estimators=4, random_state=0),
    RandomForestClassifier(n_estimators=4, random_state=0),
    ExtraTreesClassifier(n_estimators=4, random_state=0),
]
TWO_PASSES: list[Any] = [
    KNeighborsClassifier(4, weights="distance"),
    LogisticRegression(),
    LinearSVC(dual=False),
]


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    """Make whole numbers, so that even numbers of neighbours or trees tie often."""
    draw = np.random.default_rng(0)
    x = draw.integers(0, 4, (300, 3)).astype(float)
    # Class 1 is absent, as a rare class may be in a fold.
    return x, np.where(x[:, 0] + draw.normal(size=300) > 1.5, 2, 0)


@pytest.mark.parametrize("model", [*ONE_PASS, *TWO_PASSES], ids=str)
def test_classes_are_those_of_predict(model: Any) -> None:
    x, y = make_rows()
    model.fit(x, y)
    predictions, seconds = predict_once(model, [x[:40], x[40:]], 3)
    assert predictions.predicted.tolist() == model.predict(x).tolist()
    assert predictions.score is not None
    assert predictions.score.shape == (300, 3)
    assert seconds > 0.0


@pytest.mark.parametrize("model", ONE_PASS, ids=str)
def test_rows_pass_through_the_model_once(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = make_rows()
    model.fit(x, y)
    monkeypatch.setattr(type(model), "predict", None)
    predict_once(model, [x[:40], x[40:]], 3)


def test_values_have_no_scores() -> None:
    x, y = make_rows()
    predictions, _ = predict_once(Ridge().fit(x, y), [x], 0)
    assert predictions.score is None
    assert predictions.predicted.dtype == np.float64
