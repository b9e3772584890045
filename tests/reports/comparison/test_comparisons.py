"""Comparisons of studies."""

import json
import shutil
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from arboleda.analysis.comparison.compare import _compare_over_tables
from arboleda.analysis.comparison.differences import find_row_mismatch
from arboleda.cli import main
from arboleda.diagnose import compare_over_data_sets
from arboleda.study import Study, StudyError, compare

SCHEMA = json.loads(files("arboleda.facts").joinpath("comparison.schema.json").read_text())
NASTY = '</script><script>x()</script>"><img onerror=x()>'


def flowers(n: int = 400, seed: int = 0, name: str = "kind") -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    y = draw.integers(2, size=n)
    x = draw.normal(size=(n, 3)) + 1.5 * y[:, None] * np.array([1.0, 0, 0])
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    frame[name] = np.where(y == 1, "=rose", "tulip")
    return frame


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Studies of one table, twice the same but for the models, one with another seed; another."""
    root = tmp_path_factory.mktemp("studies")
    studies: dict[str, tuple[Any, dict[str, Any]]] = {
        "first": (flowers(), {"models": "lda,most_frequent"}),
        "again": (flowers(), {"models": "lda,most_frequent"}),
        "poor": (flowers(), {"models": "most_frequent"}),
        "seeded": (flowers(), {"models": "lda,most_frequent", "random_state": 5}),
        "other": (flowers(120, 9, NASTY), {"models": "lda,most_frequent", "target": NASTY}),
        "third": (flowers(140, 7), {"models": "lda,most_frequent"}),
    }
    for name, (table, more) in studies.items():
        options = {"target": "kind", "metric": "accuracy", "output_dir": root / name}
        Study(table, **{**options, **more}).run()
    return {name: root / name for name in studies}


def compared(folders: dict[str, Path], *names: str) -> dict[str, Any]:
    facts = compare([folders[name] for name in names]).facts
    jsonschema.validate(facts, SCHEMA)
    return facts


def test_the_page_is_in_the_given_language(folders: dict[str, Path]) -> None:
    found = compare([folders["first"], folders["again"]], lang="es")
    page = found.to_html()
    assert '<html lang="es">' in page
    assert all(words in page for words in ("Mejores modelos", "Qué difiere", "Métodos"))
    assert not [words for words in ("Best model", "What differs", "Methods") if words in page]
    with pytest.raises(StudyError, match="no pages in 'xx'; choose one of en, es"):
        compare([folders["first"], folders["again"]], lang="xx")


def test_two_runs_of_one_study_are_equal(folders: dict[str, Path]) -> None:
    facts = compared(folders, "first", "again")
    assert all(row["same"] for row in facts["differences"])
    (pair,) = facts["paired"]["pairs"]
    assert (pair["difference"], pair["p_adjusted"]) == (0, 1)
    assert "have the same data, settings and versions" in facts["sentences"][0]
    assert "do not differ beyond chance" in facts["sentences"][1]
    for row in facts["leaderboard"]:
        assert row["cells"][0] == row["cells"][1]


def test_a_better_model_wins_on_the_same_rows(folders: dict[str, Path]) -> None:
    facts = compared(folders, "poor", "first")
    (pair,) = facts["paired"]["pairs"]
    tests = [
        json.loads((folders[name] / "results.json").read_text())["models"][0]["test"]["metrics"]
        for name in ("poor", "first")
    ]
    assert facts["paired"]["n_rows"] == 80
    assert pair["difference"] == pytest.approx(tests[0]["accuracy"] - tests[1]["accuracy"])
    assert pair["p_adjusted"] < 0.05
    assert [row["what"] for row in facts["differences"] if not row["same"]] == ["Models"]
    assert "Linear discriminant analysis of first is better" in facts["sentences"][-1]


def test_other_seeds_hold_out_other_rows(folders: dict[str, Path]) -> None:
    facts = compared(folders, "first", "seeded")
    shared = facts["paired"]
    assert not facts["paired"]["pairs"] or shared["n_rows"] < 80
    assert "seed" in facts["sentences"][1]


def test_other_tables_are_not_paired_and_three_studies_are_ranked(folders: dict[str, Path]) -> None:
    facts = compared(folders, "first", "other", "third")
    assert facts["paired"]["why_not"] == "the tables differ"
    over = facts["over_tables"]
    assert [model["key"] for model in over["models"]] == ["lda", "most_frequent"]
    errors = [[-row["test"] for row in column] for column in _columns(facts)]
    expected = compare_over_data_sets(errors, names=["lda", "most_frequent"])
    assert over["models"][0]["mean_rank"] == expected.mean_rank[0] == 1
    assert over["p"] == expected.f_p_value


def _columns(facts: dict[str, Any]) -> list[list[dict[str, Any]]]:
    rows = sorted(facts["leaderboard"], key=lambda row: row["key"])
    return [[row["cells"][j] for row in rows] for j in range(len(facts["studies"]))]


def test_rows_of_a_group_count_as_one(tmp_path: Path) -> None:
    visits = 4
    patients = flowers(100).loc[np.repeat(np.arange(100), visits)].reset_index(drop=True)
    patients["<b>patient</b>"] = np.repeat(np.arange(100), visits)
    studies: Any = {"target": "kind", "groups": "<b>patient</b>", "cv": "group:4"}
    studies["metric"] = "accuracy"
    for models in ("lda", "most_frequent"):
        Study(patients, models=models, output_dir=tmp_path / models, **studies).run()
    found = compare([tmp_path / "lda", tmp_path / "most_frequent"])
    jsonschema.validate(found.facts, SCHEMA)
    assert found.facts["paired"]["groups"] == "<b>patient</b>"
    assert "&lt;b&gt;patient&lt;/b&gt;</bdi> count as one" in found.to_html()

    first, second = (Study.load(tmp_path / name) for name in ("lda", "most_frequent"))
    rows = first.test_rows()
    assert rows.groups is not None
    assert np.array_equal(rows.groups, patients["<b>patient</b>"].to_numpy()[rows.numbers])
    # A patient's visits are the same row: they add no evidence beyond one row for each patient.
    one, two = (
        (study.best_model_.predict(rows.X) == rows.y).astype(float)[::visits]
        for study in (first, second)
    )
    n = len(one)
    difference = np.mean(one - two)
    error = np.sqrt(np.mean((one - two - difference) ** 2) / n)
    (pair,) = found.facts["paired"]["pairs"]
    assert pair["difference"] == pytest.approx(difference)
    assert pair["p"] == pytest.approx(2 * stats.t.sf(abs(difference) / error, n - 1))
    assert found.facts["paired"]["n_rows"] == visits * n


def test_test_rows_of_one_group_give_no_comparison(tmp_path: Path) -> None:
    houses = flowers(400).assign(house=np.arange(400) % 5)
    for models in ("lda", "most_frequent"):
        out = tmp_path / models
        Study(
            houses,
            target="kind",
            models=f"{models},cart",
            groups="house",
            cv="group:4",
            output_dir=out,
        ).run()
    facts = compare([tmp_path / "lda", tmp_path / "most_frequent"]).facts
    jsonschema.validate(facts, SCHEMA)
    assert facts["paired"]["why_not"] == "all test rows have the same 'house'"
    comparison = json.loads((tmp_path / "lda" / "results.json").read_text())["comparison"]
    assert "all have the same 'house'" in comparison["test_note"]
    assert all(row["test"] is None for row in comparison["rows"])


def test_only_equal_splits_are_paired(tmp_path: Path) -> None:
    table = flowers(300).assign(house=np.arange(300) % 30, day=np.arange(300))
    for name, studies in {
        "random": {},
        "groups": {"groups": "house"},
        "time": {"time": "day"},
    }.items():
        Study(table, target="kind", models="lda", output_dir=tmp_path / name, **studies).run()
    for name in ("groups", "time"):
        facts = compare([tmp_path / "random", tmp_path / name]).facts
        assert "in different ways" in facts["paired"]["why_not"]
        assert "in different ways" in facts["sentences"][-1]


def test_studies_with_the_same_test_table_are_paired(tmp_path: Path) -> None:
    train, test, other = flowers(300), flowers(90, 1), flowers(90, 2)
    for name, models, later in (
        ("one", "lda", test),
        ("two", "most_frequent", test),
        ("three", "lda", other),
    ):
        options = {"target": "kind", "metric": "accuracy", "models": models, "test": later}
        Study(train, output_dir=tmp_path / name, **options).run()
    facts = compare([tmp_path / "one", tmp_path / "two"]).facts
    jsonschema.validate(facts, SCHEMA)
    assert facts["paired"]["n_rows"] == 90
    one, two = (
        json.loads((tmp_path / name / "results.json").read_text())["models"][0]["test"]["metrics"]
        for name in ("one", "two")
    )
    (pair,) = facts["paired"]["pairs"]
    assert pair["difference"] == pytest.approx(one["accuracy"] - two["accuracy"])
    facts = compare([tmp_path / "one", tmp_path / "three"]).facts
    assert facts["paired"]["why_not"] == "the test tables differ"
    assert "Test data, SHA-256" in [row["what"] for row in facts["differences"]]
    older = [Study.load(tmp_path / name).facts for name in ("one", "three")]
    for one in older:
        del one["study"]["test_sha256"]
    assert "run the studies again" in str(find_row_mismatch(older))


def test_without_the_rows_the_rest_is_reported(folders: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(folders["first"], tmp_path / "bare")
    (tmp_path / "bare" / "models" / "rows.parquet").unlink()
    found = compare([folders["first"], tmp_path / "bare"])
    jsonschema.validate(found.facts, SCHEMA)
    assert "rows.parquet" in found.facts["paired"]["why_not"]
    assert found.facts["leaderboard"]
    assert "cannot be compared row by row" in found.to_html()


def test_two_studies_of_one_table_count_once(folders: dict[str, Path]) -> None:
    names = ("first", "again", "third")
    facts = [Study.load(folders[name]).facts for name in names]
    assert _compare_over_tables(names, facts) is None


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.events: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.events += [name for name, _ in attrs if name.startswith("on")]


def test_the_page_contains_no_code_of_the_user(folders: dict[str, Path], tmp_path: Path) -> None:
    found = compare([folders["first"], folders["other"]])
    page = found.save(tmp_path / "page.html").read_text(encoding="utf-8")
    parser = _Tags()
    parser.feed(page)
    assert parser.tags.count("script") == 1
    assert "img" not in parser.tags
    assert not parser.events
    assert "default-src &#39;none&#39;" in page
    assert page.count("Leaderboards") >= 2


def test_the_command_prints_the_path_of_the_page(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "c.html"
    with pytest.raises(SystemExit) as stop:
        main(["compare", str(folders["first"]), str(folders["poor"]), "--out", str(out)])
    assert stop.value.code == 0
    assert out.exists()
    printed = capsys.readouterr().out
    assert "Linear discriminant analysis" in printed
    assert f"Page: {out}" in printed.replace("\n", "")


@pytest.mark.parametrize(
    ("names", "message"), [(["first"], "at least two"), (["first", "first"], "given twice")]
)
def test_studies_that_cannot_be_compared_are_refused(
    folders: dict[str, Path], names: list[str], message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        compare([folders[name] for name in names])


def test_a_folder_without_a_study_is_reported(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no study"):
        compare([folders["first"], tmp_path])
