"""What follows the search shares its work: the learning curve runs while models are combined."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from arboleda.study import Study
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job
from arboleda.study.execution.ledger import Ledger
from arboleda.study.execution.pool import Pool
from arboleda.study.results import best_model

OPTIONS: dict[str, Any] = {"target": "target", "models": "most_frequent,lda,naive_bayes"}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[list[Job]]:
    """The jobs of each run of the executor."""
    found = []
    run = Executor.run

    def record(self: Executor, jobs: Iterable[Job], *args: Any, **options: Any) -> None:
        found.append(list(jobs))
        run(self, found[-1], *args, **options)

    monkeypatch.setattr(Executor, "run", record)
    return found


@pytest.mark.usefixtures("undrawn")
def test_the_learning_curve_runs_while_models_are_combined(
    tmp_path: Path, runs: list[list[Job]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead: list[list[Job]] = []
    stored: list[tuple[str, str, str]] = []
    send, put = Pool.send_ahead, Ledger.put

    def record_sent(self: Pool, jobs: Iterable[Job]) -> None:
        ahead.append(list(jobs))
        send(self, ahead[-1])

    def record_stored(
        self: Ledger, model: str, params: dict[str, Any], fold: str, result: Any
    ) -> None:
        stored.append((model, repr(params), fold))
        put(self, model, params, fold, result)

    monkeypatch.setattr(Pool, "send_ahead", record_sent)
    monkeypatch.setattr(Ledger, "put", record_stored)
    facts = Study("iris", output_dir=tmp_path / "two", n_jobs=2, **OPTIONS).run().facts
    curve = facts["learning_curve"]
    [beside] = ahead
    assert len(beside) == 15
    # The progress display shows the search and the tests.
    assert not any(job.is_shown or job.is_test for job in beside)
    assert {job.model for job in beside} == {curve["model"]}
    assert [point["share"] for point in curve["points"]] == [0.125, 0.25, 0.5, 1.0]
    assert len(stored) == len(set(stored))
    assert {(job.model, job.entry) for job in beside} <= {(name, fold) for name, _, fold in stored}
    done = sum(len(jobs) for jobs in runs)
    Study("iris", output_dir=tmp_path / "two", n_jobs=2, **OPTIONS).run()
    assert sum(len(jobs) for jobs in runs) == done
    alone = Study("iris", output_dir=tmp_path / "one", n_jobs=1, **OPTIONS).run().facts
    assert alone["learning_curve"]["points"] == curve["points"]


@pytest.mark.usefixtures("undrawn")
def test_with_a_budget_the_tests_come_first(tmp_path: Path, runs: list[list[Job]]) -> None:
    facts = Study("iris", output_dir=tmp_path, time_budget="10h", **OPTIONS).run().facts
    together = next(jobs for jobs in runs if any(job.is_test for job in jobs))
    assert all(job.is_test for job in together)
    assert len(facts["learning_curve"]["points"]) == 4


@pytest.mark.usefixtures("undrawn")
def test_the_best_model_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, names = best_model.read_model, []

    def count(folder: Path, key: str, files: Any) -> Any:
        names.append(key)
        return read(folder, key, files)

    monkeypatch.setattr(best_model, "read_model", count)
    facts = Study("iris", output_dir=tmp_path, **OPTIONS).run().facts
    assert facts["importance"]["columns"]
    assert facts["surrogate"]["tree"]
    assert names == [facts["importance"]["model"]]
