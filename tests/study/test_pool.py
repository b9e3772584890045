"""Jobs in processes that can be stopped: a crashing fit fails alone."""

import resource
import signal
import sys
import time
import tracemalloc
import weakref
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
import psutil
import pyarrow as pa
import pytest
from joblib import cpu_count
from sklearn.pipeline import Pipeline
from tests.study.conftest import make_mixed
from tests.study.odd import Odd

from arboleda.cli import _study as command
from arboleda.study import Study, StudyError
from arboleda.study.config.settings import Settings
from arboleda.study.execution import worker as worker_module
from arboleda.study.execution.job import Job, Limits
from arboleda.study.execution.pool import Pool
from arboleda.study.execution.worker import (
    CELLS_PER_POOL,
    SECONDS_PER_POOL,
    Worker,
    choose_processes,
    start_spare_workers,
)
from arboleda.study.execution.worker_process import _receive_ahead
from arboleda.study.plan import Plan, make_plan
from arboleda.study.runner import search_models
from arboleda.tables.reading import read_table

MB = 1_000_000


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(
        read_table(make_mixed()), "rich", Settings(models=("most_frequent",), metric="accuracy")
    )


def job(plan: Plan, act: str, fold: str = "0") -> Job:
    fit, score = plan.split.folds[0]
    pipeline = Pipeline([("preparation", "passthrough"), ("model", Odd(act))])
    return Job("odd", {"act": act}, fold, pipeline, fit, score)


@pytest.fixture
def pools(plan: Plan, tmp_path: Path) -> Iterator[Any]:
    made: list[Pool] = []
    others = set(psutil.Process().children())  # of tests before these

    def make(processes: int = 2, **options: Any) -> Pool:
        made.append(Pool(plan.shared, processes, tmp_path, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
    assert set(psutil.Process().children()) <= others
    # The file of the table has no name, so that nothing of it can be left.
    assert list(tmp_path.iterdir()) == []


def errors(pool: Pool, jobs: list[Job]) -> dict[str, str | None]:
    return {f"{j.params['act']} {j.fold}": r["error"] for j, r in pool.run(jobs)}


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        ("die", "Stopped: its process was killed (signal 9), most likely for want of memory"),
        ("crash", "Stopped: its process died of signal 11 (Segmentation fault)"),
        ("leave", "Stopped: its process ended by itself, with status 3"),
    ],
)
def test_a_crashing_fit_fails_alone(pools: Any, plan: Plan, act: str, sentence: str) -> None:
    jobs = [job(plan, "nothing", str(k)) for k in range(3)]
    found = errors(pools(), [jobs[0], job(plan, act), *jobs[1:], job(plan, "error")])
    assert found.pop(f"{act} 0") == sentence
    assert found.pop("error 0") == "ValueError: no"
    assert found == {f"nothing {k}": None for k in range(3)}


def test_a_fit_that_takes_too_long_is_stopped(pools: Any, plan: Plan) -> None:
    pool = pools(1, limits=Limits(seconds=4))
    began = time.monotonic()
    found = errors(pool, [job(plan, "sleep"), job(plan, "nothing")])
    assert time.monotonic() - began < 50
    assert found == {
        "sleep 0": "Stopped: it took more than 4 s, the limit of a fit",
        "nothing 0": None,
    }


def test_a_fit_cannot_exceed_its_memory_limit(pools: Any, plan: Plan) -> None:
    pool = pools(1, limits=Limits(memory=500 * MB))
    assert errors(pool, [job(plan, "eat"), job(plan, "nothing")]) == {
        "eat 0": "Stopped: it ran out of memory, of which it may take 500 MB, the limit of a fit",
        "nothing 0": None,
    }
    # This process is held by nothing.
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


def test_no_worker_runs_after_the_time_limit(pools: Any, plan: Plan) -> None:
    deadline = time.monotonic() + 12
    pool = pools(2, deadline=deadline)
    done = list(pool.run([job(plan, "nothing"), *(job(plan, "sleep", str(k)) for k in range(4))]))
    assert time.monotonic() < deadline + 5
    assert [j.params["act"] for j, _ in done] in ([], ["nothing"])
    assert list(pool.run([job(plan, "nothing")])) == []


def test_in_process_no_job_starts_after_the_time_limit(pools: Any, plan: Plan) -> None:
    pool = pools(1, deadline=time.monotonic() - 1)
    assert list(pool.run([job(plan, "nothing")])) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_jobs_that_do_not_fit_the_time_are_skipped(pools: Any, plan: Plan, processes: int) -> None:
    jobs = [job(plan, "nothing", str(k)) for k in range(4)]
    done = pools(processes).run(jobs, lambda j: int(j.fold) % 2 == 1)
    assert sorted(j.fold for j, _ in done) == ["1", "3"]


