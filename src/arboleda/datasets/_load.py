"""A table by its name: from a folder, from the cache or from its public home."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from zipfile import BadZipFile

from arboleda.datasets._catalogue import CATALOGUE, Entry, Read
from arboleda.datasets._fetch import cache_folder, fetched, unzipped

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "load", "names"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table and what is asked of it.

    Attributes
    ----------
    name : str
    frame : pandas.DataFrame
        Rows and columns of the original files; what stands for a missing value there is missing.
    target : str
        The column to predict.
    task : {"binary", "multiclass", "regression"}
    home : str
        The page to read about it, with its licence.
    """

    name: str
    frame: pd.DataFrame
    target: str
    task: Literal["binary", "multiclass", "regression"]
    home: str

    @property
    def X(self) -> pd.DataFrame:  # noqa: N802 - as in scikit-learn
        """The columns but the target."""
        return self.frame.drop(columns=self.target)

    @property
    def y(self) -> pd.Series:
        """The target."""
        return self.frame[self.target]


def names() -> tuple[str, ...]:
    """Return the names of the tables that `load` knows."""
    return tuple(CATALOGUE)


def load(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
) -> Dataset:
    r"""Load a public table.

    Parameters
    ----------
    name : str
        One of `names`: ``"adult"`` (test rows first), ``"california_housing"``,
        ``"heart_cleveland"``, ``"letter_recognition"``, ``"mnist"`` (training images first),
        ``"ram_price"``, ``"spambase"``, ``"uk_used_cars"``.
    folder : str or path, default=None
        Where its files are, or a folder of its name that holds them: as they are published, also
        packed by gzip, or as one table (``adult.csv.gz``, ``mnist.npz``, ``spam_esl.csv.gz``,
        ``vw.csv.gz``). They are taken as they are. None: from the cache, else from its public home,
        checked against a known sum.
    cache : str or path, default=None
        Where what was fetched is kept; None: the folder that the variable ``ARBOLEDA_CACHE`` names,
        else ``arboleda`` where this computer keeps such things (``~/.cache``).

    Returns
    -------
    dataset : Dataset
        With ``frame``, ``X``, ``y``, ``target``, ``task`` and ``home``.

    Raises
    ------
    ValueError
        If there is no such table, its home sends another file than the one known, or files of the
        folder cannot be read.
    FileNotFoundError
        If the folder does not hold it, or it has no home that anybody may fetch it from
        (``"uk_used_cars"``) and no folder is given.
    OSError
        If its home does not answer.

    Examples
    --------
    >>> from pathlib import Path
    >>> from arboleda.datasets import load
    >>> _ = Path("ram_price.csv").write_text(",date,price\n0,1957.0,411041792.0\n")
    >>> load("ram_price", ".").frame
         date        price
    0  1957.0  411041792.0
    """
    entry = CATALOGUE.get(name)
    if entry is None:
        raise ValueError(f"there is no table {name!r}; there are {', '.join(CATALOGUE)}")
    frame = _fetched(name, entry, cache) if folder is None else _read(name, entry, Path(folder))
    return Dataset(name, frame, entry.target, entry.task, entry.home)


def _fetched(name: str, entry: Entry, cache: str | os.PathLike[str] | None) -> pd.DataFrame:
    if not entry.sources:
        raise FileNotFoundError(
            f"{name} has no home that anybody may fetch it from: download {entry.table} from "
            f"{entry.home} and give its folder, load({name!r}, folder=...)"
        )
    kept = cache_folder(cache)
    return entry.read([fetched(name, source, kept) for source in entry.sources])


def _read(name: str, entry: Entry, folder: Path) -> pd.DataFrame:
    """Read files that somebody has put into a folder."""
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    for place in (folder / name, folder):
        found = [_file(place, source.file) for source in entry.sources]
        whole = _file(place, entry.table.removesuffix(".gz"))
        if found and all(found):
            return _parsed(entry.read, [path for path in found if path is not None])
        if whole is not None:
            return _parsed(entry.read_table, [whole])
    files = [source.file for source in entry.sources]
    wanted = f"{entry.table} or {' and '.join(files)}" if files else entry.table
    raise FileNotFoundError(f"{folder} does not hold {name}: put {wanted} into it ({entry.home})")


def _file(folder: Path, name: str) -> Path | None:
    """A file of that name, packed or not."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _parsed(read: Read, paths: list[Path]) -> pd.DataFrame:
    contents = [path.read_bytes() for path in paths]
    try:
        return read([unzipped(content) for content in contents])
    except (ValueError, KeyError, EOFError, OSError, BadZipFile, zlib.error) as error:
        names = ", ".join(str(path) for path in paths)
        raise ValueError(f"{names} cannot be read as the table is published: {error}") from error
