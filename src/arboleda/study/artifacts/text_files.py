"""Writing where the user wants it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arboleda._files import write_atomically
from arboleda.reports.translation import LANGUAGES
from arboleda.study.errors import StudyError

__all__ = ["FactsPage", "check_language", "page_path", "refuse_the_table"]


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
