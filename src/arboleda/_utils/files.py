"""Atomic writing of files, and strict parsing of JSON."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from arboleda._utils.errors import ModelFormatError
from arboleda._utils.operating_system import system

__all__ = ["drop_file", "open_atomically", "read_regular", "write_atomically"]


def drop_file(path: Path) -> None:
    """Remove a file or a link if it exists; directories are kept.

    Raises
    ------
    OSError
        If it cannot be removed.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)


def read_regular(path: Path) -> bytes:
    """Read a regular file; pipes and devices, which may block or never end, are not opened.

    Raises
    ------
    OSError
        If it is not a regular file or cannot be read.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is not a file")
    return path.read_bytes()


def write_atomically(path: Path, data: bytes | str) -> None:
    """Replace the content of a file atomically.

    The data are written to a new file in the same directory (a rename is atomic only within one
    file system), which is flushed to the disk and renamed to ``path``. If anything fails, ``path``
    is unchanged and the new file is removed.

    Parameters
    ----------
    path : Path
        The file to write; its folder must exist. A symbolic link is followed, not replaced.
    data : bytes or str
        The whole content; text is encoded as UTF-8 and line ends are kept.

    Raises
    ------
    OSError
        If the folder is missing or read-only, no space is left, or ``path`` is a folder, a device,
        a pipe or a link to itself.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "facts.json", "{}")
    ...     (Path(folder) / "facts.json").read_text()
    '{}'
    """
    # A lone surrogate (from a file name that is not UTF-8) must not prevent writing the file.
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    with open_atomically(path) as file:
        file.write(content)


@contextmanager
def open_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces ``path`` when the block ends without an error.

    Like `write_atomically`, for content that is written in parts.

    Raises
    ------
    OSError
        If the folder is missing or read-only, no space is left, or ``path`` is a folder, a device,
        a pipe or a link to itself.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with open_atomically(Path(folder) / "numbers") as file:
    ...         for number in b"1", b"2":
    ...             _ = file.write(number)
    ...     (Path(folder) / "numbers").read_bytes()
    b'12'
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, "it is a link to itself")
    if target.exists() and not target.is_file():
        # A rename would replace the device by a file.
        raise OSError(errno.EINVAL, "it is not a file")
    draft = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.tmp")
    try:
        file = draft.open("xb")  # not by tempfile, which would override the user's umask
    except OSError as error:
        error.filename = str(path)  # not the draft's, which nobody knows
        raise
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    system.sync_folder(target.parent)  # the rename itself


def parse_strict_json(content: bytes | str, subject: str, *, allow_nan: bool = False) -> Any:
    """Parse JSON; duplicate keys are errors, and so are NaN and infinite numbers by default.

    Parameters
    ----------
    content : bytes or str
    subject : str
        Subject of messages, such as "the header".
    allow_nan : bool, default=False
        Accept NaN, Infinity and -Infinity, as Python's json does.

    Raises
    ------
    ModelFormatError
        If it is not UTF-8, not JSON, nested too deeply, or has a duplicate key.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) != len(pairs):
            raise ModelFormatError(f"{subject} has a duplicate key")
        return entries

    def refuse(name: str) -> NoReturn:
        raise ModelFormatError(f"{subject} contains {name}, which is not JSON")

    try:
        text = content if isinstance(content, str) else content.decode()
        parse_constant = None if allow_nan else refuse
        return json.loads(text, object_pairs_hook=unique, parse_constant=parse_constant)
    except ModelFormatError:
        raise
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"{subject} is not UTF-8") from error
    except ValueError as error:
        raise ModelFormatError(f"{subject} is not JSON: {error}") from error
    except RecursionError as error:
        raise ModelFormatError(f"{subject} is nested too deeply") from error
