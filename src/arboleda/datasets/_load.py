"""Loading of data sets by name: from a folder, from the cache or by download."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zipfile import BadZipFile

from arboleda._utils.frames import axes_or_new
from arboleda._utils.numbers import clip
from arboleda._utils.results import Result
from arboleda._utils.text import plot_escaped
from arboleda.datasets._datasets import (
    CATALOGUE,
    DatasetEntry,
    Read,
    cache_folder,
    fetch,
    unpack_gzip,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Dataset", "load", "names"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Result):
    """A data set and its prediction task.

    Attributes
    ----------
    name : str
    frame : pandas.DataFrame
        Rows and columns of the original files, with their missing-value markers as missing values.
    target : str
        The column to predict.
    task : {"binary", "multiclass", "regression"}
    home : str
        Web page with its description and licence.
    """

    name: str
    frame: pd.DataFrame
    target: str
    task: Literal["binary", "multiclass", "regression"]
    home: str

    @property
    def X(self) -> pd.DataFrame:  # noqa: N802 - as in scikit-learn
        """The columns except the target."""
        return self.frame.drop(columns=self.target)

    @property
    def y(self) -> pd.Series:
        """The target."""
        return self.frame[self.target]

    def _summarize(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "n_rows": len(self.frame),
            "n_columns": self.frame.shape[1],
            "target": self.target,
            "task": self.task,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return ``frame``."""
        return self.frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the distribution of the target.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        if self.task == "regression":
            ax.hist(self.y.dropna(), bins=40)
            ax.set_ylabel("rows")
        else:
            counts = self.y.value_counts().head(20)
            ax.barh([plot_escaped(clip(str(label), 30)) for label in counts.index], counts, 0.66)
            ax.invert_yaxis()
            ax.set_xlabel("rows")
        ax.set_title(plot_escaped(self.target))
        return ax


def names() -> tuple[str, ...]:
    """Return the names of the data sets that `load` supports."""
    return tuple(CATALOGUE)


def load(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
) -> Dataset:
    r"""Load a public data set.

    Parameters
    ----------
    name : str
        One of `names`: ``"adult"`` (test rows first), ``"california_housing"``,
        ``"heart_cleveland"``, ``"letter_recognition"``, ``"mnist"`` (training images first),
        ``"ram_price"``, ``"spambase"``, ``"uk_used_cars"``.
    folder : str or path, default=None
        Folder with its files, or with a subfolder of its name that contains them: the published
        files, optionally compressed by gzip, or a single table (``adult.csv.gz``, ``mnist.npz``,
        ``spam_esl.csv.gz``, ``vw.csv.gz``). Their digests are not checked. None: from the cache, or
        downloaded and checked against a known digest.
    cache : str or path, default=None
        Folder for downloaded files; None: the environment variable ``ARBOLEDA_CACHE``, else
        ``arboleda`` in the user's cache folder (``~/.cache``).

    Returns
    -------
    dataset : Dataset
        With ``frame``, ``X``, ``y``, ``target``, ``task`` and ``home``.

    Raises
    ------
    ValueError
        If there is no such data set, the download has another digest, or files of the folder cannot
        be read.
    FileNotFoundError
        If the folder does not contain it, or it cannot be downloaded without an account
        (``"uk_used_cars"``) and ``folder`` is None.
    OSError
        If the download fails.

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
        raise ValueError(f"name must be one of {', '.join(CATALOGUE)}, got {name!r}")
    frame = (
        _fetch_table(name, entry, cache)
        if folder is None
        else _read_folder(name, entry, Path(folder))
    )
    return Dataset(name, frame, entry.target, entry.task, entry.home)


def _fetch_table(
    name: str, entry: DatasetEntry, cache: str | os.PathLike[str] | None
) -> pd.DataFrame:
    if not entry.sources:
        raise FileNotFoundError(
            f"{name} cannot be downloaded without an account: download {entry.table} from "
            f"{entry.home} and pass its folder, load({name!r}, folder=...)"
        )
    cache_path = cache_folder(cache)
    return entry.read([fetch(name, source, cache_path) for source in entry.sources])


def _read_folder(name: str, entry: DatasetEntry, folder: Path) -> pd.DataFrame:
    """Read the data set from a folder of the user."""
    if not folder.is_dir():
        raise FileNotFoundError(f"folder={str(folder)!r} does not exist or is not a folder")
    for place in (folder / name, folder):
        paths = [_find_file(place, source.file) for source in entry.sources]
        table = _find_file(place, entry.table.removesuffix(".gz"))
        if paths and all(paths):
            return _parse_files(entry.read, [path for path in paths if path is not None])
        if table is not None:
            return _parse_files(entry.read_table, [table])
    files = [source.file for source in entry.sources]
    expected = f"{entry.table} or {' and '.join(files)}" if files else entry.table
    raise FileNotFoundError(
        f"{folder} does not contain {name}: put {expected} into it ({entry.home})"
    )


def _find_file(folder: Path, name: str) -> Path | None:
    """Return the path of a file, compressed or not, or None."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _parse_files(read: Read, paths: list[Path]) -> pd.DataFrame:
    contents = [path.read_bytes() for path in paths]
    try:
        return read([unpack_gzip(content) for content in contents])
    except (ValueError, KeyError, EOFError, OSError, BadZipFile, zlib.error) as error:
        names = ", ".join(str(path) for path in paths)
        raise ValueError(f"{names} cannot be read in the published format: {error}") from error
