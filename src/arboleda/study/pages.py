"""Writing a page where the user wants it."""

from pathlib import Path

from arboleda._files import write_atomically
from arboleda.study.errors import StudyError

__all__ = ["save_page"]


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
