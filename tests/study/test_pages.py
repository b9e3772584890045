"""The page of a study's model: its preparation, intervals, costs and rejections, and the link."""

import csv
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import arboleda.page_export
from arboleda._utils.errors import StudyError
from arboleda.cli import main
from arboleda.study import Study, page, predict
from arboleda.study.artifacts import pages

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
ENGINE = Path(__file__).parents[1] / "page_export" / "engine.cjs"
ROWS = 240
_COMMAS = str.maketrans(",.", ".,")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    words = np.array(["red car", "blue car no 7", "old boat", "red boat no 12", "new house"])
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, ROWS).astype(float),
            "town": rng.choice(["Jaca", "Ronda", "Vigo", "Olot"], ROWS),
            "owner": rng.choice(["yes", "no"], ROWS),
            "since": pd.Timestamp("2015-03-01") + pd.to_timedelta(rng.integers(0, 3000, ROWS), "D"),
            "note": words[rng.integers(0, 5, ROWS)] + pd.Series(range(ROWS)).astype(str).to_numpy(),
        }
    )
    # Numbers and dates as people write them, some in place of others.
    thousands = rng.integers(100, 3_000_000, ROWS)
    frame["price"] = [f"{n / 100:,.2f} €".translate(_COMMAS) for n in thousands.tolist()]
    frame.loc[::23, "price"] = "sold"
    weights = rng.integers(1, 90, ROWS).tolist()
    frame["weight"] = [f"{n} kg" if n % 3 else f"{n}000 g" for n in weights]
    frame["signed"] = frame["since"].dt.strftime("%d.%m.%y")
    frame["value"] = frame["age"] + 20 * (frame["town"] == "Vigo") + rng.normal(size=ROWS)
    frame["rich"] = np.where(frame["value"] + 9 * rng.normal(size=ROWS) > 55, "rich", "poor")
    frame.loc[::13, "age"] = np.nan
    frame.loc[::17, "town"] = None
    frame.loc[::19, "since"] = pd.NaT
    return frame


@pytest.fixture(scope="module")
def costly(table, tmp_path_factory):
    """A classification with costs and rejection."""
    return Study(
        table.drop(columns="value"),
        target="rich",
        models="gradient_boosting,logistic",
        search="random:1",
        cv=3,
        cost_matrix={"rich": {"poor": 3}},
        reject_cost=0.4,
        output_dir=tmp_path_factory.mktemp("costly"),
    ).run()


@pytest.fixture(scope="module")
def valued(table, tmp_path_factory):
    """A regression."""
    return Study(
        table.drop(columns="rich"),
        target="value",
        models="gradient_boosting,ridge",
        search="random:1",
        cv=3,
        output_dir=tmp_path_factory.mktemp("valued"),
    ).run()


