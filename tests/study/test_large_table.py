"""Studies of tables that are larger than memory: a sample is studied, boosting reads all rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from arboleda import CodedTable
from arboleda.cli import main
from arboleda.study import Study, StudyError, StudyResult
from arboleda.study.execution.ledger import Ledger
from arboleda.tables import chunked_reader, sampled_table

N_ROWS = 5_000
LIMIT = 60_000
BOOSTING = "Gradient boosting"
MODELS = "most_frequent,cart,gradient_boosting,category_boosting"


def make_large(n_rows: int = N_ROWS) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    x, z = draw.normal(size=(2, n_rows))
    city = draw.choice(["Rome", "Oslo", "Lima"], n_rows)
    value = x + z**2 + (city == "Oslo") + draw.normal(size=n_rows)
    frame = pd.DataFrame({"x": x, "z": z, "city": city, "y": np.where(value > 1, "yes", "no")})
    frame.loc[::9, "x"] = np.nan
    frame.loc[::11, "city"] = None
    return frame


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch, undrawn: None) -> None:
    monkeypatch.setattr(chunked_reader, "LARGE", 1 << 10)
    monkeypatch.setattr(chunked_reader, "_ROWS", 900)
    monkeypatch.setattr(chunked_reader, "_CHARACTERS", 60_000)
    monkeypatch.setattr(sampled_table, "MAX_ROWS", 1_200)


def run(source: Any, folder: Path, **options: Any) -> StudyResult:
    options = {"models": MODELS, "cv": 3, "search": "random:1", "n_jobs": 1, **options}
    options.setdefault("max_table_size", LIMIT)
    return Study(source, target="y", output_dir=folder, **options).run(progress=False)


def get_notes(result: StudyResult) -> dict[str, str]:
    return {model["key"]: model["note"] or "" for model in result.facts["models"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "large.parquet"
    make_large().to_parquet(made)
    return made


def test_boosting_is_fitted_to_all_rows_but_the_test(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(path, tmp_path / "study")
    notes = get_notes(result)
    assert result.facts["data"]["n_rows"] == 1_200
    assert any("The table has 5,000 rows" in note["text"] for note in result.facts["data"]["notes"])
    for key in ("gradient_boosting", "category_boosting"):
        assert "fitted to 4,760 rows of the file for its test" in notes[key]
    assert "from the sample alone: only boosting by histograms is fitted" in notes["cart"]

    study = Study(path, target="y", max_table_size=LIMIT)
    plan = study.make_plan()
    assert plan.sample is not None
    frame = make_large()
    train = np.setdiff1d(np.arange(N_ROWS), plan.sample.rows[plan.split.test])
    y = (frame["y"].to_numpy() == "yes").astype(int)
    for key in ("gradient_boosting", "category_boosting"):
        saved = result.model(key)
        x = saved.layout.encode(frame).x
        preparation, model = saved.pipeline_["preparation"], saved.pipeline_["model"]
        x = x if preparation == "passthrough" else preparation.transform(x)
        again = clone(model).fit(x[train], y[train])
        np.testing.assert_array_equal(saved.predict_proba(frame), again.predict_proba(x))

    def refuse(*unused: Any) -> None:
        raise AssertionError("a fit runs again")

    monkeypatch.setattr(Ledger, "put", refuse)
    assert get_notes(run(path, tmp_path / "study")) == notes
    assert not list((tmp_path / "study").glob(".codes-*"))


def test_a_study_of_another_sample_is_refused(path: Path, tmp_path: Path) -> None:
    def open_ledger(limit: int) -> None:
        plan = Study(path, target="y", max_table_size=limit).make_plan()
        Ledger(tmp_path, plan.identity()).close()

    open_ledger(LIMIT)
    for other in (LIMIT * 2 // 3, 10**9):  # fewer rows in the sample; all rows
        with pytest.raises(StudyError, match="not the same: sample, see --max-table-size"):
            open_ledger(other)
    open_ledger(LIMIT + 1)  # the same sample


def test_regression_and_coded_tables(tmp_path: Path) -> None:
    frame = make_large().assign(y=lambda f: f["x"].fillna(0) + f["z"])
    coded = CodedTable.from_frames([frame], target="y", path=tmp_path / "large.coded")
    models = "mean,gradient_boosting"
    result = run(coded, tmp_path / "study", models=models, max_table_size=None)
    assert "fitted to 4,760 rows" in get_notes(result)["gradient_boosting"]
    assert result.facts["models"][0]["test"]["metrics"]["r2"] > 0.9


def test_fits_in_processes_and_limits(path: Path, tmp_path: Path) -> None:
    result = run(path, tmp_path / "one", models="gradient_boosting")
    two = run(path, tmp_path / "two", models="gradient_boosting", n_jobs=2, fit_timeout=60)
    assert (tmp_path / "one" / "models" / "gradient_boosting.arboleda").read_bytes() == (
        tmp_path / "two" / "models" / "gradient_boosting.arboleda"
    ).read_bytes()
    assert get_notes(two) == get_notes(result)


def test_rows_that_cannot_be_read_leave_the_sample(tmp_path: Path) -> None:
    frame = make_large()
    frame["x"] = frame["x"].astype(object)
    path = tmp_path / "large.csv"
    frame.to_csv(path, index=False)
    sample = Study(path, target="y", max_table_size=LIMIT).make_plan().sample
    assert sample is not None
    outside = np.setdiff1d(np.arange(N_ROWS), sample.rows)
    frame.loc[outside[-1], "x"] = "broken"
    frame.to_csv(path, index=False)
    result = run(path, tmp_path / "study", models="gradient_boosting")
    note = get_notes(result)["gradient_boosting"]
    assert "learned from the sample alone: In the rows after the first" in note
    assert "'broken'" in note
    assert result.facts["models"][0]["status"] == "ok"


def test_a_missing_target_beyond_the_sample(tmp_path: Path) -> None:
    frame = make_large()
    path = tmp_path / "large.parquet"
    frame.to_parquet(path)
    sample = Study(path, target="y", max_table_size=LIMIT).make_plan().sample
    assert sample is not None
    frame.loc[np.setdiff1d(np.arange(N_ROWS), sample.rows)[:3], "y"] = None
    frame.to_parquet(path)
    one = run(path, tmp_path / "one", models="gradient_boosting")
    assert "missing in data row" in get_notes(one)["gradient_boosting"]
    two = run(path, tmp_path / "two", models="gradient_boosting", drop_missing_target=True)
    assert "fitted to 4,757 rows" in get_notes(two)["gradient_boosting"]


def test_selected_rows_and_groups_are_those_of_the_sample(path: Path, tmp_path: Path) -> None:
    result = run(path, tmp_path / "where", models="gradient_boosting", where="z > 0")
    assert "rows are selected by --where" in get_notes(result)["gradient_boosting"]


def test_the_command_describes_the_sample(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--max-table-size", str(LIMIT), "--models", "gradient_boosting", "--cv", "3"]
    out = ["--out", str(tmp_path / "study")]
    with pytest.raises(SystemExit) as stop:
        main(["study", str(path), "--target", "y", *out, *options])
    assert stop.value.code == 0
    shown = capsys.readouterr()
    text = " ".join((shown.out + shown.err).split())
    assert "a random sample of 1,200 rows is described and compared on" in text
    assert f"{BOOSTING} is fitted to 4,760 rows of the file." in text
    with pytest.raises(SystemExit):
        main(["study", str(path), "--target", "nothing", *out, *options])
    assert "has no column 'nothing'" in capsys.readouterr().err
