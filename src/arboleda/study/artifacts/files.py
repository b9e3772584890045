"""Files of a study's folder: written atomically, listed with checksums, and checked when read."""

import errno
import hashlib
import os
import re
import shutil
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arboleda._utils.files import drop_file, read_regular, write_atomically
from arboleda.reports.translation import LANGUAGES
from arboleda.study.errors import StudyError, StudyFormatError

__all__ = [
    "MODELS",
    "MODELS_VERSION",
    "FactsPage",
    "FileList",
    "check_language",
    "checked_bytes",
    "checked_list",
    "is_there",
    "page_path",
    "put",
    "read_text",
    "refuse_the_table",
    "sweep",
]

# The folder within the study's folder.
MODELS = "models"
# Raised whenever a class that the models' files name is moved or renamed: earlier files then name
# classes that no longer exist.
MODELS_VERSION = 3
# For each file its length and SHA-256, as {"bytes": 120, "sha256": "ab..."}, by its name.
FileList = Mapping[str, Mapping[str, Any]]

_SHA256 = re.compile(r"[0-9a-f]{64}")


def put(folder: Path, name: str, content: bytes) -> dict[str, Any]:
    """Write a file whole, or not at all, and give its entry in the list.

    A file may take half of what is free on the disk: the rest of the study needs room, too.

    Raises
    ------
    OSError
        If it cannot be written, or there is too little room.
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


def sweep(folder: Path) -> None:
    """Remove drafts that a killed study left; nobody else may be writing there."""
    for draft in folder.glob(".*.tmp"):
        drop_file(draft)


def is_there(folder: Path, files: Any) -> bool:
    """Whether all files of a list are in the folder, with their lengths."""
    try:
        listed = checked_list(files)
        return all((folder / n).stat().st_size == e["bytes"] for n, e in listed.items())
    except (OSError, TypeError, ValueError):
        return False


def checked_list(files: Any) -> FileList:
    """The list of files, if it is one; else TypeError or ValueError."""
    if not isinstance(files, dict):
        raise TypeError("there is no list of files where one should be")
    for name, entry in files.items():
        match entry:
            case {"bytes": int(length), "sha256": str(digest), **rest} if (
                not rest and type(length) is int and length >= 0 and _SHA256.fullmatch(digest)
            ):
                continue
        raise ValueError(f"the entry of the file {str(name)[:60]!r} is none")
    return files


def checked_bytes(folder: Path, name: str, files: FileList) -> bytes:
    """Read a file of the list.

    Raises
    ------
    StudyFormatError
        If it is missing, cannot be read, or is not the one that was written.
    """
    path = folder / name
    entry = files.get(name)
    if entry is None:
        raise _damaged(path, "it is not in the list of files")
    try:
        _check_is_file(path)
        with path.open("rb") as file:
            right = os.fstat(file.fileno()).st_size == entry["bytes"]
            content = file.read(entry["bytes"]) if right else b""
    except OSError as error:
        raise _damaged(path, error.strerror or "it cannot be read") from error
    if not right or hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise _damaged(path, "it is not what the study wrote")
    return content


def read_text(path: Path) -> str:
    """The text of a file; OSError if it is none, ValueError if it is not UTF-8."""
    return read_regular(path).decode()


def _check_is_file(path: Path) -> None:
    # Other things than files may never end, or wait.
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a file")


def _damaged(path: Path, reason: str) -> StudyFormatError:
    return StudyFormatError(
        f"The file {path} cannot be used ({reason}); delete it and run the study's command again: "
        "what is done is kept."
    )


@dataclass(frozen=True)
class FactsPage(ABC):
    """Facts that were found, and the page drawn from them."""

    facts: dict[str, Any]

    @property
    @abstractmethod
    def default_path(self) -> Path:
        """Where the page goes if no file is named."""

    @abstractmethod
    def to_html(self) -> str:
        """Draw the page: one HTML text without any outside part."""

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file; folders on the way to it are made.

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


def check_language(lang: str) -> None:
    """Check that pages exist in a language.

    Raises
    ------
    StudyError
        If the language is not available.
    """
    if lang not in LANGUAGES:
        raise StudyError(f"There are no pages in {lang!r}; choose one of {', '.join(LANGUAGES)}.")


def page_path(out: Path | None, default: Path) -> Path:
    """The file of a page: ``out``, or within it if it is a folder, or the default.

    A name that ends in ``.html``, or that a file has already, is a file's; any other is a folder's,
    which is made when the page is saved.

    Examples
    --------
    >>> page_path(Path("pages"), Path("iris-explored.html")).as_posix()
    'pages/iris-explored.html'
    >>> page_path(Path("iris.html"), Path("iris-explored.html")).as_posix()
    'iris.html'
    """
    if out is None:
        return default
    is_file = out.suffix.lower() in (".html", ".htm") and not out.is_dir()
    return out if is_file or (out.exists() and not out.is_dir()) else out / default.name


def refuse_the_table(path: Path, source: Any) -> None:
    """Refuse to write over the table that is read.

    Raises
    ------
    StudyError
        If the file is the ``source``.
    """
    table = Path(source) if isinstance(source, (str, Path)) else None
    if table is not None and table.exists() and path.exists() and path.samefile(table):
        raise StudyError(f"The file {path} is the table itself; name another one with --out.")
