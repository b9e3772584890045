"""The same bytes with any number of threads, on tables large enough for every parallel path.

More than 2^17 cells in a node: its columns are searched in parallel. Nodes of at most 512 rows of a
depth-first tree: whole subtrees are grown in parallel. Prediction: blocks of 4096 rows.
"""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.property.strategies import (
    CLASS_CRITERIA,
    REGRESSION_CRITERIA,
    Problem,
    arrays_of,
    predictions,
)
from threadpoolctl import threadpool_info

from arboleda._engine import parallel as threads

_ROWS, _COLUMNS = 12_000, 24


def make_problem(criterion: str, *, weighted: bool, missing: bool) -> Problem:
    """Columns of 2 to 12,000 distinct values, with ties, and copies that tie whole columns."""
    random = np.random.default_rng(7)
    X = random.normal(size=(_ROWS, _COLUMNS))
    X[:, 4:12] = np.round(X[:, 4:12] * 8)
    X[:, 12:16] = X[:, 12:16] > 0
    X[:, 20] = X[:, 3]
    X[:, 21] = X[:, 5]
    signal = X[:, 3] + X[:, 5] / 8 * X[:, 13] + random.normal(size=_ROWS)
    if missing:
        X[random.random(X.shape) < 0.1] = np.nan
    if criterion in CLASS_CRITERIA:
        y = np.digitize(signal, [-1.0, 0.0, 1.5])
    else:
        y = np.exp(signal) if criterion == "poisson" else signal
    weight = random.random(_ROWS) * random.integers(0, 3, _ROWS) if weighted else None
    return Problem(X, y, weight, criterion)


def make_mixed(criterion: str, kind: str) -> Problem:
    """Like `make_problem`, with gaps and weights, and of one more kind."""
    problem = make_problem(criterion, weighted=True, missing=True)
    if kind == "categories":  # of 1 to 2,000 levels
        X = problem.X.copy()
        for j, n_levels in zip(
            range(4, 16), [1, 2, 3, 5, 9, 20, 60, 300, 2000, 2, 7, 40], strict=True
        ):
            X[:, j] = np.round(X[:, j] * 1000) % n_levels
        return problem.replaced(X=X, categorical=tuple(range(4, 16)))
    if kind == "sparse":
        X = np.where(np.abs(problem.X) > 1.5, problem.X, 0.0)
        return problem.replaced(X=sparse.csc_array(X))
    if kind == "outputs":
        return problem.replaced(y=np.column_stack([problem.y, problem.y[::-1]]))
    return problem


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_available_cores", lambda: 8)


def n_native_threads() -> int:
    return len(os.listdir("/proc/self/task")) - threading.active_count()  # noqa: PTH208 - names only


@pytest.mark.usefixtures("eight_cores")
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_features": "sqrt", "random_state": 4},
        {"max_leaf_nodes": 200},
        {"max_leaf_nodes": 60, "max_features": 3, "random_state": 4},
        {"max_depth": 9, "min_samples_leaf": 5, "min_impurity_decrease": 1e-4},
    ],
    ids=str,
)
@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, *REGRESSION_CRITERIA])
def test_bytes_do_not_depend_on_the_number_of_threads(
    criterion: str, parameters: dict[str, Any]
) -> None:
    if criterion == "misclassification" and "max_leaf_nodes" not in parameters:
        parameters = {"max_depth": 20, **parameters}  # a full one is thousands of levels deep
    for weighted, missing in ((False, False), (True, True)):
        problem = make_problem(criterion, weighted=weighted, missing=missing)
        models = [problem.fit(n_jobs=n, **parameters) for n in (1, 2, 8)]
        first = arrays_of(models[0])
        assert models[0].get_n_leaves() > 10
        assert first == arrays_of(models[1]) == arrays_of(models[2])
        outputs = [predictions(model, problem.X) for model in models]
        assert outputs[0].tobytes() == outputs[1].tobytes() == outputs[2].tobytes()
        leaves = [model.apply(problem.X) for model in models]
        assert leaves[0].tobytes() == leaves[1].tobytes() == leaves[2].tobytes()


@pytest.mark.usefixtures("eight_cores")
@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("kind", ["categories", "sparse", "outputs", "bins"])
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_bytes_do_not_depend_on_threads_with(criterion: str, kind: str, splitter: str) -> None:
    problem = make_mixed(criterion, kind)
    parameters: dict[str, Any] = {"max_depth": 7, "splitter": splitter, "random_state": 2}
    if kind == "bins":
        parameters["max_bins"] = 40
    models = [problem.fit(n_jobs=n, **parameters) for n in (1, 2, 8)]
    assert models[0].get_n_leaves() > 10
    assert len({tuple(sorted(arrays_of(model).items())) for model in models}) == 1
    assert len({predictions(model, problem.X).tobytes() for model in models}) == 1


@pytest.mark.usefixtures("eight_cores")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads in /proc")
def test_eight_threads_run() -> None:
    """Without this the test above could compare one thread with itself."""
    make_problem("gini", weighted=False, missing=False).fit(n_jobs=8, max_depth=3)
    assert n_native_threads() >= 7


@pytest.mark.usefixtures("eight_cores")
@pytest.mark.parametrize(
    ("criterion", "kind"),
    [
        ("gini", "numbers"),
        ("squared_error", "numbers"),
        ("entropy", "categories"),
        ("poisson", "sparse"),
        ("squared_error", "outputs"),
    ],
)
def test_eight_concurrent_callers_get_the_same_bytes(criterion: str, kind: str) -> None:
    problem = make_mixed(criterion, kind)
    expected = arrays_of(problem.fit(n_jobs=1))
    with ThreadPoolExecutor(8) as pool:
        models = list(pool.map(lambda n: problem.fit(n_jobs=n), [1, 2, 8, 3, 8, 2, 1, 8]))
        assert all(arrays_of(model) == expected for model in models)
        outputs = list(pool.map(lambda _: predictions(models[0], problem.X), range(8)))
    assert len({output.tobytes() for output in outputs}) == 1


def test_thread_settings_of_other_libraries_are_kept() -> None:
    before = threadpool_info()
    make_problem("gini", weighted=False, missing=False).fit(n_jobs=2, max_depth=2)
    assert threadpool_info() == before
