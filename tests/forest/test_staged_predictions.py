"""Stage k of a forest is the forest of its first k trees."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import accuracy_score, r2_score
from tests.forest.tables import CLASSIFIERS, FORESTS, REGRESSORS, classes, table_for

N_TREES = 7


@pytest.mark.parametrize("forest", FORESTS)
@pytest.mark.parametrize("n_rows", [2, 200])
def test_each_stage_has_the_bits_of_the_smaller_forest(forest: Any, n_rows: int) -> None:
    X, y = table_for(forest)
    fresh = table_for(forest, seed=9)[0][:n_rows]
    model = forest(N_TREES, random_state=0).fit(X, y)
    stages = list(model.staged_predict(fresh))
    assert len(stages) == N_TREES
    for number, stage in enumerate(stages, start=1):
        smaller = forest(number, random_state=0).fit(X, y)
        np.testing.assert_array_equal(stage, smaller.predict(fresh))


@pytest.mark.parametrize("voting", ["soft", "hard", "laplace"])
@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_staged_probabilities_match_for_every_voting(forest: Any, voting: str) -> None:
    X, y = classes()
    fresh = classes(seed=9)[0]
    model = forest(N_TREES, voting=voting, random_state=0).fit(X, y)
    stages = list(model.staged_predict_proba(fresh))
    for number, stage in enumerate(stages, start=1):
        smaller = forest(number, voting=voting, random_state=0).fit(X, y)
        np.testing.assert_array_equal(stage, smaller.predict_proba(fresh))
    np.testing.assert_array_equal(stages[-1], model.predict_proba(fresh))
    assert not np.array_equal(stages[0], stages[-1])


@pytest.mark.parametrize("forest", FORESTS)
def test_staged_predictions_support_outputs_sparse_rows_and_threads(forest: Any) -> None:
    X, y = table_for(forest)
    several = np.column_stack([y, y[::-1]])
    X = np.nan_to_num(np.asarray(X, dtype=float))
    model = forest(N_TREES, random_state=0).fit(X, several)
    last = list(model.staged_predict(X))[-1]
    np.testing.assert_array_equal(last, model.predict(X))
    for n_jobs in (1, 2):
        model.set_params(n_jobs=n_jobs)
        for first, second in zip(
            model.staged_predict(X), model.staged_predict(csr_matrix(X)), strict=True
        ):
            np.testing.assert_array_equal(first, second)
    if forest in CLASSIFIERS:
        shares = list(model.staged_predict_proba(X))[-1]
        for part, expected in zip(shares, model.predict_proba(X), strict=True):
            np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("forest", FORESTS)
def test_staged_scores_hold_one_stage_in_memory(forest: Any) -> None:
    X, y = table_for(forest)
    weight = np.random.default_rng(0).random(len(y))
    model = forest(N_TREES, random_state=0).fit(X, y)
    measure = r2_score if forest in REGRESSORS else accuracy_score
    scores = list(model.staged_score(X, y, weight))
    expected = [measure(y, p, sample_weight=weight) for p in model.staged_predict(X)]
    assert scores == expected
    assert scores[-1] == model.score(X, y, weight)
    stages = model.staged_predict(X)
    assert next(stages) is not next(stages)  # an iterator: no stage is computed before it is due
    with pytest.raises(ValueError, match="features"):
        model.staged_predict(X[:, :1])