def show(result, table, folder, **options):
    """What a page shows of rows with unseen categories, and what `arboleda predict` writes."""
    rows = table.head(60).copy()
    rows.loc[5, "town"] = "Elsewhere"
    rows.to_csv(folder / "rows.csv", index=False)
    page(result.folder, folder / "page.html", **options)
    with (folder / "rows.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    columns = result.layout.columns
    cells = [[line.get(c.name, line.get(c.words_of)) for c in columns] for line in lines]
    (folder / "cells.json").write_text(json.dumps(cells))
    done = subprocess.run([NODE, ENGINE, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    predict(result.folder, folder / "rows.csv", folder / "predicted.csv", **options)
    found = json.loads((folder / "shown.json").read_text())
    saved, predicted = (pd.read_csv(folder / f"{name}.csv") for name in ("saved", "predicted"))
    assert list(saved) == [*rows, *predicted]
    pd.testing.assert_frame_equal(saved[list(predicted)], predicted, rtol=1e-9, check_dtype=False)
    return found["shown"], predicted, found["explained"]


@needs_node
@pytest.mark.parametrize("key", [None, "gradient_boosting", "logistic"])
def test_probabilities_and_decisions_are_those_of_predict(key, costly, table, tmp_path):
    shown, expected, _ = show(costly, table, tmp_path, model=key)
    names = costly.class_names
    assert [names[row["label"]] for row in shown] == expected["prediction"].tolist()
    for k, name in enumerate(names):
        shares = [row["probabilities"][k] for row in shown]
        np.testing.assert_allclose(shares, expected[f"probability of {name}"], atol=1e-13)
    decided = [row["decision"]["label"] for row in shown]
    found = ["rejected" if k < 0 else names[k] for k in decided]
    assert found == expected["decision"].tolist()
    assert len(set(found)) > 1


@needs_node
def test_sets_are_those_of_predict(costly, table, tmp_path):
    shown, expected, _ = show(costly, table, tmp_path, intervals=0.8)
    sets = [
        sorted(n for n, k in zip(costly.class_names, row["set"], strict=True) if k) for row in shown
    ]
    assert sets == [sorted(text.split(" | ")) for text in expected["set 80 %"]]


@needs_node
def test_values_and_intervals_are_those_of_predict(valued, table, tmp_path):
    shown, expected, _ = show(valued, table, tmp_path, intervals=0.9)
    for part, name in (("value", "prediction"), ("lower", "lower 90 %"), ("upper", "upper 90 %")):
        np.testing.assert_allclose([row[part] for row in shown], expected[name], rtol=1e-12)


@needs_node
@pytest.mark.parametrize("key", ["gradient_boosting", "ridge"])
def test_contributions_add_up_to_the_prediction(key, valued, table, tmp_path):
    # Of the other row in a comparison, of the training rows in a sum of trees.
    shown, _, explained = show(valued, table, tmp_path, model=key)
    total = explained["base"][0] + sum(explained["values"])
    assert total == pytest.approx(shown[0]["value"], rel=1e-9)
    assert len(explained["values"]) == len(valued.layout.columns)
    if key == "ridge":
        assert explained["base"][0] == pytest.approx(shown[1]["value"], rel=1e-12)


@needs_node
def test_risks_are_those_of_predict(table, tmp_path):
    rng = np.random.default_rng(0)
    rows = table[["age", "town", "price"]].assign(
        time=np.round(np.exp(rng.normal(size=ROWS)) * 100 / table["age"].fillna(50), 2) + 0.01,
        event=rng.integers(0, 2, ROWS),
    )
    study = Study(
        rows,
        time="time",
        event="event",
        models="cox,survival_tree",
        search="random:1",
        cv=2,
        output_dir=tmp_path / "timed",
    ).run()
    for key in ("cox", "survival_tree"):
        show(study, rows.drop(columns=["time", "event"]), tmp_path, model=key)
    with pytest.raises(StudyError, match="no intervals of a risk"):
        page(study.folder, tmp_path / "page.html", intervals=0.9)


def test_a_page_is_written_into_a_folder(costly, tmp_path):
    assert page(costly.folder, tmp_path / "pages").path == tmp_path / "pages" / "page.html"
    assert (tmp_path / "pages" / "page.html").exists()


def test_the_report_links_to_a_page_in_its_folder(costly, tmp_path, capsys):
    report = costly.report
    before = report.read_text("utf-8")
    page(costly.folder, tmp_path / "elsewhere.html")
    assert report.read_text("utf-8") == before
    with pytest.raises(SystemExit) as stop:
        main(["page", str(costly.folder)])
    assert stop.value.code == 0
    assert "page.html" in capsys.readouterr().out
    assert 'href="page.html"' in report.read_text("utf-8")


@pytest.mark.parametrize("key", [None, "gradient_boosting"])
def test_a_model_of_training_rows_is_replaced_or_refused(key, costly, tmp_path, monkeypatch):
    def refuse(pipeline, *arguments):
        if pipeline is costly.model(costly.best_key).pipeline_ or key is not None:
            raise TypeError("a SVC consists of training rows")
        return convert(pipeline, *arguments)

    convert = arboleda.page_export.convert_coded
    monkeypatch.setattr(arboleda.page_export, "convert_coded", refuse)
    monkeypatch.setattr(pages, "load_study", lambda folder: costly)
    path = tmp_path / "page.html"
    if key is None:
        written = page(costly.folder, path)
        assert "cannot be computed by a page (a SVC consists of training rows)" in written.notes[0]
        assert written.name in written.notes[0]
        return
    with pytest.raises(StudyError, match="choose another model with --model"):
        page(costly.folder, path, model=key)
    assert not path.exists()


def test_rows_are_in_the_page_only_on_request(costly, table, tmp_path):
    spec = read_spec(costly, tmp_path)
    assert spec["rows"] is None
    rows = read_spec(costly, tmp_path, include_rows=5)["rows"]
    known = set(table["note"])
    place = [column.name for column in costly.layout.columns].index("note")
    assert len(rows) == 5
    assert all(row[place] in known for row in rows)


def read_spec(result, folder, **options):
    text = page(result.folder, folder / "page.html", **options).path.read_text("utf-8")
    return json.loads(text.split('id="spec">')[1].split("</script>")[0])