def test_jobs_sent_ahead_run_once_while_this_process_works(pools: Any, plan: Plan) -> None:
    pool = pools(2)
    pool.send_ahead([job(plan, "nothing", "9")])
    assert list(pool.run([])) == []  # no worker was idle
    assert len(list(pool.run([job(plan, "nothing", str(k)) for k in range(2)]))) == 2
    ahead = [job(plan, "nothing", str(k)) for k in range(2, 7)]
    pool.send_ahead(ahead)
    assert sum(len(worker.jobs) for worker in pool._workers._workers) == 5
    time.sleep(2)
    done = [j.fold for j, _ in pool.run([ahead[0], job(plan, "nothing", "7"), ahead[4]])]
    assert sorted(done) == ["2", "3", "4", "5", "6", "7"]


def test_a_crash_stops_the_jobs_that_were_sent_ahead_to_the_same_process(
    pools: Any, plan: Plan
) -> None:
    pool = pools(2)
    assert len(list(pool.run([job(plan, "nothing", str(k)) for k in range(2)]))) == 2
    n_idle = sum(worker.is_idle for worker in pool._workers._workers)
    pool.send_ahead([job(plan, "crash"), *(job(plan, "nothing", str(k)) for k in range(2, 5))])
    found = errors(pool, [job(plan, "nothing", "5")])
    stopped = {name for name, error in found.items() if error is not None}
    assert len(found) == 5
    assert stopped == ({"crash 0", "nothing 3"} if n_idle == 2 else set(found) - {"nothing 5"})


def test_a_worker_without_memory_for_a_message_ends() -> None:
    class Full:
        def recv_bytes(self) -> bytes:
            raise MemoryError

    assert _receive_ahead(cast(Any, Full())).get(timeout=20) is None


def test_a_limit_on_the_time_of_a_job_sends_nothing_ahead(pools: Any, plan: Plan) -> None:
    pool = pools(1, limits=Limits(60.0, None))
    assert len(list(pool.run([job(plan, "nothing")]))) == 1
    pool.send_ahead([job(plan, "nothing", "1")])
    assert list(pool.run([])) == []


def test_leaving_the_pool_ends_its_workers(pools: Any, plan: Plan) -> None:
    others = set(psutil.Process().children())
    pool = pools(2)
    results = pool.run([job(plan, "nothing"), job(plan, "sleep"), job(plan, "sleep", "1")])
    next(results)
    results.close()
    assert all(worker.job is None for worker in pool._workers._workers)
    ours = set(psutil.Process().children()) - others
    assert len(ours) == len(pool._workers._workers)
    began = time.monotonic()
    assert errors(pool, [job(plan, "nothing")]) == {"nothing 0": None}
    assert time.monotonic() - began < 50  # nobody waits for the sleepers


