"""A loaded model equals the saved one, for any data."""

import io
import pickle
from typing import Any

import joblib
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import Problem, arrays_of, checked, growth, predictions, problems

from arboleda.persist._files import model_from_bytes, model_to_bytes


@checked
@given(problems(), growth(), st.sampled_from([0.0, 0.01]))
def test_a_loaded_model_equals_the_saved_one(
    problem: Problem, growth: dict[str, Any], alpha: float
) -> None:
    model = problem.fit(ccp_alpha=alpha, **growth)
    data = model_to_bytes(model)
    dumped = io.BytesIO()
    joblib.dump(model, dumped)
    dumped.seek(0)
    for again in (model_from_bytes(data), pickle.loads(pickle.dumps(model)), joblib.load(dumped)):
        assert arrays_of(again) == arrays_of(model)
        assert predictions(again, problem.X).tobytes() == predictions(model, problem.X).tobytes()
        assert again.get_params() == model.get_params()
        assert model_to_bytes(again) == data
