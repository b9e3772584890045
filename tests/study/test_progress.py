"""What is shown while a study runs."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from arboleda._utils.numbers import format_duration, format_mean_and_sd, format_number
from arboleda.study import Study, StudyResult
from arboleda.study.config.settings import Settings
from arboleda.study.execution import progress
from arboleda.study.execution.job import Job
from arboleda.study.execution.model_sizes import ModelSizes
from arboleda.study.execution.progress import (
    LiveWatcher,
    PlainWatcher,
    make_watcher,
)
from arboleda.study.plan import Plan, make_plan
from arboleda.study.results.leaderboard import failures, leaderboard_table
from arboleda.study.search.strategies import Trial
from arboleda.tables.reading import read_table


@pytest.fixture
def plan(mixed: pd.DataFrame) -> Plan:
    return make_plan(read_table(mixed), "rich", Settings(metric="accuracy"))


def result(score: float | None, error: str | None = None) -> dict[str, Any]:
    scores = {} if score is None else {"accuracy": score}
    timing = {} if error else {"fit_s": 1.5, "predict_s": 0.5}
    return {"error": error, "scores": scores, "timing": timing, "warnings": []}


def jobs_of(plan: Plan, model: str) -> list[Job]:
    entry = next(m for m in plan.models if m.key == model)
    return [j for p in plan.candidates(entry) for j in plan.trial_jobs(entry, Trial(p))]


def test_progress_is_printed_as_plain_lines(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    out = io.StringIO()
    watcher = PlainWatcher(Console(file=out, width=60))
    baseline = jobs_of(plan, "most_frequent")
    watcher.begin(plan, baseline, n_stored=3)
    for i, job in enumerate(baseline):
        clock[0] += 2.0
        watcher.record_result(job, result(0.5 + i / 100))
    logistic = jobs_of(plan, "logistic")[0]
    watcher.record_result(logistic, result(None, "ValueError: [red]no[/red]"))
    model = next(m for m in plan.models if m.key == "most_frequent")
    watcher.record_result(plan.test_job(model, {}), result(0.625))
    lines = out.getvalue().splitlines()
    assert lines[0] == "table: 160 rows, 9 columns, target rich"
    assert lines[1] == "The task is classification: the target holds text."
    assert lines[2] == "What becomes of each column:"
    assert lines[3].startswith("  id       number    left out (identifier: ")
    plan_line = next(at for at, line in enumerate(lines) if line.startswith("128 rows"))
    lines = lines[plan_line:]
    assert lines[0].endswith("13 features; 13 models, 5 fits to do, 3 already done.")
    # Five fits of 2 s in 10 s; the 13 tests are left.
    assert lines[1] == "Most frequent class: 0.52 ± 0.016; about 26 s left"
    assert lines[2] == "Logistic regression: failed (ValueError: [red]no[/red])"
    assert lines[3] == "Most frequent class: test Accuracy 0.625"


def test_the_remaining_time_stays_within_the_budget(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    out = io.StringIO()
    watcher = PlainWatcher(Console(file=out, width=60))
    baseline = jobs_of(plan, "most_frequent")
    watcher.deadline = 125.0
    watcher.begin(plan, baseline, n_stored=0)
    for job in baseline:
        clock[0] += 2.0
        watcher.record_result(job, result(0.5))
    # 26 s at this pace, and the budget ends 15 s from now.
    assert out.getvalue().splitlines()[-1].endswith("about 15 s left")


def test_a_candidate_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Study("iris", target="target", output_dir=tmp_path, models="lda").run(progress=True)
    lines = [line.partition(";")[0] for line in capsys.readouterr().err.splitlines()]
    assert any("±" in line for line in lines)
    assert len(lines) == len(set(lines))


def test_the_live_table_shows_all_models(plan: Plan) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    jobs = [job for model in plan.models for job in jobs_of(plan, model.key)]
    with LiveWatcher(console) as watcher:
        assert isinstance(watcher, LiveWatcher)
        watcher.begin(plan, jobs, n_stored=0)
        for job in jobs_of(plan, "most_frequent"):
            watcher.record_result(job, result(0.75))
        watcher.record_result(jobs_of(plan, "svm")[0], result(None, "ValueError: no"))
        model = next(m for m in plan.models if m.key == "most_frequent")
        watcher.record_result(plan.test_job(model, {}), result(0.7))
        console.print(watcher._draw())
    shown = out.getvalue()
    assert "Accuracy of the folds" in shown
    assert "0.75 ± 0" in shown
    assert "tested" in shown
    assert "failed" in shown
    assert "left" in shown
    assert f"{len(jobs) + len(plan.models)}" in shown


def test_the_progress_style_matches_the_output() -> None:
    assert type(make_watcher(False)) is progress.SilentWatcher
    assert isinstance(make_watcher(True), PlainWatcher)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.4, "9.4 s"), (59.6, "1 min 00 s"), (12, "12 s"), (200, "3 min 20 s")],
)
def test_durations_are_formatted(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.86132, "0.8613"), (1680.63, "1,680.6"), (-3e-9, "-3e-09")]
)
def test_numbers_are_formatted(value: float | None, text: str) -> None:
    assert format_number(value) == text


def test_the_leaderboard_is_printed(mixed_result: StudyResult) -> None:
    facts = mixed_result.facts
    failed = {**facts["models"][-1], "status": "failed", "error": "ValueError: no", "best": None}
    facts = {**facts, "models": [*facts["models"][:-1], failed]}
    out = io.StringIO()
    Console(file=out, width=79).print(leaderboard_table(facts, width=79))
    lines = out.getvalue().splitlines()
    assert max(len(line) for line in lines) <= 79
    assert lines[0].strip() == "table, target rich: Accuracy"
    first = facts["models"][0]
    assert f"│  1 │ {first['name']}" in lines[4]  # more than nine models
    assert f"{first['cv']['mean']:.4g} ± " in lines[4]
    assert f"│ {first['test']['metrics']['accuracy']:.4g} " in lines[4]
    assert "failed" in lines[-2]
    assert failures(facts) == [f"{failed['name']} failed: ValueError: no"]
    out = io.StringIO()
    Console(file=out, width=160).print(leaderboard_table(facts, width=160))
    assert "max_depth=" in out.getvalue()


def test_a_narrow_leaderboard_keeps_its_numbers(mixed_result: StudyResult) -> None:
    first = mixed_result.facts["models"][0]
    for width in (40, 50, 60):
        out = io.StringIO()
        Console(file=out, width=width).print(leaderboard_table(mixed_result.facts, width=width))
        lines = out.getvalue().splitlines()
        assert max(len(line) for line in lines) <= width
        row = next(line for line in lines if "│  1 │" in line)
        assert format_mean_and_sd(first["cv"]["mean"], first["cv"]["sd"]) in row
        assert f"│ {format_number(first['test']['metrics']['accuracy'])} " in row


def save(watched: ModelSizes, job: Job, megabytes: float, name: str | None = None) -> str | None:
    file = {"bytes": int(megabytes * 1e6), "sha256": ""}
    return watched.record(job, {"kept": {"files": {f"{name or job.kept_as}.skops": file}}})


def test_the_size_of_the_models_is_announced_before_much_is_written(
    plan: Plan, tmp_path: Path
) -> None:
    model = next(m for m in plan.models if m.key == "cart")
    job = replace(plan.test_job(model, {}), keep=tmp_path)
    watched = ModelSizes(tmp_path)
    watched.expect([job] * 12)
    assert save(watched, job, 15, "first") is None
    assert save(watched, job, 15, "second") == (
        f"The 12 fitted models will take about 180 MB in {tmp_path}; --models with fewer models "
        "takes less."
    )
    # Once is enough.
    assert [save(watched, job, 15, str(k)) for k in range(10)] == [None] * 10


def test_small_and_failed_models_are_not_announced(plan: Plan, tmp_path: Path) -> None:
    model = next(m for m in plan.models if m.key == "cart")
    job = replace(plan.test_job(model, {}), keep=tmp_path)
    watched = ModelSizes(tmp_path)
    watched.expect([job] * 12)
    for k in range(6):
        assert save(watched, job, 4, str(k)) is None
        assert watched.record(replace(job, keep=None), {}) is None
        assert watched.record(job, {"status": "failed"}) is None
    # A file that several models share counts once.
    assert [save(watched, job, 20, "shared") for _ in range(9)] == [None] * 9


def test_a_study_announces_the_size_of_its_models(
    mixed: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("arboleda.study.execution.model_sizes.LARGE", 1000)
    study = Study(mixed, target="rich", output_dir=tmp_path, models="lda,cart", n_jobs=1)
    study.run(progress=True)
    lines = [line for line in capsys.readouterr().err.splitlines() if " MB in " in line]
    assert len(lines) == 1
    assert f"MB in {tmp_path / 'models'}; --models with fewer" in lines[0]
    saved = sum(file.stat().st_size for file in (tmp_path / "models").glob("*.*"))
    assert saved > 1000
    # The line of a live table and of a notebook stays, too.
    out = io.StringIO()
    LiveWatcher(Console(file=out, width=60, force_terminal=True)).announce("A [line]")
    assert "A [line]" in out.getvalue()
