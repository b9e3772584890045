"""The command: where the page goes, exit codes, and one sentence for everything that is wrong."""

import json
import shutil
from pathlib import Path

import pytest

from arboleda.cli import main
from arboleda.study import Explanation, StudyError, explain


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_pages_are_written_to_the_study_folder_by_default(
    studies: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = studies["regression"]
    assert run("explain", folder) == 0
    printed = capsys.readouterr()
    assert printed.out == f"Page: {folder / 'explained.html'}\n"
    assert "Checking calibration and coverage" in printed.err
    assert run("explain", folder, "--row", 7) == 0
    assert capsys.readouterr().out == f"Page: {folder / 'explained-row-7.html'}\n"
    assert "Row 7 <span" in (folder / "explained-row-7.html").read_text()
    page = tmp_path / "new" / "page.html"
    assert run("explain", folder, "--row", 7, "--out", page) == 0
    assert page.read_text() == (folder / "explained-row-7.html").read_text()


def test_the_command_on_the_page_reproduces_the_page(studies: dict[str, Path]) -> None:
    folder = studies["regression"]
    page = explain(folder, 3, seed=4).to_html()
    assert f"arboleda explain {folder} --row 3 --seed 4" in page


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--row", 0], "There is no row 0 in table; choose one from 1 to 260."),
        (["--row", 261], "There is no row 261 in table; choose one from 1 to 260."),
        (["--row", -5], "choose one from 1 to 260"),
        (["--seed", -1], "The seed -1 is out of range"),
        (["--out", "/dev/null/page.html"], "The page cannot be written to /dev/null/page.html"),
    ],
)
def test_invalid_requests_are_reported_in_one_sentence(
    studies: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    options: list[object],
    sentence: str,
) -> None:
    assert run("explain", studies["regression"], *options) == 2
    printed = capsys.readouterr().err
    assert "arboleda: error: " in printed
    assert sentence in printed
    assert "Traceback" not in printed


def test_folders_without_a_study_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("explain", tmp_path) == 2
    assert "arboleda: error: " in capsys.readouterr().err
    assert run("explain", tmp_path / "nowhere") == 2
    assert run("explain") == 2


@pytest.mark.parametrize("name", ["results.json", "models/rows.parquet"])
@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_damaged_folders_are_refused(
    studies: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    how: str,
) -> None:
    folder = shutil.copytree(studies["regression"], tmp_path / "study")
    if how == "gone":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(b"\x00nonsense")
    assert run("explain", folder, "--row", 1) == 2
    printed = capsys.readouterr().err
    assert "arboleda: error: " in printed
    assert "Traceback" not in printed


@pytest.mark.filterwarnings("default")
def test_another_version_of_scikit_learn_is_reported_in_one_line(
    studies: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(studies["regression"], tmp_path / "study")
    path = folder / "models" / "index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"scikit-learn": "1.6.0"}))
    assert run("explain", folder, "--row", 1) == 0
    printed = [line for line in capsys.readouterr().err.splitlines() if "1.6.0" in line]
    assert len(printed) == 1
    assert printed[0].startswith("arboleda: warning: The models in ")


def test_ctrl_c_leaves_no_page(
    studies: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed(self: Explanation, path: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Explanation, "save", pressed)
    assert run("explain", studies["regression"]) == 130
    assert "arboleda: interrupted; nothing was written." in capsys.readouterr().err


def test_rows_must_be_numbers(studies: dict[str, Path]) -> None:
    with pytest.raises(StudyError, match=r"There is no row 1\.5"):
        explain(studies["regression"], 1.5)  # type: ignore[arg-type]
