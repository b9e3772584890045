"""Writing where the user wants it."""

from pathlib import Path
from typing import Any

from arboleda._files import write_atomically
from arboleda.study.errors import StudyError

__all__ = ["refuse_the_table", "save_page"]


def save_page(file: Path, html: str) -> Path:
    """Write a page to a file, whole or not at all; folders on the way to it are made.

    Parameters
    ----------
    file : Path
    html : str
        The page.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    StudyError
        If the file cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, html)
    except OSError as error:
        raise StudyError(
            f"The page cannot be written to {file} ({error.strerror or error}); choose another "
            "file with --out."
        ) from error
    return file


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
