"""The ledger of a study: the result of every finished job, stored immediately."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from arboleda._utils.errors import StudyError, StudyFormatError
from arboleda.study.execution.job import JobStatus

__all__ = ["LEDGER_VERSION", "Ledger"]

FILE_NAME = "ledger.sqlite"
# Raised whenever the stored form of a result changes; 2: a result has a status.
LEDGER_VERSION = 3
# The versions that count the forms of a study's files.
_FORMATS = ("models", "facts", "ledger")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS study (identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS work (
    model TEXT NOT NULL,
    params TEXT NOT NULL,
    fold TEXT NOT NULL,
    result TEXT NOT NULL,
    PRIMARY KEY (model, params, fold)
);
"""


class Ledger:
    """Results of one study by (model, parameters, fold), on disk.

    Each result is one fully synchronised transaction: it is stored completely or not at all, even
    if the process or the machine crashes. While a ledger is open, no other process can open it; the
    lock ends with the process, however it ends.

    Parameters
    ----------
    folder : Path
        The study's folder, which must exist.
    identity : mapping of str to JSON values
        What identifies this study: data, target, settings, versions. A ledger of another identity
        is rejected.

    Raises
    ------
    StudyError
        If the folder holds another study, the ledger is damaged or in use, or cannot be written.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self.path: Path = folder / FILE_NAME
        self._folder = folder
        try:
            self._connection = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
        except sqlite3.Error as error:
            raise StudyFormatError(f"The ledger {self.path} cannot be opened: {error}.") from error
        try:
            self._open(identity)
        except BaseException:
            self._connection.close()
            raise

    def _open(self, identity: Mapping[str, Any]) -> None:
        try:
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("BEGIN EXCLUSIVE")
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            row = self._connection.execute("SELECT identity FROM study").fetchone()
            if row is None:
                text = json.dumps(identity, sort_keys=True)
                self._connection.execute("INSERT INTO study VALUES (?)", (text,))
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._raise_explained(error)
        if row is not None:
            self._check_identity(self._parse(row[0]), identity)

    def _check_identity(self, found: Any, identity: Mapping[str, Any]) -> None:
        if not isinstance(found, dict):
            self._raise_damaged("its identity is not a mapping")
        wanted = json.loads(json.dumps(identity))
        differing = [k for k in {**wanted, **found} if wanted.get(k) != found.get(k)]
        if "versions" in differing or differing == ["catalogue"]:
            raise StudyFormatError(
                f"The study in {self._folder} was begun with another version "
                f"({_compare_versions(found.get('versions'), wanted['versions'])}), whose results "
                "cannot be continued; run the study again in a new folder with --out, or remove "
                "that one."
            )
        if differing:
            raise StudyError(
                f"The folder {self._folder} holds another study (not the same: "
                f"{', '.join(map(_name, differing))}); choose another folder with --out, or remove "
                "that one."
            )

    def get(self, model: str, params: Mapping[str, Any], fold: str) -> dict[str, Any] | None:
        """Return the stored result of a job, or None; its ``status``, if any, is a `JobStatus`."""
        try:
            row = self._connection.execute(
                "SELECT result FROM work WHERE model = ? AND params = ? AND fold = ?",
                (model, _serialize_params(params), fold),
            ).fetchone()
        except sqlite3.Error as error:
            self._raise_explained(error)
        if row is None:
            return None
        result = self._parse(row[0])
        if not isinstance(result, dict):
            self._raise_damaged("a result is not a mapping")
        if "status" in result:
            result["status"] = self._parse_status(result["status"])
        return result

    def put(
        self, model: str, params: Mapping[str, Any], fold: str, result: Mapping[str, Any]
    ) -> None:
        """Store a result, replacing an earlier one; it is on the disk when this returns."""
        try:
            self._connection.execute(
                "INSERT OR REPLACE INTO work VALUES (?, ?, ?, ?)",
                (model, _serialize_params(params), fold, json.dumps(result, allow_nan=False)),
            )
        except sqlite3.Error as error:
            self._raise_explained(error)

    def close(self) -> None:
        """Close the file and release its lock."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _parse(self, text: Any) -> Any:
        try:
            return json.loads(text)
        except (TypeError, ValueError):
            self._raise_damaged("an entry is not JSON")

    def _parse_status(self, value: Any) -> JobStatus:
        try:
            return JobStatus(value)
        except ValueError:
            self._raise_damaged(f"a result has the unknown status {value!r}")

    def _raise_damaged(self, reason: str) -> NoReturn:
        raise StudyFormatError(
            f"The ledger {self.path} is damaged ({reason}); delete it to start the study again, "
            "or choose another folder with --out."
        )

    def _raise_explained(self, error: sqlite3.Error) -> NoReturn:
        text = str(error)
        if "locked" in text:
            raise StudyError(
                f"Another study is running in the folder {self._folder}; wait until it ends or "
                "choose another folder with --out."
            ) from error
        if "full" in text or "disk I/O" in text:
            raise StudyError(
                f"The ledger {self.path} cannot be written ({text}); free space on that disk and "
                "run the same command again: finished work is kept."
            ) from error
        if "readonly" in text or "unable to open" in text:
            raise StudyError(
                f"The folder {self._folder} cannot be written ({text}); choose another one with "
                "--out."
            ) from error
        self._raise_damaged(text)


def _serialize_params(params: Mapping[str, Any]) -> str:
    return json.dumps(params, sort_keys=True)


def _name(part: str) -> str:
    """Return the name of a part of the identity, with the option that sets it if it has another."""
    return "sample, see --max-table-size" if part == "sample" else part


def _compare_versions(found: Any, wanted: Mapping[str, Any]) -> str:
    """List the versions that differ, in a few words."""
    stored = found if isinstance(found, dict) else {}
    differing = {k: v for k, v in wanted.items() if stored.get(k) != v}
    if not differing or any(name in _FORMATS for name in differing):
        return "an older or newer version of arboleda"
    return ", ".join(
        f"{name} {str(stored.get(name, 'unknown'))[:40]} rather than {version}"
        for name, version in differing.items()
    )
