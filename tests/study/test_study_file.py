"""A study as a file: the written file gives the same study again."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from arboleda.cli import main
from arboleda.study import Study, StudyError
from arboleda.study.config.options import config_text, make_settings, read_config

pytestmark = pytest.mark.usefixtures("undrawn")

TABLE = "a,who,when,y\n" + "".join(f"{i % 7},{i % 10},{i},{'pq'[i % 2]}\n" for i in range(60))
EVERYTHING: dict[str, Any] = {
    "task": "classification",
    "metric": "mcc",
    "preset": "quick",
    "models": ["cart", "lda"],
    "cv": "group:3",
    "groups": "who",
    "test_size": 0.3,
    "time_budget": 900.0,
    "cost_matrix": {'p "1"': {"q\x7f": 5.0}, "q": {"p": 1.0}},
    "reject_cost": 0.25,
    "search": "tpe:12",
    "score_by": ["a", "w"],
    "where": ["a > 1", "who == 'it \"is\"' or when is missing"],
    "drop_missing": True,
    "drop_duplicates": True,
    "merge": {'a "b"': {"new, er": ["o:ld", "\x7f"], "x": ["y"]}, "w": {"1": ["2"]}},
    "drop": ["b", "c,d"],
    "lang": "es",
    "fit_timeout": 60.5,
    "fit_memory": 10**9,
    "random_state": 7,
    "n_jobs": 2,
}


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_every_setting_is_restored(tmp_path: Path) -> None:
    settings = make_settings(**EVERYTHING, test=tmp_path / "later.csv")
    path = tmp_path / "study.toml"
    path.write_text(config_text(tmp_path / "t.csv", 'y "\\\n', settings))
    found = read_config(path)
    assert found.pop("table") == str(tmp_path / "t.csv")
    assert found.pop("target") == 'y "\\\n'
    assert found.pop("output_dir") == str(tmp_path)
    found["test"] = Path(found["test"])
    assert make_settings(**found) == settings
    path.write_text(config_text("iris", "target", make_settings()))
    found = read_config(path)
    assert found["table"] == "iris"
    assert make_settings(
        **{k: v for k, v in found.items() if k not in ("table", "target", "output_dir")}
    )


@pytest.mark.parametrize("costs", ['"costs.json"', '\'{"p": {"q": 5}}\'', "{p = {q = 5}}"])
def test_cost_paths_are_relative_to_the_study_file(tmp_path: Path, costs: str) -> None:
    (tmp_path / "costs.json").write_text('{"p": {"q": 5}}')
    (tmp_path / "asked.toml").write_text(f'target = "y"\ncost_matrix = {costs}\n')
    found = read_config(tmp_path / "asked.toml")
    assert make_settings(cost_matrix=found["cost_matrix"]).cost_matrix == {"p": {"q": 5.0}}


def test_the_study_file_gives_the_same_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    Path("asked.toml").write_text(
        'table = "t.csv"\ntarget = "y"\nmodels = "lda"\ncv = 3\n'
        'random_state = 1\noutput_dir = "one"\n'
    )
    assert run("study", "--config", "asked.toml", "--seed", "5", "--metric", "mcc") == 0
    facts = json.loads(Path("one/results.json").read_text())["study"]
    assert (facts["seed"], facts["metric"], facts["folds"]) == (5, "mcc", 3)
    monkeypatch.chdir("/")
    capsys.readouterr()
    assert run("study", "--config", str(tmp_path / "one" / "study.toml")) == 0
    assert "Report: " in capsys.readouterr().out
    again = json.loads((tmp_path / "one" / "results.json").read_text())["study"]
    assert again == facts
    copy = tmp_path / "two"
    assert run("study", "--config", str(tmp_path / "one" / "study.toml"), "--out", str(copy)) == 0
    assert json.loads((copy / "results.json").read_text())["study"] == facts


def test_the_study_file_of_a_frame_names_no_table(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2, 3] * 20, "y": ["p", "q"] * 30})
    Study(frame, target="y", output_dir=tmp_path, models="cart").run()
    kept = tomllib.loads((tmp_path / "study.toml").read_text())
    assert "table" not in kept
    assert kept["models"] == ["cart"]
    with pytest.raises(StudyError, match=r"study.toml names no table; add table = "):
        Study.from_config(tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "folds = 5",
            "the key 'folds', which is unknown; the keys are table, target, output_dir, where",
        ),
        ("modles = 5", "the key 'modles', which is unknown; did you mean 'models'?"),
        ("Test-Size = 0.5", "did you mean 'test_size'?"),
        ("[cv]\nkind = 5", "The cross-validation {'kind': 5} is not a scheme"),
        ("table = 5", "The key 'table' of asked.toml must be a non-empty string, got 5."),
        ("[table]\n", "The key 'table' of asked.toml must be a non-empty string, got {}."),
        ('target = ""', "The key 'target' of asked.toml must be a non-empty string, got ''."),
        ("random_state = ", "The file asked.toml is not TOML (Invalid value"),
        ("lang = 1\nlang = 2", "The file asked.toml is not TOML (Cannot overwrite a value"),
        (
            "random_state = 1.5",
            "random_state (--seed) must be an integer from 0 to 4294967295, got 1.5",
        ),
        (
            "test_size = nan",
            "test_size must be a fraction of the rows between 0 and 1, such as 0.2, got nan.",
        ),
        ("random_state = 2020-01-01", "from 0 to 4294967295, got datetime.date(2020, 1, 1)"),
        ("x = " + "[" * 3000, "The file asked.toml is not TOML"),
        ("", "names no table; add table = "),
        ('table = "none.csv"\ntarget = "y"', "There is no file none.csv"),
    ],
)
def test_invalid_settings_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    facts: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("asked.toml").write_text(text, encoding="utf-8")
    named = [] if "no table" in facts or "none.csv" in facts else ["iris", "--target", "target"]
    assert run("study", *named, "--config", "asked.toml") == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert facts in lines[0]


@pytest.mark.parametrize(
    ("name", "facts"),
    [("none.toml", "There is no file none.toml"), (".", "cannot be read: Is a directory")],
)
def test_invalid_study_files_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    facts: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("study", "--config", name) == 2
    assert facts in capsys.readouterr().err
    Path("bad.toml").write_bytes(b"target = '\xff'")
    assert run("study", "--config", "bad.toml") == 2
    assert "bad.toml is not TOML" in capsys.readouterr().err


def test_the_example_of_the_guide_is_valid(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/study_options.md").read_text()
    path = tmp_path / "study.toml"
    path.write_text(guide.split("```toml\n")[2].split("```")[0])
    found = read_config(path)
    what = {key: found.pop(key) for key in ("table", "target", "output_dir")}
    assert what["table"] == str(tmp_path / "visits.csv")
    settings = make_settings(**found)
    assert settings.time_budget == 1800
    assert settings.cost_matrix == {"yes": {"no": 5.0}, "no": {"yes": 1.0}}
