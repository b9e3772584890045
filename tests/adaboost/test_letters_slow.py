"""Twenty-six letters: the algorithms for several classes at the size of Frey and Slate (1991)."""

import numpy as np
import pandas as pd
import pytest
from tests.conftest import shared_data

from arboleda import AdaBoostClassifier, DecisionTreeClassifier, DecisionTreeRegressor

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("algorithm", "most"),
    [("M2", 0.11), ("MR", 0.095), ("MH", 0.065), ("gentle", 0.045), ("logit", 0.05)],
)
def test_a_hundred_rounds_classify_letters(algorithm: str, most: float) -> None:
    frame = pd.read_csv(shared_data("letter_recognition/letter-recognition.data.gz"), header=None)
    X, y = frame.drop(columns=0).to_numpy(), frame[0].to_numpy(dtype=str)
    kinds = {"gentle": DecisionTreeRegressor, "logit": DecisionTreeRegressor}
    member = kinds.get(algorithm, DecisionTreeClassifier)(max_depth=3)
    model = AdaBoostClassifier(member, n_estimators=100, algorithm=algorithm)
    model.fit(X[:16000], y[:16000])
    assert 1.0 - model.score(X[16000:], y[16000:]) < most
    stages = model.staged_predict(X[:16000])
    errors = np.array([(predicted != y[:16000]).mean() for predicted in stages])
    assert (errors <= model.training_error_bound_ + 1e-12).all()
    assert errors[-1] < errors[9] < errors[0]
