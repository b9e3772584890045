"""Searches in rounds: the same whoever does the work and however often it is interrupted."""

import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from arboleda.catalogue import Model, Size
from arboleda.catalogue.model import Choice, RealRange
from arboleda.study import Study, StudyError, StudyResult
from arboleda.study.config.presets import PRESETS, Entry, Preset
from arboleda.study.execution import pool
from arboleda.study.execution.executor import Budget
from arboleda.study.execution.job import JobStatus, make_failed_result, run_job
from arboleda.study.execution.ledger import Ledger
from arboleda.study.execution.progress import SilentWatcher
from arboleda.study.plan import CELL_COST, JOB_COST
from arboleda.study.search import row_caps
from arboleda.study.search.strategies import GridStrategy, HalvingStrategy, TpeStrategy

pytestmark = pytest.mark.usefixtures("undrawn")

SCHEMA = json.loads(files("arboleda.facts").joinpath("study.schema.json").read_text())
MODELS = "most_frequent,cart,logistic"
Timeless = Callable[[Any], Any]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    draw = np.random.default_rng(1)
    x = draw.normal(size=(240, 3))
    y = np.where(x[:, 0] + x[:, 1] * x[:, 2] + draw.normal(size=240) > 0, "u", "v")
    return pd.DataFrame(x, columns=list("abc")).assign(y=y)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the preset that is the default."""

    def put(**changes: Any) -> None:
        preset = Preset("quick", "for a test", ("core",), **changes)
        monkeypatch.setitem(PRESETS, "quick", preset)

    return put


@pytest.fixture
def staged(quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree by halving, and a line whose price is drawn."""
    space = {"C": RealRange(0.001, 10.0, log=True), "solver": Choice(("lbfgs", "newton-cg"))}
    drawn = Entry("logistic", TpeStrategy(10), space=lambda setting: space)
    quick(entries=(Entry("cart", HalvingStrategy(min_rows=0)), drawn))


def run(table: pd.DataFrame, out: Path, **options: Any) -> StudyResult:
    options = {"models": MODELS, "n_jobs": 1, **options}
    result = Study(table, target="y", output_dir=out, **options).run()
    jsonschema.Draft202012Validator(SCHEMA).validate(result.facts)
    return result


def model_of(result: StudyResult, key: str) -> dict[str, Any]:
    found: dict[str, Any] = next(m for m in result.facts["models"] if m["key"] == key)
    return found


@pytest.mark.usefixtures("staged")
def test_low_fidelity_scores_stop_candidates(table: pd.DataFrame, tmp_path: Path) -> None:
    result = run(table, tmp_path)
    cart = model_of(result, "cart")
    states = [c["status"] for c in cart["candidates"]]
    assert (states.count("ok"), states.count("stopped")) == (6, 12)
    stopped = [c for c in cart["candidates"] if c["status"] == "stopped"]
    assert all(c["stage"] == {"share": 0.25, "folds": 1} for c in stopped)
    assert all(len(c["fold_scores"]) == 1 and c["sd"] is None for c in stopped)
    whole = [c for c in cart["candidates"] if c["status"] == "ok"]
    assert all(c["stage"] == {"share": 1.0, "folds": 5} for c in whole)
    # A look may score more than any candidate; what is chosen has all folds.
    assert cart["candidates"][cart["best"]]["status"] == "ok"
    assert cart["cv"]["mean"] == min(c["mean"] for c in whole)
    logistic = model_of(result, "logistic")
    assert len(logistic["candidates"]) == 10
    # The first of its grid could not be drawn.
    assert [set(c["params"]) for c in logistic["candidates"]] == [{"C"}] + 9 * [{"C", "solver"}]
    assert result.facts["search"] == {
        "preset": "quick",
        "rounds": 4,
        "budget": None,
        "left_out": [],
    }


