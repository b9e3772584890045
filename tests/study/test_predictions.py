"""Predictions of a study for a new table, as a file."""

import json
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import arboleda
from arboleda.cli import main
from arboleda.facts.study import SCHEMA_VERSION
from arboleda.study import Study, StudyError, StudyFormatError, explain
from arboleda.study.artifacts.exports import export
from arboleda.study.artifacts.files import MODELS_VERSION
from arboleda.study.artifacts.loaded import StudyResult
from arboleda.study.results import predict_file, prediction_columns
from arboleda.study.results.predict_file import predict

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    """The folder of a study of a forest."""
    out = tmp_path_factory.mktemp("forest") / "study"
    Study(mixed, target="rich", output_dir=out, models="random_forest").run()
    return out


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_writes_the_predictions_of_the_model(
    forest: Path,
    mixed: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ending: str,
) -> None:
    monkeypatch.setattr(predict_file, "BLOCK", 60)
    columns = [c for c in reversed(mixed.columns) if c != "rich"]
    mixed[columns].to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / f"out.{ending}"
    assert run("predict", str(forest), str(tmp_path / "new.csv"), "-o", str(out)) == 0
    printed = capsys.readouterr()
    assert printed.out == f"Predictions: {out} (160 rows, by Random forest)\n"
    assert printed.err == ""
    found = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    model = Study.load(forest).best_model_
    assert list(found) == ["prediction", "probability of no", "probability of yes"]
    assert (found["prediction"] == model.predict(mixed)).all()
    np.testing.assert_allclose(found.iloc[:, 1:], model.predict_proba(mixed), rtol=1e-15)


def test_a_regression_is_predicted(tmp_path: Path) -> None:
    Study("diabetes", target="target", output_dir=tmp_path / "s", models="linear").run()
    found = predict(tmp_path / "s", "diabetes", tmp_path / "out.csv")
    values = pd.read_csv(found.path)
    study = Study.load(tmp_path / "s")
    test = study.test_rows()
    expected = study.best_model_.predict(test.X)
    np.testing.assert_allclose(values["prediction"].to_numpy()[test.numbers], expected, rtol=1e-12)
    assert list(values) == ["prediction"]
    assert found.n_rows == 442


def test_unusual_values_are_reported(
    forest: Path, mixed: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = mixed[:9].assign(city=["Paris", "Quito", *mixed["city"][2:9]], extra=1)
    new.drop(columns="id").to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    assert run("predict", str(forest), str(tmp_path / "new.csv"), "-o", str(out)) == 0
    assert capsys.readouterr().err.splitlines() == [
        "Not used, because the study's table did not have them: 'extra'.",
        (
            "Column 'city' holds values in 2 of 9 rows that the study's table did not have, such "
            "as 'Paris'."
        ),
    ]
    assert len(pd.read_csv(out)) == 9


def test_text_that_looks_like_numbers_stays_text(tmp_path: Path) -> None:
    codes = ["01234", "00777", "A1200"] * 30
    target = ["low", "high", "high"] * 30
    pd.DataFrame({"code": codes, "x": range(90), "y": target}).to_csv(
        tmp_path / "t.csv", index=False
    )
    Study(tmp_path / "t.csv", target="y", output_dir=tmp_path / "s", models="cart").run()
    (tmp_path / "new.csv").write_text("code;x\n01234;5\n00777;5\n")
    found = predict(tmp_path / "s", tmp_path / "new.csv", tmp_path / "out.csv")
    assert found.notes == ()
    assert pd.read_csv(found.path)["prediction"].tolist() == ["low", "high"]


def test_classes_that_look_like_formulas_are_escaped(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.arange(60) / 2, "y": np.where(np.arange(60) < 30, "=1+1", "@a")})
    Study(frame, target="y", output_dir=tmp_path / "s", models="cart").run()
    found = predict(tmp_path / "s", frame, tmp_path / "out.csv")
    assert found.path.read_text().splitlines()[:2] == [
        "prediction,probability of =1+1,probability of @a",
        "'=1+1,1.0,0.0",
    ]


