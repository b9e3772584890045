"""What a time budget reserves."""

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arboleda.catalogue import select_models
from arboleda.study.execution.executor import (
    EXPLANATION_SHARE,
    MOST_FOR_AFTERWARDS,
    SPARE,
    Budget,
)
from arboleda.study.results import best_model
from arboleda.study.search.row_caps import (
    BAGS_SHARE,
    FIRST_BAGS_SHARE,
    FIRST_SHARE,
    TEST_FITS,
    _compute_fit_limit,
)


@pytest.mark.parametrize(
    ("parts", "kept"),
    [([], 0.0), ([3.0, 30.0, 5.0], 8.0), ([25.0], 25.0), ([25.1], 0.0), ([10.0, 9.0, 8.0], 17.0)],
)
def test_reporting_steps_get_their_time(parts: list[float], kept: float) -> None:
    budget = Budget(100.0, time.monotonic(), 1)
    assert budget.reserved_for_tests == 0.0
    budget.reserve_for_afterwards(parts)
    assert MOST_FOR_AFTERWARDS == 0.25
    assert budget.reserved_for_tests == pytest.approx(kept)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arboleda.study.execution.executor.time.monotonic", lambda: 0.0)


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize("is_bag", [True, False])
def test_first_candidates_share_the_time(is_bag: bool) -> None:
    baseline, model = select_models("classification", ("most_frequent", "best_leafwise"))
    model = replace(model, bag=is_bag)
    costs = {baseline.key: 0.1, model.key: 1000.0}
    plan: Any = SimpleNamespace(
        models=(baseline, model),
        n_folds=4,
        fold_rows=lambda model: 10_000,
        first_candidate_cost=lambda model, rows: costs[model.key],
    )
    budget = Budget(100.0, 0.0, 1)
    budget.reserve_for_afterwards([20.0])
    left = budget.left - 20.0
    assert left == pytest.approx(77.0)
    rates = dict.fromkeys(costs, 1.0)
    whole = FIRST_BAGS_SHARE * left / 4 if is_bag else FIRST_SHARE * left / (4 + TEST_FITS)
    assert _compute_fit_limit(plan, budget, rates) == pytest.approx(whole - 0.1)
    # Nothing is fitted to a part of the rows where all of them fit.
    costs[model.key] = BAGS_SHARE * left / 4 - 0.2
    assert (_compute_fit_limit(plan, budget, rates) == np.inf) == is_bag


@pytest.mark.usefixtures("still")
def test_time_reserved_for_a_test_can_be_released() -> None:
    budget = Budget(100.0, 0.0, 1)
    for model in ("a", "b"):
        budget.reserve_for_test(_test(model, 10.0))
    assert budget.reserved_for_tests == SPARE * 20.0
    budget.release("a")
    budget.release("nobody")
    assert budget.reserved_for_tests == SPARE * 10.0


@pytest.mark.usefixtures("still")
def test_reporting_a_test_takes_the_same_time_for_every_model() -> None:
    budget = Budget(100.0, 0.0, 0)
    budget.record(_test("slow", 1.0), 8.0)
    assert budget.estimate(_test("slow", 1.0, reporting=5.0)) == 8.0 + 5.0
    # What a test took is not all the model's.
    budget.record(_test("quick", 1.0, reporting=5.0), 5.5)
    assert budget.estimate(_test("quick", 2.0, reporting=5.0)) == 2 * 0.5 + 5.0
    budget.record(_test("quicker", 1.0, reporting=5.0), 4.0)
    assert budget.compute_rate("quicker") == pytest.approx(
        (8.0 * 0.5) ** (1 / 3)
    )  # as if not timed


def _test(model: str, cost: float, reporting: float = 0.0) -> Any:
    return SimpleNamespace(model=model, cost=cost, reporting_seconds=reporting)


@pytest.mark.usefixtures("still")
def test_the_winners_explanation_has_a_share_that_nothing_else_can_use() -> None:
    budget = Budget(100.0, 0.0, 1)
    whole = budget.left
    budget.reserve_for_explanation()
    assert budget.left == pytest.approx(whole - 100 * EXPLANATION_SHARE)
    budget.release_explanation()
    budget.release_explanation()
    assert budget.left == pytest.approx(whole)


def test_rows_are_reduced_to_the_time_left() -> None:
    def predict(x: Any) -> Any:
        time.sleep(0.001 * len(x))
        return x

    subject: Any = SimpleNamespace(test=SimpleNamespace(x=np.zeros((50, 1))), predict=predict)

    def count_rows(subject: Any, share: float) -> int:
        return int(1000 * share)

    assert best_model._find_share(subject, count_rows, 20.0) == 1.0
    assert best_model._find_share(subject, count_rows, 0.5) in (0.25, 0.1)
    assert best_model._find_share(subject, count_rows, 0.0) == 0.0