def test_an_explicit_search_overrides_the_presets(
    table: pd.DataFrame, tmp_path: Path, timeless: Timeless
) -> None:
    models = "cart,random_forest,lda"
    one = run(table, tmp_path / "one", models=models, search="TPE:5")
    two = run(table, tmp_path / "two", models=models, search="tpe:5", n_jobs=2)
    assert timeless(one.facts) == timeless(two.facts)
    assert one.facts["study"]["settings"]["search"] == "tpe:5"
    tried = {key: model_of(one, key)["candidates"] for key in models.split(",")}
    # Discriminant analysis has a grid alone.
    assert [len(found) for found in tried.values()] == [5, 5, 3]
    assert tried["random_forest"][0]["params"]["max_features"] == "sqrt"
    assert all(isinstance(c["params"]["max_features"], float) for c in tried["random_forest"][1:])


@pytest.mark.usefixtures("staged")
def test_rounds_do_not_depend_on_the_number_of_processes(
    table: pd.DataFrame, tmp_path: Path, timeless: Timeless
) -> None:
    one = run(table, tmp_path / "one")
    two = run(table, tmp_path / "two", n_jobs=2)
    assert timeless(one.facts) == timeless(two.facts)


@pytest.mark.usefixtures("staged")
def test_interrupted_rounds_resume(
    table: pd.DataFrame, tmp_path: Path, timeless: Timeless, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(table, tmp_path / "whole")
    done: list[tuple[str, str]] = []

    def stop(job: Any, shared: Any) -> dict[str, Any]:
        if len(done) in (3, 30, 61, 80, 86) and done[-1] != ("", ""):
            done.append(("", ""))  # stopped here; it is not counted as work
            raise KeyboardInterrupt
        done.append((f"{job.model} {job.params}", job.entry))
        return run_job(job, shared)

    monkeypatch.setattr(pool, "run_job", stop)
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            run(table, tmp_path / "stopped")
    assert timeless(run(table, tmp_path / "stopped").facts) == timeless(expected.facts)
    executor = [each for each in done if each != ("", "")]
    assert len(executor) == len(set(executor))


def test_expensive_fits_use_a_subset_of_the_rows(
    quick: Any, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.study.search.row_caps.LEAST_ROWS", 16)
    size = Size(64, 3, 2)
    # 240 rows: a fifth is for the test, and a fifth of the others is predicted in a fold.
    around = JOB_COST + CELL_COST * (size.rows + 39) * size.columns
    quick(fit_cost=around + _cost("bagging", size, {"max_features": 1.0}), search=GridStrategy())
    result = run(table, tmp_path, models="most_frequent,cart,bagging")
    assert model_of(result, "most_frequent")["note"] is None
    assert "random part" not in (model_of(result, "cart")["note"] or "")
    assert "a random part of 64 rows" in model_of(result, "bagging")["note"]
    assert model_of(result, "bagging")["test"] is not None
    # Another preset goes on in the same folder, with all rows.
    quick(search=GridStrategy())
    again = run(table, tmp_path, models="most_frequent,cart,bagging")
    assert model_of(again, "bagging")["note"] is None
    assert model_of(again, "bagging")["cv"] != model_of(result, "bagging")["cv"]


def _cost(key: str, size: Size, params: dict[str, Any]) -> float:
    from arboleda.catalogue import select_models

    model: Model = next(m for m in select_models("binary", [key]) if m.key == key)
    return model.cost(size, params)


def test_a_generous_budget_changes_nothing(
    table: pd.DataFrame, tmp_path: Path, timeless: Timeless
) -> None:
    free, timed = run(table, tmp_path / "a"), run(table, tmp_path / "b", time_budget="10h")
    one, two = timeless(free.facts), timeless(timed.facts)
    assert two["study"]["settings"]["time_budget"] == two["search"]["budget"] == 36000
    assert one["models"] == two["models"]
    assert two["search"]["left_out"] == []


def test_a_budget_of_no_time_is_reported(table: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="within the time budget; allow more time"):
        run(table, tmp_path, time_budget=1e-6)
    facts = json.loads((tmp_path / "results.json").read_text())
    assert facts["models"] == []
    assert {left["key"] for left in facts["search"]["left_out"]} == set(MODELS.split(","))
    assert all(left["whole"] for left in facts["search"]["left_out"])
    assert (tmp_path / "report.html").exists()
    with pytest.raises(StudyError, match="within the time budget; allow more time"):
        run(table, tmp_path, time_budget=1e-6, search="tpe:40")
    facts = json.loads((tmp_path / "results.json").read_text())
    left = {item["key"]: item["candidates"] for item in facts["search"]["left_out"]}
    assert left == {"most_frequent": 1, "cart": 40, "logistic": 40}


class Clock:
    """Time that passes only while fits are done."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("arboleda.study.study.monotonic", clock.monotonic)
    monkeypatch.setattr("arboleda.study.execution.executor.time.monotonic", clock.monotonic)

    def slow(job: Any, shared: Any) -> dict[str, Any]:
        seconds = {"most_frequent": 0.5, "logistic": 1.0, "cart": 2.0}[job.model]
        clock.now += seconds
        return {**run_job(job, shared), "seconds": seconds}

    monkeypatch.setattr(pool, "run_job", slow)
    return clock


def test_a_budget_gives_every_model_a_candidate_and_ends_in_time(
    quick: Any, clock: Clock, table: pd.DataFrame, tmp_path: Path
) -> None:
    quick(search=GridStrategy())
    result = run(table, tmp_path, time_budget=100)
    assert clock.now - 1000.0 <= 100
    found = {m["key"]: m for m in result.facts["models"]}
    assert all(found[key]["status"] == "ok" for key in MODELS.split(","))
    left = {item["key"]: item for item in result.facts["search"]["left_out"]}
    # At most one candidate was at work when the time was over.
    assert 18 - left["cart"]["candidates"] - len(found["cart"]["candidates"]) in (0, 1)
    assert not left["cart"]["whole"]
    # Most of the time was used.
    assert clock.now - 1000.0 > 60


def test_a_small_budget_selects_the_cheap_models(
    quick: Any, clock: Clock, table: pd.DataFrame, tmp_path: Path
) -> None:
    quick(search=GridStrategy())
    run(table, tmp_path, time_budget=100)
    # The ledger has the time of each fit, so that it is known at once what fits into 20 s.
    tight = run(table, tmp_path / "tight", time_budget=20)
    assert clock.now < 1000.0 + 100 + 20 + 5
    tried = {m["key"] for m in tight.facts["models"] if m["status"] == "ok"}
    assert "most_frequent" in tried
    left = {item["key"]: item["whole"] for item in tight.facts["search"]["left_out"]}
    skipped = {m["key"] for m in tight.facts["models"] if "no time was left" in (m["error"] or "")}
    assert set(left) | tried | skipped >= {"most_frequent", "logistic", "cart"}


@pytest.fixture
def misestimated(
    quick: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Callable[[float], None]:
    """Looks take 40 s, though fits are quick; of all rows, those of the logistic model are not."""

    def put(seconds: float) -> None:
        quick(search=GridStrategy())
        monkeypatch.setattr("arboleda.study.search.row_caps.LEAST_ROWS", 16)
        monkeypatch.setattr("arboleda.study.search.row_caps.TIMED_ROWS", 16)

        def timed(job: Any, shared: Any) -> dict[str, Any]:
            is_slow = job.model == "logistic" and job.entry in "01234"
            passed = 40.0 if job.is_low_fidelity else seconds if is_slow else 0.05
            clock.now += passed
            return {**run_job(job, shared), "seconds": passed}

        monkeypatch.setattr(pool, "run_job", timed)

    return put


def test_remaining_time_goes_to_models_fitted_on_few_rows(
    misestimated: Any, table: pd.DataFrame, tmp_path: Path
) -> None:
    misestimated(0.05)
    models = "most_frequent,naive_bayes,logistic"
    result = run(table, tmp_path, models=models, time_budget=1000)
    ledger = sqlite3.connect(tmp_path / "ledger.sqlite")
    entries = {entry for (entry,) in ledger.execute("select fold from work where model='logistic'")}
    assert any(entry.startswith("0 of ") for entry in entries)  # it was thought to be slow
    for key in ("naive_bayes", "logistic"):
        assert model_of(result, key)["note"] is None
        assert model_of(result, key)["status"] == "ok"
    free = run(table, tmp_path / "free", models=models)
    for key in ("naive_bayes", "logistic"):
        assert model_of(result, key)["cv"]["mean"] == model_of(free, key)["cv"]["mean"]
        assert model_of(result, key)["test"]["metrics"] == model_of(free, key)["test"]["metrics"]
    assert result.facts["search"]["left_out"] == []


@pytest.mark.parametrize("models", ["best_leafwise,best_linear", "best_leafwise"])
def test_other_candidates_of_bags_wait_for_full_rows(
    models: str, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"preset": "best", "models": models}
    with monkeypatch.context() as patch:
        caps = {"best_leafwise": 64}
        patch.setattr(
            "arboleda.study.runner.apply_row_caps", lambda plan, executor: replace(plan, caps=caps)
        )
        calls: list[str] = []
        patch.setattr(SilentWatcher, "begin", lambda *args: calls.append("begin"))
        patch.setattr(SilentWatcher, "begin_round", lambda *args: calls.append("begin_round"))
        result = run(table, tmp_path, time_budget="10h", **options)
    assert calls == ["begin"] + ["begin_round"] * (len(calls) - 1)
    ledger = sqlite3.connect(tmp_path / "ledger.sqlite")
    done = ledger.execute("select params, fold from work where model='best_leafwise'").fetchall()
    # There is time for all rows, so that no model is fitted to a subset.
    assert not any(" of " in fold for _, fold in done)
    assert len({params for params, _ in done}) == 2
    assert result.facts["search"]["left_out"] == []
    free = run(table, tmp_path / "free", **options)
    assert len(result.facts["models"]) == len(free.facts["models"])
    for model in free.facts["models"]:
        assert model_of(result, model["key"])["test"]["metrics"] == model["test"]["metrics"]


def test_a_small_fit_shows_which_bag_is_better(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.study.search.row_caps.LEAST_ROWS", 32)
    monkeypatch.setattr("arboleda.study.search.row_caps.TIMED_ROWS", 32)
    apply_row_caps, loss, found = (
        row_caps.apply_row_caps,
        row_caps._estimate_error,
        dict[str, float](),
    )

    keys = ("best_leafwise", "best_linear")

    def capped(plan: Any, executor: Any) -> Any:
        return replace(apply_row_caps(plan, executor), caps=dict.fromkeys(keys, 64))

    def record_loss(plan: Any, model_search: Any, executor: Any) -> float:
        found[model_search.model.key] = loss(plan, model_search, executor)
        return found[model_search.model.key]

    monkeypatch.setattr("arboleda.study.runner.apply_row_caps", capped)
    monkeypatch.setattr("arboleda.study.search.row_caps._estimate_error", record_loss)
    options = {"preset": "best", "models": ",".join(keys), "metric": "log_loss"}
    run(table, tmp_path, time_budget="10h", **options)
    ledger = sqlite3.connect(tmp_path / "ledger.sqlite")
    for key in keys:
        query = "select result from work where model=? and fold like '0 at %'"
        (text,) = ledger.execute(query, (key,)).fetchone()
        assert found[key] == json.loads(text)["scores"]["log_loss"]


@pytest.mark.parametrize(
    ("seconds", "shares"), [(0.1, ["0.0625", "0.25"]), (0.6, ["0.0625"])], ids=["quick", "slow"]
)
def test_fast_models_are_timed_on_more_rows(
    seconds: float,
    shares: list[str],
    quick: Any,
    table: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quick(search=GridStrategy())
    monkeypatch.setattr(row_caps, "LEAST_ROWS", 16)
    monkeypatch.setattr(row_caps, "TIMED_ROWS", 16)
    monkeypatch.setattr(row_caps, "LARGE_SHARE", 0.5)
    monkeypatch.setattr(
        pool, "run_job", lambda job, shared: {**run_job(job, shared), "seconds": seconds}
    )
    run(table, tmp_path, models="most_frequent,naive_bayes", time_budget="10h")
    ledger = sqlite3.connect(tmp_path / "ledger.sqlite")
    looks = ledger.execute(
        "select fold from work where model='naive_bayes' and fold like '0 at %' order by fold"
    )
    assert [fold.removeprefix("0 at ") for (fold,) in looks] == shares


def test_a_model_that_never_finishes_keeps_its_earlier_result(
    misestimated: Any, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    misestimated(400.0)
    # A part of so few rows costs a part of all.
    monkeypatch.setattr("arboleda.study.plan.JOB_COST", 0.0)
    models = "most_frequent,naive_bayes,logistic"
    result = run(table, tmp_path, models=models, time_budget=1200)
    found = model_of(result, "logistic")
    assert found["status"] == "ok"
    assert "a random part of" in found["note"]
    assert found["test"] is not None
    assert len(found["cv"]["fold_scores"]) == 5


def test_a_slow_start_skips_no_model() -> None:
    budget = Budget(90.0, time.monotonic(), 1)
    tests = [_costing(f"model {i}", 0.3) for i in range(12)]
    for test in tests:
        budget.reserve_for_test(test)
    # The first fit should take some milliseconds and takes half a second: it loads modules.
    budget.record(_costing("first", 0.02), 0.5)
    assert all(budget.has_time_for(test) for test in tests)
    # Nor is one slow model a reason to leave the others out, but several are.
    budget.record(_costing("first", 0.02), 0.5)
    assert all(budget.has_time_for(test) for test in tests)
    for model in ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"):
        budget.record(_costing(model, 0.02), 0.5)
    assert not any(budget.has_time_for(test) for test in tests)


def test_timings_use_each_job_once(
    quick: Any, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(search=GridStrategy())
    learned: list[tuple[str, str]] = []
    record = Budget.record

    def counting(self: Budget, job: Any, seconds: float) -> None:
        learned.append((job.model + str(job.params), job.entry))
        record(self, job, seconds)

    monkeypatch.setattr(Budget, "record", counting)
    for _ in range(2):  # what is stored is learned from again in another process
        learned.clear()
        run(table, tmp_path, time_budget="10h")
        assert len(learned) == len(set(learned)) > 20


def test_unmeasured_models_use_the_mean_rate_and_the_catalogue() -> None:
    budget = Budget(90.0, time.monotonic(), 0)
    assert budget.compute_rate("a") == 1.0
    budget.record(_costing("a", 2.0), 8.0)
    assert (budget.compute_rate("a"), budget.compute_rate("b")) == (4.0, 2.0)
    budget.record(_costing("c", 1.0), 16.0)
    assert budget.compute_rate("b") == pytest.approx(4.0)  # the geometric mean of 4, 16 and 1


def test_a_skipped_model_is_proposed_again_when_others_were_faster(
    quick: Any, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(search=GridStrategy())
    calls: list[int] = []

    def compute_room(self: Budget, test: Any) -> float:
        # In the first round there seems to be time for one model alone.
        calls.append(1)
        return 0.0 if len(calls) in (2, 3) else 1e9

    monkeypatch.setattr(Budget, "compute_room", compute_room)
    result = run(table, tmp_path, time_budget="10h", models="most_frequent,logistic,cart")
    assert result.facts["search"]["left_out"] == []
    assert result.facts["search"]["rounds"] > 2
    assert all(m["status"] == "ok" for m in result.facts["models"])


def _costing(model: str, cost: float) -> Any:
    return SimpleNamespace(model=model, cost=cost, reporting_seconds=0.0)


def test_a_failed_fit_is_retried(table: pd.DataFrame, tmp_path: Path) -> None:
    run(table, tmp_path, models="most_frequent")
    with Ledger(tmp_path, _identity(table)) as ledger:
        ledger.put("most_frequent", {}, "0", _stopped())
    assert model_of(run(table, tmp_path, models="most_frequent"), "most_frequent")["status"] == "ok"


def _identity(table: pd.DataFrame) -> Any:
    from arboleda.study.config.settings import Settings
    from arboleda.study.plan import make_plan
    from arboleda.tables.reading import read_table

    return make_plan(read_table(table), "y", Settings(models=("most_frequent",))).identity()


def _stopped() -> dict[str, Any]:
    return make_failed_result(JobStatus.STOPPED, "Stopped: no luck")


def test_presets_are_complete() -> None:
    assert set(PRESETS) == {"quick", "thesis", "best"}
    for key, preset in PRESETS.items():
        assert preset.key == key
        assert preset.models
        assert preset.entry("no such model").search == preset.search
