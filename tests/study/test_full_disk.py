"""A full disk or a failed write leaves the old files intact."""

import errno
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.small_disk import mounted

from arboleda.study import Study, StudyError, output_folder
from arboleda.study.execution.ledger import Ledger


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 100 kB."""
    with mounted(tmp_path / "disk", "100k") as disk:
        yield disk


def test_a_full_disk_is_reported_and_the_study_resumes_later(small_disk: Path) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 70_000)
    run = Study("iris", target="target", output_dir=small_disk / "out")
    with pytest.raises(StudyError, match=r"free .*run the same command again"):
        run.run()
    assert not (small_disk / "out" / "results.json").exists()
    filler.unlink()
    # What was stored is whole: the study takes it up, and stops later, for want of space again.
    with pytest.raises(StudyError, match=r"free .*run the same command again"):
        run.run()
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    assert run.run().report.exists()


def test_a_disk_too_small_for_a_ledger_is_reported(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"x" * 98_000)
    with pytest.raises(StudyError, match=r"free (space|some)"):
        Study("iris", target="target", output_dir=small_disk).run()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("failing", ["results.json", "leaderboard.csv", "report.html"])
def test_a_failed_write_keeps_the_old_files(
    tmp_path: Path,
    mixed: pd.DataFrame,
    monkeypatch: pytest.MonkeyPatch,
    failing: str,
    number: int,
) -> None:
    run = Study(mixed, target="rich", output_dir=tmp_path, models="most_frequent")
    run.run()
    names = ["results.json", "leaderboard.csv", "report.html"]
    before = {name: (tmp_path / name).read_bytes() for name in names}
    write_atomically, write_report = output_folder.write_atomically, output_folder.write_report

    def refuse(path: Path) -> None:
        if path.name == failing:
            raise OSError(number, "refused")

    def write(path: Path, data: bytes | str) -> None:
        refuse(path)
        write_atomically(path, data)

    def report(facts: Any, path: Path, **options: Any) -> None:
        refuse(path)
        write_report(facts, path, **options)

    monkeypatch.setattr(output_folder, "write_atomically", write)
    monkeypatch.setattr(output_folder, "write_report", report)
    sentence = "No space is left" if number == errno.ENOSPC else "cannot be written"
    with pytest.raises(StudyError, match=sentence):
        run.run()
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert not (tmp_path / ".draft").exists()


def test_a_ledger_on_a_full_disk_keeps_its_entries(small_disk: Path) -> None:
    with Ledger(small_disk, {"data": "x"}) as ledger:
        ledger.put("a", {}, "0", {"score": 1.0})
        with pytest.raises(StudyError, match=r"cannot be written .*free space"):
            ledger.put("a", {}, "1", {"text": "x" * 200_000})
    with Ledger(small_disk, {"data": "x"}) as ledger:
        assert ledger.get("a", {}, "0") == {"score": 1.0}
        assert ledger.get("a", {}, "1") is None