def test_numeric_classes_are_written_as_the_table_has_them(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.arange(60) / 2, "y": np.arange(60) // 30})
    Study(frame, target="y", output_dir=tmp_path / "s", models="cart").run()
    for name, read in (("o.csv", pd.read_csv), ("o.parquet", pd.read_parquet)):
        found = predict(tmp_path / "s", frame, tmp_path / name)
        values = read(found.path)["prediction"]  # type: ignore[operator]
        assert values.dtype == np.int64
        assert (values == Study.load(tmp_path / "s").best_model_.predict(frame)).all()


def test_a_model_without_probabilities_predicts(
    tmp_path: Path, mixed: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"target": "rich", "preset": "thesis", "models": "svm"}
    Study(mixed, output_dir=tmp_path / "s", **options).run()
    found = predict(tmp_path / "s", mixed, tmp_path / "out.csv")
    (note,) = found.notes
    assert note.startswith("The model gives no probabilities; they are computed from its scores")
    names = ["prediction", "probability of no", "probability of yes"]
    assert list(pd.read_csv(found.path)) == names
    # Without out-of-fold predictions there is nothing to calibrate by.
    monkeypatch.setattr(StudyResult, "held_out", lambda self: None)
    found = predict(tmp_path / "s", mixed, tmp_path / "out.csv")
    assert found.notes == ("Support vector machine gives no probabilities.",)
    assert list(pd.read_csv(found.path)) == ["prediction"]


@pytest.mark.parametrize(
    ("content", "printed"),
    [
        ("age,city\n1,Rome\n", "lacks the columns 'wealth', 'since', 'member'"),
        ("", "is empty"),
        ("age,city,wealth,since,member\n", "no rows"),
        ("age,age,city,wealth,since,member\n1,1,Rome,1,2020-01-01,true\n", "more than one column"),
        ("age,city,wealth,since,member\nold,Rome,1,2020-01-01,true\n", "'old' in data row 1"),
        ("age,city,wealth,since,member\n1,Rome,inf,2020-01-01,true\n", "infinite value"),
    ],
)
def test_invalid_tables_are_reported_in_one_sentence(
    forest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, printed: str
) -> None:
    (tmp_path / "new.csv").write_text(content)
    out = tmp_path / "out.csv"
    assert run("predict", str(forest), str(tmp_path / "new.csv"), "-o", str(out)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("arboleda: error: ")
    assert printed in lines[0]
    assert not out.exists()


def test_unwritable_files_are_reported(forest: Path, tmp_path: Path, mixed: pd.DataFrame) -> None:
    mixed.to_csv(tmp_path / "new.csv", index=False)
    for out, printed in (
        ("out.xlsx", "must end in .csv or .parquet"),
        ("nowhere/out.csv", "cannot be written"),
        ("new.csv", "is the table itself"),
    ):
        with pytest.raises(StudyError, match=printed):
            predict(forest, tmp_path / "new.csv", tmp_path / out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.csv"]


def test_an_interruption_leaves_the_old_file(
    forest: Path, tmp_path: Path, mixed: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")
    monkeypatch.setattr(predict_file, "BLOCK", 50)
    sizes = []

    def stop(pipeline: Any, x: Any, n_classes: int) -> Any:
        sizes.append(len(x))
        if len(sizes) == 2:
            raise KeyboardInterrupt
        return np.zeros((len(x), n_classes))

    monkeypatch.setattr(prediction_columns, "predict_class_probabilities", stop)
    with pytest.raises(KeyboardInterrupt):
        predict(forest, mixed, out)
    assert out.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


Spoil = Callable[[Path], object]
DAMAGES: dict[str, tuple[Spoil, str]] = {
    "no study": (
        lambda f: [(f / name).unlink() for name in ("results.json", "ledger.sqlite")],
        "There is no study in",
    ),
    "interrupted": (
        lambda f: (f / "results.json").unlink(),
        "was interrupted before it wrote its results; run the same `arboleda study` again",
    ),
    "no facts": (lambda f: (f / "results.json").write_text("{"), "results.json is damaged"),
    "other facts": (lambda f: (f / "results.json").write_text("[]"), "results.json is damaged"),
    "newer facts": (
        lambda f: (f / "results.json").write_text(
            '{"schema_version": 9, "study": {}, "models": []}'
        ),
        "written by a newer version",
    ),
    "older facts": (
        lambda f: (f / "results.json").write_text(
            '{"schema_version": 2, "arboleda_version": "0.0.9", "study": {}, "models": []}'
        ),
        "written by an older version of arboleda, 0.0.9",
    ),
    "facts of an earlier state": (
        lambda f: change_facts(f, schema_version=SCHEMA_VERSION - 1),
        f"written by an older version of arboleda {arboleda.__version__}; run the study again",
    ),
    "no models": (
        lambda f: shutil.rmtree(f / "models"),
        "has no models; run the study's command",
    ),
    "no list": (
        lambda f: (f / "models" / "index.json").write_bytes(b"\xff"),
        "index.json is damaged",
    ),
    "deep list": (
        lambda f: (f / "models" / "index.json").write_text("[" * 100_000),
        "index.json is damaged",
    ),
    "other columns": (lambda f: edit(f, columns=[]), "there is no column"),
    "a column without a name": (lambda f: edit_column(f, name=""), "a column has no name"),
    "merged values in a list": (
        lambda f: edit_column(f, merged=["a"]),
        "merged values of a column are not an object",
    ),
    "no version": (lambda f: edit(f, format_version=float("nan")), "nan is not a version"),
    "version 0": (lambda f: edit(f, format_version=0), "0 is not a version"),
    "a true version": (lambda f: edit(f, format_version=True), "True is not a version"),
    "facts are a pipe": (lambda f: pipe(f / "results.json"), "it is not a file"),
    "list is a pipe": (lambda f: pipe(f / "models" / "index.json"), "it is not a file"),
    "facts without data": (lambda f: change_facts(f, data={}), "results.json is damaged"),
    "facts without rows": (
        lambda f: change_facts(f, data={"n_rows": "1", "columns": []}),
        "results.json is damaged",
    ),
    "no model": (
        lambda f: change_facts(f, models=[{"status": "ok", "key": "random_forest"}]),
        "results.json is damaged",
    ),
    "no model in the list": (lambda f: edit(f, models={}), "but not in the index of its models"),
    "half signs": (lambda f: edit_target(f, labels=["\ud800", "b"]), "not allowed"),
    "a class twice": (lambda f: edit_target(f, labels=["a", "a"]), "a class is listed twice"),
    "no truth values": (lambda f: edit_target(f, kind="boolean"), "are not Booleans"),
    "another target": (lambda f: edit_target(f, name="other"), "are of different studies"),
    "other study": (lambda f: edit(f, data_sha256="0" * 64), "are of different studies"),
    "newer list": (lambda f: edit(f, format_version=MODELS_VERSION + 1), "by a newer version"),
    "older list": (
        lambda f: edit(f, format_version=MODELS_VERSION - 1),
        "by an older version of arboleda",
    ),
    "paths": (
        lambda f: edit(f, models={"../../x": {}}),
        "is not a model's key",
    ),
    "other file": (
        lambda f: (f / "models" / "random_forest.arboleda").write_bytes(b"x"),
        "is not what the study wrote",
    ),
    "a folder": (
        lambda f: (
            (f / "models" / "random_forest.skops").unlink(),
            (f / "models" / "random_forest.skops").mkdir(),
        ),
        "it is not a file",
    ),
}


def edit(folder: Path, **changes: Any) -> None:
    path = folder / "models" / "index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_target(folder: Path, **changes: Any) -> None:
    stored = json.loads((folder / "models" / "index.json").read_text())
    edit(folder, target=stored["target"] | changes)


def edit_column(folder: Path, **changes: Any) -> None:
    first, *others = json.loads((folder / "models" / "index.json").read_text())["columns"]
    edit(folder, columns=[first | changes, *others])


def change_facts(folder: Path, **changes: Any) -> None:
    path = folder / "results.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_folders_raise_one_error(
    forest: Path, tmp_path: Path, mixed: pd.DataFrame, name: str
) -> None:
    spoil, printed = DAMAGES[name]
    folder = tmp_path / "study"
    shutil.copytree(forest, folder)
    spoil(folder)
    with pytest.raises(StudyFormatError, match=printed):
        predict(folder, mixed, tmp_path / "out.csv")
    with pytest.raises(StudyFormatError, match=printed):
        export(folder, tmp_path / "out.onnx")
    with pytest.raises(StudyFormatError, match=printed):
        explain(folder, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


@pytest.mark.parametrize("name", ["rows.parquet", "split.parquet"])
def test_damaged_rows_raise_one_error(forest: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "study"
    shutil.copytree(forest, folder)
    (folder / "models" / name).write_bytes(b"PAR1")
    with pytest.raises(StudyFormatError, match="is not what the study wrote"):
        Study.load(folder).training_rows()


def test_a_note_mentions_another_scikit_learn_version(
    forest: Path, tmp_path: Path, mixed: pd.DataFrame
) -> None:
    folder = tmp_path / "study"
    shutil.copytree(forest, folder)
    edit(folder, **{"scikit-learn": "1.6.0"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = predict(folder, mixed, tmp_path / "out.csv")
    assert "fitted with scikit-learn 1.6.0" in found.notes[0]