def test_ctrl_c_while_workers_start_is_for_the_parent_alone(
    pools: Any, plan: Plan, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    start = Worker.__init__
    started: list[int] = []

    def interrupted(worker: Worker) -> None:
        start(worker)
        worker.process.send_signal(signal.SIGINT)
        started.append(worker.process.pid)

    monkeypatch.setattr(Worker, "__init__", interrupted)
    assert errors(pools(), [job(plan, "nothing")]) == {"nothing 0": None}
    assert len(started) == 1
    assert capfd.readouterr() == ("", "")


def test_workers_started_early_are_the_first_to_get_jobs(pools: Any, plan: Plan) -> None:
    start_spare_workers(1)
    (early,) = worker_module._SPARE
    pool = pools(2)
    jobs = [job(plan, "nothing", str(k)) for k in range(4)]
    assert errors(pool, jobs) == {f"nothing {k}": None for k in range(4)}
    assert pool._workers._workers[0] is early
    assert not worker_module._SPARE


def test_workers_that_are_started_in_vain_are_ended(pools: Any) -> None:
    start_spare_workers(2)
    waiting = [spare.process for spare in worker_module._SPARE]
    pools(1)  # jobs of a small table run in this process
    assert not worker_module._SPARE
    assert all(process.poll() is not None for process in waiting)


def test_the_command_starts_workers_early_for_a_large_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    monkeypatch.setattr(command, "start_spare_workers", started.append)
    small, large, packed = tmp_path / "small.csv", tmp_path / "large.csv", tmp_path / "t.csv.gz"
    small.write_bytes(b"x" * CELLS_PER_POOL)
    large.write_bytes(b"x" * 5 * CELLS_PER_POOL)
    packed.write_bytes(b"x" * 2 * CELLS_PER_POOL)
    out = tmp_path / "out"
    for table in ("iris", "no such file", "\0", str(small), None):
        command._start_workers_early(table, out, None)
    command._start_workers_early(str(large), out, 1)
    command._start_workers_early(str(large), tmp_path, None)  # a study to be resumed
    assert not any(started)
    command._start_workers_early(str(large), out, None)
    command._start_workers_early(str(packed), None, None)
    command._start_workers_early(str(small), None, 10_000)  # a number that was not checked
    assert started[-3:] == [cpu_count() - 1] * 3


def test_workers_started_early_import_what_this_process_can(
    pools: Any,
    plan: Plan,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A module of the user may have added its folder meanwhile."""
    start_spare_workers(1)
    folder = tmp_path_factory.mktemp("user")
    (folder / "users_module.py").write_text("class Users(dict): pass\n")
    monkeypatch.setattr("sys.path", [*sys.path, str(folder)])
    users = import_module("users_module").Users
    wanted = replace(job(plan, "nothing"), params={"act": "nothing", "users": users()})
    assert errors(pools(2), [wanted]) == {"nothing 0": None}


def test_workers_that_cannot_read_the_data_do_not_start(
    pools: Any, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "arboleda.study.execution.worker._PROGRAM",
        "from arboleda.study.execution import worker_process as w; "
        "w.map_matrix = lambda *_: exit(9); w.run_worker()",
    )
    with pytest.raises(StudyError, match="do not start .*status 9.*--jobs 1"):
        list(pools(2).run([job(plan, "nothing")]))


def test_workers_that_never_start_are_reported(
    pools: Any, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.study.execution.worker._PROGRAM", "raise SystemExit(7)")
    with pytest.raises(StudyError, match="do not start .*status 7.*--jobs 1"):
        list(pools(2).run([job(plan, "nothing")]))


def test_a_missing_interpreter_is_reported(
    pools: Any, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    with pytest.raises(StudyError, match="No worker process can be started .*--jobs 1"):
        list(pools(2).run([job(plan, "nothing")]))


def test_the_matrix_is_memory_mapped(pools: Any, plan: Plan, tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((len(plan.target.y), 2_000))
    features = plan.features.replace_matrix(x)
    pool = Pool(replace(plan.shared, features=features), 2, tmp_path)
    try:
        assert errors(pool, [job(plan, "nothing")]) == {"nothing 0": None}
        assert pool._workers is not None
        assert len(pool._workers._first) < MB < x.nbytes
        assert isinstance(pool.features.x.base, np.memmap)
    finally:
        pool.close()
    assert np.array_equal(pool.features.x, x)  # also after the file is closed
    assert pools(1).features is plan.features  # without processes, nothing is written


def test_a_study_holds_its_table_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy in the study's own process took a gigabyte of a million rows."""
    originals: list[Any] = []
    make = Study.make_plan

    def make_watched(study: Study) -> Plan:
        made = make(study)
        columns = [made.table.column(name).values for name in ("age", "wealth")]
        originals.extend(map(weakref.ref, [made.features, *columns]))
        return made

    def check(plan: Plan, executor: Any) -> Any:
        assert [original() for original in originals] == [None] * 3
        x = plan.features.x
        assert isinstance(x.base, np.memmap)
        views = {c.name for c in plan.table.columns if np.shares_memory(c.values, x)}
        numbers = {c.name for c in plan.table.columns if c.kind in ("numeric", "boolean")}
        assert views == {name for name in numbers if plan.roles[name].role == "feature"}
        assert len(views) > 1
        return search_models(plan, executor)

    monkeypatch.setattr(Study, "make_plan", make_watched)
    monkeypatch.setattr("arboleda.study.study.search_models", check)
    results = {}
    for n_jobs in (2, 1):
        options: dict[str, Any] = {
            "target": "rich",
            "models": "most_frequent,cart",
            "n_jobs": n_jobs,
        }
        folder = tmp_path / str(n_jobs)
        results[n_jobs] = Study(make_mixed(), output_dir=folder, **options).run().facts
        monkeypatch.undo()
    for models in zip(*(facts["models"] for facts in results.values()), strict=True):
        assert models[0]["test"]["metrics"] == models[1]["test"]["metrics"]
    assert results[2]["data"] == results[1]["data"]


def test_small_tables_start_no_process() -> None:
    assert choose_processes(None, CELLS_PER_POOL, SECONDS_PER_POOL) == 1
    assert choose_processes(None, CELLS_PER_POOL + 1) == cpu_count()
    assert choose_processes(None, 1, SECONDS_PER_POOL + 1) == cpu_count()
    assert choose_processes(3, 1) == 3


def test_the_matrix_is_not_in_memory_beside_the_table(tmp_path: Path) -> None:
    """Up to the first fit there are rows of folds, but no second copy of the columns."""
    n_rows, n_columns = 70_000, 40
    draw = np.random.default_rng(0)
    columns = {f"x{j}": draw.normal(size=n_rows) for j in range(n_columns)}
    study = Study(pa.table({**columns, "y": columns["x0"]}), target="y", models="mean")
    study.make_plan()  # imports what is imported on first use
    tracemalloc.start()
    try:
        plan = study.make_plan()
        with Pool(plan.shared, 2, tmp_path) as pool:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            np.testing.assert_array_equal(pool.features.x, np.column_stack([*columns.values()]))
            assert pool.features.x.flags.c_contiguous
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * n_rows * n_columns * 8
