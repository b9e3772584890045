"""The model for AutoGluon and TabArena: its estimators, and fits by AutoGluon if that is there."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda import BoostingClassifier, BoostingRegressor

FOLDER = Path(__file__).parents[2] / "examples" / "tabarena"
NAMES = ("estimators", "arboleda_model", "search_space", "run")


@pytest.fixture(scope="module", autouse=True)
def beside_each_other() -> Iterator[None]:
    """The examples import each other by name, as where they are run."""
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))
    for name in NAMES:
        sys.modules.pop(name, None)


def make_table(n: int = 300) -> pd.DataFrame:
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "number": random.normal(size=n).astype(np.float32),
            "count": random.integers(0, 5, n),
            "town": pd.Categorical.from_codes(random.integers(-1, 3, n), ["a", "b", "c"]),
        }
    )
    table.loc[::9, "number"] = np.nan
    return table


@pytest.mark.parametrize("problem_type", ["binary", "multiclass", "regression", "quantile"])
def test_estimators_fit_all_problem_types(problem_type: str) -> None:
    from estimators import make_estimator

    X = make_table()
    y = X["number"].fillna(1.0) + X["count"]
    if problem_type in {"binary", "multiclass"}:
        y = pd.qcut(y, 2 if problem_type == "binary" else 3, labels=False)
    model = make_estimator(
        problem_type,
        {"effort": "quick", "random_state": 0},
        n_jobs=1,
        time_limit=60.0,
        quantile_levels=np.array([0.1, 0.9]) if problem_type == "quantile" else None,
    )
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    predictions = model.predict(X)
    assert predictions.shape == ((300, 2) if problem_type == "quantile" else (300,))
    is_classifier = problem_type in {"binary", "multiclass"}
    assert isinstance(model, BoostingClassifier if is_classifier else BoostingRegressor)
    assert model.is_categorical_.tolist() == [False, False, True]
    assert np.mean(predictions == y) > 0.8 if is_classifier else np.isfinite(predictions).all()


@pytest.mark.parametrize(
    ("parameters", "time_limit", "budget"),
    [
        ({}, None, None),
        ({"time_budget": 7.0}, None, 7.0),
        ({}, 10.0, 7.0),
        ({"time_budget": 6.0}, 10.0, 6.0),
        ({"time_budget": 9.0}, 10.0, 7.0),
        ({}, -1.0, 0.1),
    ],
)
def test_most_of_the_time_limit_is_the_budget(
    parameters: dict[str, Any], time_limit: float | None, budget: float | None
) -> None:
    from estimators import make_estimator

    model = make_estimator("binary", parameters, time_limit=time_limit, n_jobs=3)
    assert model.time_budget == budget
    assert model.n_jobs == 3


def test_unknown_problem_types_are_refused() -> None:
    from estimators import make_estimator

    with pytest.raises(ValueError, match="problem_type must be one of .*, got 'softclass'"):
        make_estimator("softclass", {})


def test_infinite_values_become_missing() -> None:
    from estimators import replace_infinite_values

    X = make_table()
    assert replace_infinite_values(X) is X
    X.loc[3, "number"], X.loc[4, "number"] = np.inf, -np.inf
    found = replace_infinite_values(X)
    assert found["number"].isna().sum() == X["number"].isna().sum() + 2
    assert found.dtypes.equals(X.dtypes)
    assert np.isinf(X["number"]).sum() == 2
    towns = X[["town"]]
    assert replace_infinite_values(towns) is towns


def test_memory_estimates_grow_with_the_table() -> None:
    from estimators import estimate_fit_memory

    small = estimate_fit_memory(1000, 10, None, {})
    assert 0 < small < estimate_fit_memory(10**6, 10, None, {})
    assert small < estimate_fit_memory(1000, 10, 20, {})
    assert small < estimate_fit_memory(1000, 10, None, {"max_leaf_nodes": 1000})
    assert estimate_fit_memory(1000, 10, 2, {"max_leaf_nodes": None}) == small


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("problem_type", ["binary", "multiclass", "regression", "quantile"])
def test_autogluon_stacks_saves_and_loads_the_model(problem_type: str, capsys: Any) -> None:
    pytest.importorskip("autogluon.tabular", reason="AutoGluon is not installed")
    from run import run

    run(problem_type, 300, 30.0)
    output = capsys.readouterr().out
    for name in ("Arboleda_BAG_L1", "Arboleda_2_BAG_L2", "WeightedEnsemble"):
        assert name in output


@pytest.mark.filterwarnings("ignore")
def test_random_configurations_are_valid_and_reproducible() -> None:
    pytest.importorskip("autogluon.tabular", reason="AutoGluon is not installed")
    from search_space import sample_configs

    configs = sample_configs(20)
    assert configs == sample_configs(20)
    for config in configs:
        BoostingClassifier(**config)._validate_params()
