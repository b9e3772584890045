"""The command: what it prints, its exit codes, and one sentence for everything that is wrong."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import arboleda
from arboleda._utils.text import visible_lines
from arboleda.cli import _study as study_command
from arboleda.cli import main
from arboleda.study import Study

GOOD = "a,b,y\n" + "".join(f"{i % 7},{i * i % 11},{'pq'[i % 2]}\n" for i in range(30))


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def run_process(*arguments: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "arboleda", *arguments],
        cwd=cwd,
        text=True,
        check=False,
        stderr=subprocess.PIPE,
        **{"stdout": subprocess.PIPE, **options},  # type: ignore[call-overload]
    )


def test_version_and_help_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"arboleda {arboleda.__version__}\n"
    assert run("predict", "--help") == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("STUDY", "TABLE", "--out", "-o"))
    assert run("study", "--help") == 0
    printed = capsys.readouterr().out
    assert all(
        o in printed for o in ("--target", "--out", "--task", "--metric", "--seed", "--jobs")
    )


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ([], "Usage"),
        (["study"], "Missing argument"),
        (["study", "iris"], "Missing option '--target'"),
        (["study", "iris", "--target", "target", "--seed", "x"], "'--seed'"),
        (["study", "iris", "--target", "target", "--bogus"], "No such option"),
        (["study", "iris", "--label", "target"], "No such option: --label; here it is --target\n"),
        (["study", "iris", "--time-limit", "9"], "--time-limit; here it is --time-budget\n"),
        (["study", "iris", "--mode", "best"], "--mode; here it is --preset\n"),
        (["explore", "iris", "--label", "target"], "--label; here it is --target\n"),
        (["models", "--label", "target"], "No such option: --label (Possible options: --help)"),
        (["stduy"], "No such command"),
        (["predict"], "Missing argument 'STUDY'"),
        (["predict", "folder"], "Missing argument 'TABLE'"),
    ],
)
def test_wrong_usage_is_reported(
    capsys: pytest.CaptureFixture[str], arguments: list[str], printed: str
) -> None:
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert printed in captured.err + captured.out


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["study", "--bo\x07gus\u202e"], r"No such option: --bo\x07gus\u202e"),
        (["study", "iris", "two\r\x9b31m\u2066"], r"\x9b31m\u2066)"),
        (["st\u202eudy\x1b[31m"], r"\u202eudy\x1b[31m"),
        (["study", "iris", "--seed", "1\u202e\x07"], "'--seed'"),
        (["explain", "\x07\u202e"], r"There is no study in \x07\u202e"),
    ],
)
def test_control_characters_of_wrong_usage_are_escaped(
    capsys: pytest.CaptureFixture[str], arguments: list[str], printed: str
) -> None:
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert printed in captured.err
    assert visible_lines(captured.err + captured.out) == captured.err + captured.out
    assert "\r" not in captured.err


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (b"", [], "is empty"),
        (b"a,b,y\n", [], "no rows"),
        (b"a,y\n1\n", [], "Row 2 of t.csv"),
        (b"a,\x00,y\n1,2,3\n", [], "NUL character"),
        (b"y,y\n1,2\n", [], "more than one column named 'y'"),
        (GOOD.encode(), ["--target", "z"], "has no column 'z'"),
        (GOOD.encode(), ["--metric", "rmse"], "no metric 'rmse'"),
        (GOOD.encode(), ["--task", "clustering"], "no task 'clustering'"),
        (GOOD.encode(), ["--task", "regression"], "holds text such as 'p'"),
        (GOOD.encode(), ["--seed", "-1"], "random_state (--seed) must be an integer"),
        (GOOD.encode(), ["--jobs", "0"], "n_jobs (--jobs) must be an integer >= 1, got 0"),
        (GOOD.encode(), ["--out", "t.csv"], "is not a folder"),
        (GOOD.encode(), ["--out", "t.csv/inside"], "is not a folder"),
        (GOOD.replace("p", "q").encode(), [], "only one class, 'q'"),
        (GOOD.replace("q", "").encode(), [], "missing in 15 of 30 rows"),
        (GOOD.replace("6,", "inf,").encode(), [], "'a' holds the infinite value inf in data row 7"),
        (GOOD.replace("6,", "1e400,").encode(), [], "infinite value inf in data row 7"),
        (GOOD.replace("\n", ",inf\n").encode(), [], "'inf' holds the infinite value inf"),
        (GOOD.replace("q", "None").encode(), [], "texts such as NA, None or ? count as missing"),
        (GOOD[:40].encode(), [], "a study needs at least 20"),
        (b"y\n" + b"1\n2\n" * 20, [], "holds only the target 'y'"),
        (b"a,y\n" + b"1,p\n1,q\n" * 20, [], "'a' is left out (constant"),
    ],
)
def test_invalid_input_is_reported_in_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: bytes,
    options: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(content)
    before = sorted(tmp_path.iterdir())
    assert run("study", "t.csv", "--target", "y", *options) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("arboleda: error: ")
    assert sentence in lines[0]
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "t.csv").read_bytes() == content


def test_missing_files_and_folders_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("study", str(tmp_path / "none.csv"), "--target", "y") == 2
    assert "There is no file" in capsys.readouterr().err
    assert run("study", str(tmp_path), "--target", "y") == 2
    assert "is a folder" in capsys.readouterr().err


def test_an_unwritable_folder_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(GOOD)
    arguments = ["study", str(tmp_path / "t.csv"), "--target", "y", "--out"]
    # The kernel's own folders take no files from anybody, root included.
    assert run(*arguments, "/proc/arboleda") == 2
    assert "/proc/arboleda cannot be written" in capsys.readouterr().err
    assert run(*arguments, "/proc/self") == 2
    assert "cannot be" in capsys.readouterr().err
    if os.geteuid() == 0:
        return
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert run(*arguments, str(closed)) == 2
    assert "cannot be" in capsys.readouterr().err


def test_a_study_runs_from_the_command_line(tmp_path: Path) -> None:
    """As a user has it: no home folder, no terminal, a name with blanks, default folder."""
    (tmp_path / "my table.csv").write_text(GOOD)
    environment = {k: v for k, v in os.environ.items() if k != "HOME"}
    command = ["study", "my table.csv", "--target", "b", "--task", "regression"]
    command += ["--models", "mean,cart"]
    result = run_process(*command, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "studies" / "my_table-b"
    assert {f.name for f in folder.iterdir()} == {
        "predictions",
        "figures",
        "ledger.sqlite",
        "leaderboard.csv",
        "models",
        "report.html",
        "results.json",
        "study.toml",
    }
    assert "Mean value" in result.stdout
    assert "Report: studies/my_table-b/report.html" in result.stdout.splitlines()
    assert "Warning" not in result.stderr
    assert "my table.csv: 30 rows, 3 columns, target b" in result.stderr
    # The same command once more only reads; a full output device is reported.
    with Path("/dev/full").open("w") as full:
        again = run_process(*command, cwd=tmp_path, env=environment, stdout=full)
    assert again.returncode == 2
    assert "The output cannot be written: No space left on device." in again.stderr
    assert "Traceback" not in again.stderr


def test_any_output_encoding_is_supported(tmp_path: Path) -> None:
    """Neither an encoding without the table's signs nor a closed output loses a study."""
    command = ["study", "iris", "--target", "target", "--out", "here", "--metric", "mcc"]
    command += ["--models", "lda"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = run_process(*command, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    assert "Report: here/report.html" in result.stdout
    shell = f'exec "{sys.executable}" -m arboleda {" ".join(command)} >&-'
    closed = subprocess.run(
        ["/bin/sh", "-c", shell], cwd=tmp_path, text=True, check=False, capture_output=True
    )
    assert (closed.returncode, "Traceback" in closed.stderr) == (0, False)


def test_exploring_writes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(GOOD)
    assert run("explore", "t.csv", "--target", "y") == 0
    captured = capsys.readouterr()
    assert captured.out == "Page: t-explored.html\n"
    assert "t.csv: 30 rows, 3 columns" in captured.err
    assert (tmp_path / "t-explored.html").read_text("utf-8").startswith("<!doctype html>")
    assert run("explore", "t.csv", "--out", "new/page.html") == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["page.html"]
    for folder in ("new", "pages", "pages.d"):  # one that is there, and two that are made
        assert run("explore", "t.csv", "--out", folder) == 0
        assert (tmp_path / folder / "t-explored.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.csv"], "There is no file none.csv"),
        (["t.csv", "--target", "Y "], "did you mean 'y'?"),
        (["t.csv", "--seed", "-1"], "seed -1"),
        (["t.csv", "--out", "t.csv/page.html"], "cannot be written"),
        (["t.csv", "--out", "t.csv"], "is the table itself"),
    ],
)
def test_invalid_exploration_is_reported_in_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(GOOD)
    assert run("explore", *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err.splitlines()[-1]
    assert "Traceback" not in captured.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert (tmp_path / "t.csv").read_text() == GOOD


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of the good table and a copy of it, with the table beside them."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "t.csv").write_text(GOOD)
    options = {"target": "b", "task": "regression", "models": "mean,cart", "n_jobs": 1}
    Study(folder / "t.csv", output_dir=folder / "study", **options).run()
    shutil.copytree(folder / "study", folder / "copy")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "study", "t.csv"],
        ["explore", "t.csv"],
        ["explain", "study", "--row", "1"],
        ["export", "study", "--model", "cart"],
        ["compare", "study", "copy"],
    ],
    ids=lambda command: command[0],
)
def test_invalid_output_paths_are_reported(
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    if command[0] == "export":
        pytest.importorskip("onnx")
    monkeypatch.chdir(small)
    monkeypatch.delenv("HOME", raising=False)
    before = sorted(small.rglob("*"))
    (small / "loop.csv").symlink_to("loop.csv")
    (small / "device.csv").symlink_to("/dev/full")
    (small / "folder.csv").mkdir()
    places = ("loop.csv", "device.csv", "folder.csv", "t.csv/inside.csv", "/proc/none/here.csv")
    for place in places:
        if command[0] == "explore" and place == "folder.csv":
            continue  # the page of exploring goes into a folder
        assert run(*command, "--out", place) == 2, place
        printed = capsys.readouterr().err.splitlines()[-1]
        assert printed.startswith("arboleda: error: "), place
        assert Path(place).name in printed, place
        assert "Traceback" not in printed
    assert (small / "device.csv").is_symlink()
    assert Path("/dev/full").is_char_device()
    for name in ("loop.csv", "device.csv"):
        (small / name).unlink()
    (small / "folder.csv").rmdir()
    assert sorted(small.rglob("*")) == before


def press(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_is_reported_before_a_study_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Study, "__init__", press)
    assert run("study", "iris", "--target", "target") == 130
    assert "arboleda: interrupted; finished work is saved" in capsys.readouterr().err


def test_ctrl_c_is_reported_while_the_results_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Study, "run", lambda *_, **__: None)
    monkeypatch.setattr(study_command, "_print_leaderboard", press)
    assert run("study", "iris", "--target", "target", "--out", str(tmp_path)) == 130
    assert capsys.readouterr().err == "arboleda: interrupted.\n"


def test_too_little_memory_is_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Study, "run", too_much)
    assert run("study", "iris", "--target", "target", "--out", str(tmp_path)) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("arboleda: error: Out of memory:")
    assert "the same command resumes the study" in printed
    assert len(printed.splitlines()) == 1
    monkeypatch.setattr("arboleda.cli._run.app", too_much)
    assert run("explore", "iris") == 2
    assert "Out of memory; use fewer rows" in capsys.readouterr().err
