"""Help, completion, the list of models, and what a study says to do next."""

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arboleda.catalogue.entries import CATALOGUE, CORE, select_models
from arboleda.catalogue.portfolio import PORTFOLIO
from arboleda.cli import main
from arboleda.cli._completion import COMPLETERS, complete_study_model, complete_table
from arboleda.cli._run import COMMANDS
from arboleda.study import Study
from arboleda.study.choices import list_models
from arboleda.study.config.declaration import GROUPS
from arboleda.study.config.presets import PRESETS
from arboleda.study.config.settings import OPTIONS
from arboleda.study.output_folder import suggest_next_steps

NAMES = [command.__name__ for command in COMMANDS]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def read_help(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert run(*command, "--help") == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("command", [[], *([name] for name in NAMES)], ids=str)
def test_help_fits_and_is_whole(
    width: int,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    text = read_help(capsys, *command)
    assert all(len(line) <= width for line in text.splitlines())
    _, _, after_usage = text.partition("\n\n")
    assert "..." not in after_usage.replace("STUDY...", "").replace("}...", "")
    assert "\x1b" not in text


def test_the_list_of_commands_has_whole_sentences(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = " ".join(read_help(capsys).split())
    for command in COMMANDS:
        first = (command.__doc__ or "").partition("\n")[0]
        assert " ".join(first.split()) in text


def test_options_are_in_panels_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    headings = re.findall(r"^(\w[\w ]*):$", read_help(capsys, "study"), flags=re.MULTILINE)
    assert headings == ["Arguments", *GROUPS, "Options"]


@pytest.mark.parametrize("name", OPTIONS)
def test_each_help_is_a_sentence(name: str) -> None:
    text = OPTIONS[name].description
    assert text[0].isupper()
    assert text.endswith(".")
    assert len(text.split()) >= 4


def complete(shell_words: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Complete the last word as bash does."""
    monkeypatch.setenv("_ARBOLEDA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", shell_words)
    monkeypatch.setenv("COMP_CWORD", str(len(shell_words.split(" ")) - 1))
    program = "import sys; sys.argv[0] = 'arboleda'; import arboleda.cli; arboleda.cli.main()"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return result.stdout.split()


def test_the_shell_completes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete("arboleda mo", monkeypatch) == ["models"]
    assert complete("arboleda study iris --preset t", monkeypatch) == ["thesis"]
    assert "--metric" in complete("arboleda study --met", monkeypatch)


def test_values_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ice.csv").touch()
    (tmp_path / "ideas.txt").touch()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv.gz").touch()

    def words(name: str, start: str) -> list[str]:
        return [word for word, _ in COMPLETERS[name](start)]

    assert words("metric", "ro") == ["roc_auc"]
    assert words("models", "core,lo")[:1] == ["core,logitboost"]
    assert {"portfolio", "pruned_tree"} <= {*words("models", "p")}
    assert words("preset", "") == list(PRESETS)
    assert words("lang", "e") == ["en", "es"]
    assert [word for word, _ in complete_table("i")] == ["iris", "ice.csv", "in/"]
    assert [word for word, _ in complete_table("in/")] == ["in/t.csv.gz"]
    assert [word for word, _ in complete_study_model("soft")] == ["soft_vote"]


def test_models_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("models") == 0
    text = capsys.readouterr().out
    assert "\nGradient boosting:\n" in text
    assert "  cart  Decision tree (CART) (classes, numbers; preset quick, thesis)" in text
    assert run("models", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [model["key"] for model in listed] == [model.key for model in list_models()]
    assert {m["key"]: m["presets"] for m in listed}["best_dart"] == ["best"]


def test_the_list_is_the_catalogue() -> None:
    listed = list_models()
    pairs = {(m.key, task) for m in listed for task in m.tasks}
    assert pairs == {(model.key, model.task) for model in (*CATALOGUE, *PORTFOLIO)}
    assert len({m.key for m in listed}) == len(listed)
    assert {m.about for m in listed if len(m.about.split()) < 2} == set()
    quick = {
        model.key
        for task in ("binary", "regression", "survival", "ranking")
        for model in select_models(task, [CORE])
    }
    assert {m.key for m in listed if "quick" in m.presets} == quick


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which a study was run from the command line, and what it printed."""
    here = tmp_path_factory.mktemp("a 'place'")
    rows = "".join(f"{i % 7},{i * i % 11},{'pq'[i % 3 > 0]}\n" for i in range(60))
    (here / "my table.csv").write_text("a,b,the $class\n" + rows)
    command = ["study", "my table.csv", "--target", "the $class", "--models", "cart"]
    command += ["--out", "my study's", "--search", "random:1"]
    result = subprocess.run(
        [sys.executable, "-m", "arboleda", *command],
        cwd=here, text=True, capture_output=True, check=True,
    )  # fmt: skip
    return here, result.stdout


def read_steps(printed: str) -> tuple[list[str], str]:
    _, _, after = printed.partition("What to do next\n")
    before, _, code = after.partition("Use the best model in Python:\n")
    commands = [part.splitlines()[1] for part in before.strip().split("\n\n")]
    return commands, code


def iter_commands(here: Path) -> Iterator[Path]:
    """Yield a folder of programs with the command, as an environment has it."""
    programs = here / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "arboleda").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m arboleda "$@"\n')
    (programs / "arboleda").chmod(0o755)
    yield programs


@pytest.mark.timeout(600)
def test_the_next_steps_run_as_they_stand(finished: tuple[Path, str]) -> None:
    here, printed = finished
    commands, code = read_steps(printed)
    assert [command.split()[1] for command in commands] == ["predict", "explain", "export"]
    (programs,) = iter_commands(here)
    path = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    for command in commands:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=here,
            env=path,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
    assert (here / "my table-predicted.csv").is_file()
    assert (here / "my study's" / "explained.html").is_file()
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=here, text=True, capture_output=True, check=True
    )
    assert "'p'" in shown.stdout


def test_the_report_ends_with_the_same_steps(finished: tuple[Path, str]) -> None:
    here, printed = finished
    commands, code = read_steps(printed)
    page = (here / "my study's" / "report.html").read_text("utf-8")
    *_, last = page.split("<section")
    assert 'id="next"' in last
    shown = [html.unescape(text) for text in re.findall(r"<code>(.*?)</code>", last, flags=re.S)]
    assert [text.strip() for text in shown] == [*commands, code.strip()]


def test_steps_suit_the_study(finished: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    here, _ = finished
    facts = Study.load(here / "my study's").facts

    def list_commands(table: object) -> list[str]:
        steps = suggest_next_steps(facts, Path("-s"), table)
        assert steps is not None
        return [step["command"] for step in steps["commands"]]

    assert list_commands(object()) == ["arboleda explain ./-s", "arboleda export ./-s"]
    monkeypatch.setattr("arboleda.study.output_folder.find_spec", lambda name: None)
    assert list_commands("t.csv")[2:] == ["arboleda explore t.csv --target='the $class'"]
    assert list_commands(object()) == ["arboleda explain ./-s"]
    failed = {**facts, "models": [{**model, "status": "failed"} for model in facts["models"]]}
    assert suggest_next_steps(failed, Path("s"), "t.csv") is None
