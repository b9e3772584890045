"""Files of a study's folder: written atomically, listed with checksums, and checked when read."""

import errno
import hashlib
import os
import re
import shutil
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arboleda._utils.errors import StudyError, StudyFormatError
from arboleda._utils.files import drop_file, read_regular, write_atomically
from arboleda._utils.results import Result
from arboleda.reports.translation import LANGUAGES

__all__ = [
    "LARGE",
    "MODELS",
    "MODELS_VERSION",
    "FactsPage",
    "FileList",
    "check_file_list",
    "check_language",
    "check_not_source",
    "choose_page_path",
    "has_files",
    "read_checked_file",
    "read_text",
    "remove_temporary_files",
    "report_unwritable",
    "write_file",
]

# Bytes above which the size of what is written is announced.
LARGE = 50_000_000
# The subfolder of models in a study's folder.
MODELS = "models"
# To be raised whenever a class that models' files name is moved or renamed, as earlier files then
# name classes that no longer exist, or the index describes columns in another way; 4: parts of
# dates, and words beside values.
MODELS_VERSION = 4
# The length and SHA-256 of each file by its name: {"a.skops": {"bytes": 120, "sha256": "ab..."}}.
FileList = Mapping[str, Mapping[str, Any]]

_SHA256 = re.compile(r"[0-9a-f]{64}")


def write_file(folder: Path, name: str, content: bytes) -> dict[str, Any]:
    """Write a file atomically and return its entry in the list of files.

    A file may take at most half of the free disk space: the rest of the study needs space, too.

    Raises
    ------
    OSError
        If the file cannot be written, or there is too little space.
    """
    folder.mkdir(exist_ok=True)
    free = shutil.disk_usage(folder).free
    if 2 * len(content) > free:
        size = (
            f"its {len(content) / 1e6:,.1f} MB are more than half of the {free / 1e6:,.1f} MB left"
        )
        raise OSError(errno.ENOSPC, size)
    write_atomically(folder / name, content)
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def remove_temporary_files(folder: Path) -> None:
    """Remove temporary files that a killed study left; no other process may be writing there."""
    for path in folder.glob(".*.tmp"):
        drop_file(path)


def has_files(folder: Path, files: Any) -> bool:
    """Whether all files of a list exist in the folder and have the listed lengths."""
    try:
        listed = check_file_list(files)
        return all((folder / n).stat().st_size == e["bytes"] for n, e in listed.items())
    except (OSError, TypeError, ValueError):
        return False


def check_file_list(files: Any) -> FileList:
    """Return a list of files if it is valid; raise a TypeError or ValueError if not."""
    if not isinstance(files, dict):
        raise TypeError("a list of files is not an object")
    for name, entry in files.items():
        match entry:
            case {"bytes": int(length), "sha256": str(digest), **rest} if (
                not rest and type(length) is int and length >= 0 and _SHA256.fullmatch(digest)
            ):
                continue
        raise ValueError(f"the entry of the file {str(name)[:60]!r} is invalid")
    return files


def read_checked_file(folder: Path, name: str, files: FileList) -> bytes:
    """Read a file and compare it with its entry in the list.

    Raises
    ------
    StudyFormatError
        If the file is missing, cannot be read, or is not the one that was written.
    """
    path = folder / name
    entry = files.get(name)
    if entry is None:
        raise _make_damage_error(path, "it is not in the list of files")
    try:
        _check_is_file(path)
        with path.open("rb") as file:
            has_length = os.fstat(file.fileno()).st_size == entry["bytes"]
            content = file.read(entry["bytes"]) if has_length else b""
    except OSError as error:
        raise _make_damage_error(path, error.strerror or "it cannot be read") from error
    if not has_length or hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise _make_damage_error(path, "it is not what the study wrote")
    return content


def read_text(path: Path) -> str:
    """Read a text file; raise an OSError if it is not a file, a ValueError if it is not UTF-8."""
    return read_regular(path).decode()


def _check_is_file(path: Path) -> None:
    # Reading a pipe or a device may never end.
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a file")


def _make_damage_error(path: Path, reason: str) -> StudyFormatError:
    return StudyFormatError(
        f"The file {path} cannot be used ({reason}); delete it and run the study's command again: "
        "completed work is reused."
    )


@dataclass(frozen=True, repr=False)
class FactsPage(Result, ABC):
    """Facts, the page that shows them, and the views of results in notebooks."""

    facts: dict[str, Any]

    @property
    @abstractmethod
    def default_path(self) -> Path:
        """The file of the page if none is named."""

    @abstractmethod
    def to_html(self) -> str:
        """Render the page as one self-contained HTML text."""

    def save(self, path: str | Path) -> Path:
        """Write the page to a file atomically.

        Parameters
        ----------
        path : str or Path
            The file; missing folders are created.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        StudyError
            If the file cannot be written.
        """
        file, html = Path(path), self.to_html()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, html)
        except OSError as error:
            raise StudyError(
                f"The page cannot be written to {file} ({error.strerror or error}); choose another "
                "file with --out."
            ) from error
        return file


@contextmanager
def report_unwritable(path: Path) -> Iterator[None]:
    """Turn an error of the system, while a file is written that the user can name, into a sentence.

    Raises
    ------
    StudyError
        If the block raises an OSError.
    """
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"The file {path} cannot be written ({error.strerror or error}); name another file "
            "with --out."
        ) from error


def check_language(lang: str) -> None:
    """Check that pages exist in a language.

    Raises
    ------
    StudyError
        If the language is not available.
    """
    if lang not in LANGUAGES:
        raise StudyError(f"There are no pages in {lang!r}; choose one of {', '.join(LANGUAGES)}.")


def choose_page_path(out: Path | None, default: Path) -> Path:
    """Choose the file of a page: ``out``, a file in it if it is a folder, or the default.

    A name that ends in ``.html``, or that belongs to an existing file, is a file; any other is a
    folder, which is created when the page is saved.

    Examples
    --------
    >>> choose_page_path(Path("pages"), Path("iris-explored.html")).as_posix()
    'pages/iris-explored.html'
    >>> choose_page_path(Path("iris.html"), Path("iris-explored.html")).as_posix()
    'iris.html'
    """
    if out is None:
        return default
    is_file = out.suffix.lower() in (".html", ".htm") and not out.is_dir()
    return out if is_file or (out.exists() and not out.is_dir()) else out / default.name


def check_not_source(path: Path, source: Any) -> None:
    """Check that a file to write is not the table that is read.

    Raises
    ------
    StudyError
        If the file is the ``source``.
    """
    table = Path(source) if isinstance(source, (str, Path)) else None
    if table is not None and table.exists() and path.exists() and path.samefile(table):
        raise StudyError(f"The file {path} is the table itself; name another file with --out.")
