"""Writing where the user wants it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arboleda._files import write_atomically
from arboleda.study.errors import StudyError

__all__ = ["FactsPage", "refuse_the_table"]


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
