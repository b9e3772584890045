"""The file of a coded table as another process opens it: by its path, if it is the same file."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arboleda._engine.coded_rows import CodedRows
from arboleda._utils.errors import ModelFormatError, TableError

__all__ = ["CodedReference"]


@dataclass(frozen=True)
class CodedReference:
    """What is sent to another process instead of a coded table.

    Parameters
    ----------
    path : str
        The absolute path.
    n_bytes, checksum : int
        Those of the file; see `CodedRows.checksum`.
    """

    path: str
    n_bytes: int
    checksum: int

    @classmethod
    def to_rows(cls, path: Path, rows: CodedRows) -> CodedReference:
        """Return the reference to an open file."""
        return cls(str(path.absolute()), rows.n_bytes, rows.checksum)

    def open(self, reader: str | None = None) -> CodedRows:
        """Open the file in this process; its codes are not read.

        Parameters
        ----------
        reader : str, default=None
            What opens it, at the beginning of a sentence; None: this process or worker of Dask.

        Raises
        ------
        TableError
            If the file cannot be read, or is another one.
        """
        remedy = "put it there, on a disk that all machines share, or pass the rows as values"
        try:
            rows = CodedRows.open(Path(self.path))
        except OSError as error:
            reason = error.strerror or str(error)
        except ModelFormatError as error:
            reason = str(error).removeprefix(f"{self.path}: ")
        else:
            if (rows.n_bytes, rows.checksum) == (self.n_bytes, self.checksum):
                return rows
            reason = "another file is under this path"
            if rows.n_bytes != self.n_bytes:
                reason += f", of {rows.n_bytes:,} bytes instead of {self.n_bytes:,}"
            remedy = "open it again if it was replaced, else put the same file there"
        raise TableError(
            f"{reader or _describe_process()} cannot read the coded table {self.path} ({reason}); "
            f"{remedy}."
        )


def _describe_process() -> str:
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        with suppress(ValueError):  # not on a worker
            return f"The worker {distributed.get_worker().address}"
    return f"Process {os.getpid()} on {platform.node()}"
