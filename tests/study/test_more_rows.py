"""Who learns from more rows when time is left."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from arboleda.study.budget import REPORT_SECONDS, Budget
from arboleda.study.more_rows import _raised
from arboleda.study.search import FULL


@dataclass(frozen=True)
class Hundreds:
    """A plan of folds of 1,000 rows, a hundred of which any model learns in a second."""

    caps: Mapping[str, int]
    metric: Any = field(default_factory=lambda: SimpleNamespace(key="r2", greater_is_better=True))
    preset: Any = field(default_factory=lambda: SimpleNamespace(fit_cost=None))

    def fold_rows(self, model: Any) -> int:
        return self.caps.get(model.key, 1_000)

    def trial_jobs(self, model: Any, trial: Any) -> list[Any]:
        return [SimpleNamespace(model=model.key, cost=self.fold_rows(model) / 100)] * 5

    def test_job(self, model: Any, params: Any) -> Any:
        return SimpleNamespace(model=model.key, cost=0.0)


def tuned(key: str, score: float) -> Any:
    found = SimpleNamespace(
        params={}, status="ok", is_whole=True, failed=None, stage=FULL, mean=lambda metric: score
    )
    model = SimpleNamespace(key=key, bag=False)
    return SimpleNamespace(model=model, candidates=lambda ledger: (found,))


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
def test_the_best_learn_from_more_rows_first(
    seconds: float,
    processes: int,
    raised: dict[str, int | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arboleda.study.budget.time", SimpleNamespace(monotonic=lambda: 0.0))
    budget = Budget(seconds + REPORT_SECONDS, 0.0, processes)
    budget.deadline = seconds
    work: Any = SimpleNamespace(
        budget=budget, ledger=None, answering=lambda job: job, is_done=lambda job: False
    )
    plan: Any = Hundreds(dict.fromkeys(("poor", "good", "fair", "whole"), 64))
    tunings = [tuned("poor", 0.1), tuned("good", 0.9), tuned("fair", 0.5)]
    assert _raised(plan, tunings, work, ()) == raised
    assert "good" not in _raised(plan, tunings, work, {"good"})
