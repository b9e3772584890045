"""Which models get more rows when time is left."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.study.config.presets import QUICK_FIT
from arboleda.study.config.settings import Settings
from arboleda.study.execution.executor import REPORT_SECONDS, Budget
from arboleda.study.plan import make_plan
from arboleda.study.search.row_caps import LEAST_ROWS, _choose_larger_caps, apply_row_caps
from arboleda.study.search.strategies import FULL
from arboleda.tables.reading import read_table


@dataclass(frozen=True)
class Hundreds:
    """A plan of folds of 1,000 rows; a hundred take a second, but of a dear model ten seconds."""

    caps: Mapping[str, int]
    metric: Any = field(default_factory=lambda: SimpleNamespace(key="r2", greater_is_better=True))
    preset: Any = field(default_factory=lambda: SimpleNamespace(fit_cost_in_budget=None))

    def fold_rows(self, model: Any) -> int:
        return self.caps.get(model.key, 1_000)

    def trial_jobs(self, model: Any, trial: Any) -> list[Any]:
        cost = self.fold_rows(model) / (10 if model.key == "dear" else 100)
        return [SimpleNamespace(model=model.key, cost=cost, reporting_seconds=0.0)] * 5

    def test_job(self, model: Any, params: Any) -> Any:
        return SimpleNamespace(model=model.key, cost=0.0, reporting_seconds=0.0)


@pytest.fixture
def work_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Work that a budget of so many seconds is left for."""
    monkeypatch.setattr(
        "arboleda.study.execution.executor.time", SimpleNamespace(monotonic=lambda: 0.0)
    )

    def make(seconds: float, processes: int = 1) -> Any:
        budget = Budget(seconds + REPORT_SECONDS, 0.0, processes)
        budget.deadline = seconds
        return SimpleNamespace(
            budget=budget, ledger=None, scored_job=lambda job: job, is_done=lambda job: False
        )

    return make


def tuned(key: str, score: float) -> Any:
    found = SimpleNamespace(
        params={}, status="ok", is_whole=True, failed=None, fidelity=FULL, mean=lambda metric: score
    )
    model = SimpleNamespace(key=key, bag=False)
    return SimpleNamespace(model=model, list_candidates=lambda ledger: (found,))


@pytest.mark.parametrize(
    ("seconds", "processes", "raised"),
    [
        (150, 1, {"poor": None, "good": None, "fair": None}),  # all of the rows: 50 s a model
        (149, 1, {"good": None}),  # of half of it
        (74, 2, {"good": None, "fair": 256}),
        (60, 1, {"good": 512}),
        (9, 1, {"good": 128}),  # half of it is too little for anybody
        (6, 1, {}),
    ],
)
def test_the_best_models_get_more_rows_first(
    seconds: float,
    processes: int,
    raised: dict[str, int | None],
    work_of: Callable[..., Any],
) -> None:
    executor = work_of(seconds, processes)
    plan: Any = Hundreds(dict.fromkeys(("poor", "good", "fair", "whole"), 64))
    searches = [tuned("poor", 0.1), tuned("good", 0.9), tuned("fair", 0.5)]
    assert _choose_larger_caps(plan, searches, executor, ()) == raised
    assert "good" not in _choose_larger_caps(plan, searches, executor, {"good"})


@pytest.mark.parametrize(("score", "first"), [(0.6, "fair"), (0.8, "dear")])
def test_expensive_models_must_be_better(
    score: float, first: str, work_of: Callable[..., Any]
) -> None:
    plan: Any = Hundreds({"dear": 64, "fair": 64})
    searches = [tuned("dear", score), tuned("fair", 0.5)]
    # Ten times the time is worth 2.0 times the error.
    assert list(_choose_larger_caps(plan, searches, work_of(500), ())) == [first]


def test_a_quick_fit_is_short_on_a_large_table() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(40_000, 6)), columns=list("abcdef"))
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    plan = make_plan(read_table(frame), "y", Settings())
    executor: Any = SimpleNamespace(budget=None)
    capped = apply_row_caps(plan, executor)
    assert capped.caps
    for model in capped.models:
        rows = capped.fold_rows(model)
        cost = capped.first_candidate_cost(model, rows)
        assert cost <= QUICK_FIT or rows == LEAST_ROWS
        assert (rows < 25_600) == (model.key in capped.caps)
