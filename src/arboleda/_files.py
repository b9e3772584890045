"""Files that are whole or not there: writing that a crash cannot leave half done."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["drop_file", "read_regular", "write_atomically", "written_whole"]


def drop_file(path: Path) -> None:
    """Remove a file or a link, if there is one; a folder in its place stays.

    Raises
    ------
    OSError
        If it cannot be removed.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)


def read_regular(path: Path) -> bytes:
    """Read a file; a pipe or a device, which may never end, or wait, is refused unopened.

    Raises
    ------
    OSError
        If it is no regular file or cannot be read.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is not a file")
    return path.read_bytes()


def write_atomically(path: Path, data: bytes | str) -> None:
    """Replace a file's content so that a reader sees the old one or the new one, never a part.

    The data go to a new file in the same folder (a rename is atomic only within one file system),
    are flushed to the disk and then take the place of ``path``. If anything fails, ``path`` is as
    it was and the new file is gone.

    Parameters
    ----------
    path : Path
        The file to write; its folder must exist. A symbolic link is followed, not replaced.
    data : bytes or str
        The whole content; text is encoded as UTF-8, line ends are kept as they are.

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
    # A lone surrogate (a file name that is not UTF-8) must not cost the user the whole file.
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    with written_whole(path) as file:
        file.write(content)


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to that takes the place of ``path`` when the block ends well.

    As `write_atomically`, for content that is not at hand at once.

    Raises
    ------
    OSError
        If the folder is missing or read-only, no space is left, or ``path`` is a folder, a device,
        a pipe or a link to itself.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder) / "numbers") as file:
    ...         for number in b"1", b"2":
    ...             _ = file.write(number)
    ...     (Path(folder) / "numbers").read_bytes()
    b'12'
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, "it is a link to itself")
    if target.exists() and not target.is_file():
        # A rename would put a file in the place of a device for everybody.
        raise OSError(errno.EINVAL, "it is not a file")
    draft = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.tmp")
    # Mode 0o666 leaves the permissions to the user's umask, which tempfile would override.
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself last through a power cut, where folders can be opened (POSIX)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
