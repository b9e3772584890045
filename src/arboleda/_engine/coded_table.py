"""Tables larger than memory: bin codes in a file, which the engine reads where they are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from arboleda._engine.coded_parts import Frames, Paths, read_csv, read_frames, read_parquet
from arboleda._engine.coded_reference import CodedReference
from arboleda._engine.coded_rows import CodedRows
from arboleda._engine.coded_writer import write_coded_table
from arboleda._engine.columns import Name
from arboleda._utils.text import count_noun

Array = npt.NDArray[Any]


class CodedTable:
    """A table in a file, as bin codes of one byte per value: more rows than memory holds.

    It is written once, from Parquet or CSV files or from frames, in memory that does not depend on
    the number of rows but for one column; and passed to `fit` and `predict` instead of `X`. The
    file is mapped into memory and read where it is: a fit adds 24 bytes per row for scores,
    gradients and the order of the rows, and 8 for a target of classes. Where the file does not fit
    in memory, the levels of a tree are grown in sweeps over the file, with the same result.

    Bins are computed from all rows, exactly as the estimators compute them: a model fitted on the
    file equals the one that is fitted on the same rows in memory, byte for byte. With early
    stopping on held-out rows the two differ: in memory, bins are computed from the training rows
    only.

    Other processes, such as workers of joblib and of Dask, get the path and open the file when they
    read it. If they cannot, or another file is there, they raise an error that names them.

    Parameters
    ----------
    path : str or path-like
        A file that was written by one of the class methods; it must not change while it is in use.

    Raises
    ------
    ModelFormatError
        If it is not the file of a coded table, is damaged, or was written by a newer version.
    OSError
        If the file does not exist or cannot be read.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from arboleda import CodedTable, HistGradientBoostingRegressor
    >>> parts = [pd.DataFrame({"x": [1.0, 2.0], "y": [1, 4]}), pd.DataFrame({"x": [3.0], "y": [9]})]
    >>> table = CodedTable.from_frames(parts, target="y", path="squares.coded")
    >>> table
    CodedTable('squares.coded', 3 rows, 1 column)
    >>> model = HistGradientBoostingRegressor(max_iter=1, min_samples_leaf=1, learning_rate=1.0)
    >>> model.fit(table, table.y).predict(table)
    array([1., 4., 9.])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        rows = CodedRows.open(self._path)
        self._rows: CodedRows | None = rows
        self._reference = CodedReference.to_rows(self._path, rows)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file that was written before; the same as ``CodedTable(path)``.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        table : CodedTable

        Raises
        ------
        ModelFormatError
            If it is not the file of a coded table, is damaged, or was written by a newer version.
        """
        return cls(path)

    @classmethod
    def from_parquet(
        cls,
        files: Paths,
        *,
        path: str | os.PathLike[str],
        target: str | None = None,
        sample_weight: str | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> Self:
        """Write the coded table of Parquet files, and open it.

        Every file is read once, in batches of rows. Temporary files beside ``path`` take the room
        of the columns as float32 or float64; memory holds one batch, then one column.

        Parameters
        ----------
        files : str, path-like, or sequence of them
            Files, or patterns such as ``"part-*.parquet"``, whose files are read sorted by name.
        path : str or path-like
            The file to write; it is replaced only when all went well.
        target : str, default=None
            Column of the target, which is then `y`.
        sample_weight : str, default=None
            Column of the weights, which are then `sample_weight`.
        max_bins : int, default=255
            Maximum number of bins of a numeric column, missing values aside; at most 255. Must be
            that of the estimators.
        categorical_features : "from_dtype", None, or array-like of bool, int or str
            As in `HistGradientBoostingClassifier`; at most 255 categories per column.
        n_jobs : int, default=None
            Number of threads; the file does not depend on it.

        Returns
        -------
        table : CodedTable

        Raises
        ------
        FileNotFoundError
            If a pattern matches no file, or a file vanishes meanwhile.
        ValueError
            If the files differ in their columns or types (integers and 64-bit floats may be mixed),
            a value is infinite, a target is missing, or a column has more than 255 categories. The
            message names the file and the column.
        """
        return cls._write(
            read_parquet(files), path, target, sample_weight, max_bins, categorical_features, n_jobs
        )

    @classmethod
    def from_csv(
        cls,
        files: Paths,
        *,
        path: str | os.PathLike[str],
        target: str | None = None,
        sample_weight: str | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> Self:
        """Write the coded table of CSV files with a line of column names, and open it.

        The types of the columns are those of the first block of about 16 MB that has a value of
        each.

        Parameters
        ----------
        files : str, path-like, or sequence of them
            Files, or patterns such as ``"part-*.csv"``, whose files are read sorted by name.
        path, target, sample_weight, max_bins, categorical_features, n_jobs
            As in `from_parquet`.

        Returns
        -------
        table : CodedTable

        Raises
        ------
        FileNotFoundError, ValueError
            As `from_parquet`.
        """
        return cls._write(
            read_csv(files), path, target, sample_weight, max_bins, categorical_features, n_jobs
        )

    @classmethod
    def from_frames(
        cls,
        frames: Frames,
        *,
        path: str | os.PathLike[str],
        target: str | None = None,
        sample_weight: str | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> Self:
        """Write the coded table of frames, and open it.

        Parameters
        ----------
        frames : iterable of frames, or callable that returns one
            Frames of pandas, polars or Arrow with the same columns; each is used once.
        path, target, sample_weight, max_bins, categorical_features, n_jobs
            As in `from_parquet`.

        Returns
        -------
        table : CodedTable

        Raises
        ------
        TypeError
            If an item is not a frame.
        ValueError
            As `from_parquet`.
        """
        return cls._write(
            read_frames(frames), path, target, sample_weight, max_bins, categorical_features, n_jobs
        )

    @classmethod
    def _write(
        cls,
        parts: Iterable[Any],
        path: str | os.PathLike[str],
        target: str | None,
        sample_weight: str | None,
        max_bins: int,
        categorical_features: Any,
        n_jobs: int | None,
    ) -> Self:
        write_coded_table(
            Path(path),
            parts,
            target=target,
            sample_weight=sample_weight,
            max_bins=max_bins,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
        )
        return cls(path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns, without the target and the weights."""
        return self._file_rows.shape

    @property
    def columns(self) -> list[Name]:
        """Names of the columns, without the target and the weights."""
        return list(self._file_rows.schema.names or ())

    @property
    def target_name(self) -> str | None:
        """Name of the column of the target; None if the file has none."""
        return self._file_rows.target_name

    @property
    def max_bins(self) -> int:
        """Maximum number of bins of a numeric column, missing values aside."""
        return self._file_rows.max_bins

    @property
    def y(self) -> Array:
        """The target, of shape (n_samples,); numbers are read-only and stay in the file.

        Raises
        ------
        ValueError
            If the file has no target.
        """
        return self._file_rows.read_series("target")

    @property
    def sample_weight(self) -> Array:
        """The weights, of shape (n_samples,); read-only, they stay in the file.

        Raises
        ------
        ValueError
            If the file has no weights.
        """
        return self._file_rows.read_series("sample_weight")

    def decode(self, rows: npt.NDArray[np.integer]) -> dict[Name, Array]:
        """Return some rows with a value of each bin instead of those that were coded.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of rows.

        Returns
        -------
        columns : dict
            The values of each column by its name: the lowest of the bin, NaN where missing; or the
            category, None where missing.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> frame = pd.DataFrame({"x": [1.0, None], "color": ["red", "blue"]})
        >>> table = CodedTable.from_frames([frame], path="colors.coded")
        >>> table.decode(np.array([1, 0]))["color"].tolist()
        ['blue', 'red']
        """
        columns: dict[Name, Array] = {}
        self._file_rows.code(1, self.max_bins)  # checks the codes
        values = self._file_rows.take(rows).columns
        for name, levels, column in zip(
            self.columns, self._file_rows.schema.levels, values, strict=True
        ):
            if levels is None:
                columns[name] = column
            else:
                labels = np.array([*levels, None], dtype=object)
                columns[name] = labels[np.minimum(column, len(levels))]
        return columns

    @property
    def _file_rows(self) -> CodedRows:
        """The open file; that of a table from another process is opened on first use."""
        if self._rows is None:
            self._rows = self._reference.open()
        return self._rows

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NoReturn:
        raise ValueError(
            "a CodedTable is fitted on as a whole, and its rows cannot be selected, as folds and "
            "samples need: pass rows of the original table, or write the training rows and the "
            "test rows to a file each"
        )

    def __repr__(self) -> str:
        size = ", ".join(map(count_noun, self.shape, ("row", "column")))
        return f"CodedTable({str(self._path)!r}, {size})"

    def __getstate__(self) -> CodedReference:
        return self._reference

    def __setstate__(self, reference: CodedReference) -> None:
        self._path = Path(reference.path)
        self._reference = reference
        self._rows = None
