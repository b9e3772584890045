"""The ledger keeps finished work, refuses another study, and reports clearly what is wrong."""

import sqlite3
from pathlib import Path

import pytest

from arboleda.study import StudyError, StudyFormatError
from arboleda.study.config.settings import Settings
from arboleda.study.execution.job import JobStatus, make_failed_result
from arboleda.study.execution.ledger import FILE_NAME, LEDGER_VERSION, Ledger
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table

IDENTITY = {"data": "abc", "seed": 0, "versions": {"numpy": "2"}}


def test_entries_are_restored_exactly(tmp_path: Path) -> None:
    result = {"score": 0.1 + 0.2, "none": None, "texts": ["é", "<b>"]}
    with Ledger(tmp_path, IDENTITY) as ledger:
        assert ledger.get("cart", {"a": 1, "b": None}, "0") is None
        ledger.put("cart", {"a": 1, "b": None}, "0", result)
    with Ledger(tmp_path, IDENTITY) as ledger:
        assert ledger.get("cart", {"b": None, "a": 1}, "0") == result
        assert ledger.get("cart", {"a": 1, "b": None}, "1") is None
        assert ledger.get("cart", {"a": 2, "b": None}, "0") is None


@pytest.mark.parametrize("status", JobStatus)
def test_a_status_comes_back_as_its_type(tmp_path: Path, status: JobStatus) -> None:
    with Ledger(tmp_path, IDENTITY) as ledger:
        ledger.put("cart", {}, "0", make_failed_result(status, "no"))
    with Ledger(tmp_path, IDENTITY) as ledger:
        result = ledger.get("cart", {}, "0")
    assert result is not None
    assert result["status"] is status
    assert status.is_final == (status in {JobStatus.DONE, JobStatus.FAILED})


def test_another_study_is_refused_and_not_modified(tmp_path: Path) -> None:
    with Ledger(tmp_path, IDENTITY) as ledger:
        ledger.put("cart", {}, "0", {"score": 1.0})
    with pytest.raises(StudyError, match=r"another study \(not the same: seed\).*--out"):
        Ledger(tmp_path, {**IDENTITY, "seed": 1})
    with Ledger(tmp_path, IDENTITY) as ledger:
        assert ledger.get("cart", {}, "0") == {"score": 1.0}


def test_a_ledger_without_statuses_is_refused(tmp_path: Path) -> None:
    plan = make_plan(read_table("iris"), "target", Settings(models=("cart",)))
    identity = plan.identity()
    assert identity["versions"]["ledger"] == LEDGER_VERSION
    older = {**identity, "versions": {**identity["versions"], "ledger": 1}}
    Ledger(tmp_path, older).close()
    message = r"begun with another version \(an older or newer version of arboleda\).*--out"
    with pytest.raises(StudyFormatError, match=message):
        Ledger(tmp_path, identity)


def test_the_versions_that_differ_are_named(tmp_path: Path) -> None:
    identity = {**IDENTITY, "versions": {"arboleda": "0.2.0", "numpy": "2.0", "models": 4}}
    Ledger(tmp_path, {**identity, "versions": {**identity["versions"], "numpy": "1.9"}}).close()
    with pytest.raises(StudyFormatError, match=r"\(numpy 1.9 rather than 2.0\)"):
        Ledger(tmp_path, identity)


def test_another_catalogue_is_of_another_version(tmp_path: Path) -> None:
    Ledger(tmp_path, {**IDENTITY, "catalogue": {"cart": []}}).close()
    with pytest.raises(StudyFormatError, match="an older or newer version of arboleda"):
        Ledger(tmp_path, {**IDENTITY, "catalogue": {"cart": [1]}})


def test_a_running_study_locks_its_folder(tmp_path: Path) -> None:
    with (
        Ledger(tmp_path, IDENTITY),
        pytest.raises(StudyError, match="Another study is running"),
    ):
        Ledger(tmp_path, IDENTITY)
    Ledger(tmp_path, IDENTITY).close()


@pytest.mark.parametrize(
    "content", [b"not a database " * 100, b"SQLite format 3\x00" + b"\x07" * 900]
)
def test_a_file_that_is_not_a_ledger_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(StudyError, match=r"is damaged .*delete it"):
        Ledger(tmp_path, IDENTITY)
    assert (tmp_path / FILE_NAME).read_bytes() == content


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE study SET identity = '{'", "not JSON"),
        ("UPDATE study SET identity = '[]'", "not a mapping"),
        ("UPDATE work SET result = x'00ff'", "not JSON"),
        ("UPDATE work SET result = '1'", "not a mapping"),
        ("""UPDATE work SET result = '{"status": "odd"}'""", "the unknown status 'odd'"),
        ("DROP TABLE study; CREATE TABLE study (other TEXT)", "no such column"),
    ],
)
def test_damaged_entries_are_refused(tmp_path: Path, statement: str, reason: str) -> None:
    with Ledger(tmp_path, IDENTITY) as ledger:
        ledger.put("cart", {}, "0", {"score": 1.0})
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.executescript(statement)
    connection.close()
    with (
        pytest.raises(StudyError, match=rf"is damaged .*{reason}"),
        Ledger(tmp_path, IDENTITY) as ledger,
    ):
        ledger.get("cart", {}, "0")


def test_a_folder_in_place_of_the_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(StudyError, match="cannot be"):
        Ledger(tmp_path, IDENTITY)
