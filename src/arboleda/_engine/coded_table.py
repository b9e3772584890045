"""Tables larger than memory: bin codes in a file, which the engine reads where they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from arboleda._engine.coded_file import Bytes, read_coded_header, read_series
from arboleda._engine.coded_parts import Frames, Paths, read_csv, read_frames, read_parquet
from arboleda._engine.coded_writer import write_coded_table
from arboleda._engine.column_options import find_categorical_columns
from arboleda._engine.columns import MISSING, DenseTable, FileTable, Name, Schema
from arboleda._native import BinnedDataset
from arboleda._utils.errors import ModelFormatError
from arboleda._utils.memory import available_memory
from arboleda._utils.text import format_names

Array = npt.NDArray[Any]

# Of the memory that is available, the share above which trees read the file from beginning to end
# instead of here and there.
_SWEPT_SHARE = 0.5
_BLOCK_ROWS = 1 << 16


class CodedTable(FileTable):
    """A table in a file, as bin codes of one byte per value: more rows than memory holds.

    It is written once, from Parquet or CSV files or from frames, in memory that does not depend on
    the number of rows but for one column; and passed to `fit` and `predict` instead of `X`. The
    file is mapped into memory and read where it is: a fit adds about 40 bytes per row for targets,
    scores and gradients. Where the file does not fit in memory, the levels of a tree are grown in
    sweeps over the file, with the same result.

    Bins are computed from all rows, exactly as the estimators compute them: a model fitted on the
    file equals the one that is fitted on the same rows in memory, byte for byte. With early
    stopping on held-out rows the two differ: in memory, bins are computed from the training rows
    only.

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
        if self._path.stat().st_size == 0:
            raise ModelFormatError(f"{self._path}: the file is empty")
        self._file: Bytes = np.memmap(self._path, dtype=np.uint8, mode="r")
        with _Naming(self._path):
            self._header = read_coded_header(self._file)
        self._coded: BinnedDataset | None = None

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
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns, without the target and the weights."""
        return self.n_rows, self.n_columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._header.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns, without the target and the weights."""
        return self._header.schema.n_columns

    @property
    def columns(self) -> list[Name]:
        """Names of the columns, without the target and the weights."""
        return list(self._header.schema.names or ())

    @property
    def max_bins(self) -> int:
        """Maximum number of bins of a numeric column, missing values aside."""
        return self._header.max_bins

    @property
    def y(self) -> Array:
        """The target, of shape (n_rows,); numbers are read-only and stay in the file.

        Raises
        ------
        ValueError
            If the file has no target.
        """
        return self._read_series("target")

    @property
    def sample_weight(self) -> Array:
        """The weights, of shape (n_rows,); read-only, they stay in the file.

        Raises
        ------
        ValueError
            If the file has no weights.
        """
        return self._read_series("sample_weight")

    def _read_series(self, role: str) -> Array:
        with _Naming(self._path):
            values = read_series(self._file, self._header, role)
        if values is None:
            raise ValueError(f"{self._path} has no {role}: write it with {role}=, or keep it apart")
        return values

    # What a fit reads, as from the tables of `columns.py`

    @property
    def schema(self) -> Schema:
        """Names and categories of the columns."""
        return self._header.schema

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each column, 0 for a numeric one."""
        return self._header.schema.n_levels

    @property
    def native(self) -> NoReturn:
        """Raise an error: what reads values does not read a coded table."""
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raise an error, for what reads the values of columns."""
        raise ValueError(
            "this does not read a CodedTable, which has no values: pass rows of the original "
            "table. fit reads it, and so do predict, predict_proba, decision_function and score of "
            "boosting and forests"
        )

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Return the codes, which are checked on the first call.

        The bins are those of all rows, whatever ``rows``.

        Raises
        ------
        ValueError
            If the bins of the file are others than ``max_bins``.
        ModelFormatError
            If a code is not valid.
        """
        if max_bins != self.max_bins:
            raise ValueError(
                f"max_bins={max_bins}, but {self._path} was written with max_bins={self.max_bins}: "
                f"set max_bins={self.max_bins}, or write the table anew"
            )
        header = self._header
        if self._coded is None:
            with _Naming(self._path):
                self._coded = BinnedDataset.of_file(
                    self._file,
                    header.n_rows,
                    header.sections["columns"][0],
                    [column.native for column in header.columns],
                    header.sections["rows"][0],
                    header.stride,
                    list(header.order),
                    self._is_swept(),
                    n_threads,
                )
                if tuple(self._coded.row_order()) != header.order:
                    self._coded = None
                    raise ModelFormatError("the columns of its rows have another order")
        return self._coded

    def _is_swept(self) -> bool:
        """Return whether the codes do not fit in memory together with what a fit needs."""
        memory = available_memory()
        n_bytes = self.n_rows * (self._header.stride + self.n_columns)
        return memory is not None and n_bytes > _SWEPT_SHARE * memory

    def code_like(self, learned: BinnedDataset, n_threads: int) -> BinnedDataset:
        """Return the codes if their bins are those of another table.

        Raises
        ------
        ValueError
            If they are not.
        """
        coded = self.code(n_threads, self.max_bins)
        for j, levels in enumerate(self.schema.levels):
            same = levels is not None or all(
                np.array_equal(mine, other)
                for mine, other in zip(coded.edges(j), learned.edges(j), strict=True)
            )
            if not same:
                raise ValueError(
                    f"column {self.schema.describe(j)} of {self._path} has other bins than the "
                    "training rows: pass validation rows as a table of values"
                )
        return coded

    def take(self, rows: npt.NDArray[np.integer]) -> DenseTable:
        """Return some rows with a value of each bin instead of those that were coded."""
        codes = self._codes[:, rows]
        columns = [values[codes[j]] for j, values in enumerate(self._values_of_codes(self.schema))]
        return DenseTable(columns, len(rows), self.n_levels)

    @property
    def _codes(self) -> Bytes:
        at, length = self._header.sections["columns"]
        return self._file[at : at + length].reshape(self.n_columns, self.n_rows)

    def set_columns(self, estimator: Any, categorical_features: Any) -> None:
        """Set the columns of an estimator that is fitted on this table.

        Raises
        ------
        ValueError
            If its categorical columns are others than those of the file.
        """
        schema = self.schema
        if not isinstance(categorical_features, str):
            source = _Columns(schema)
            chosen = find_categorical_columns(categorical_features, source, schema.names)
            for j, (is_chosen, n_levels) in enumerate(zip(chosen, self.n_levels, strict=True)):
                if is_chosen is not bool(n_levels):
                    raise ValueError(
                        f"column {schema.describe(j)} is {'not ' * (not n_levels)}categorical in "
                        f"{self._path}, but {'not ' * (not is_chosen)}in categorical_features: set "
                        "categorical_features='from_dtype', or write the table anew"
                    )
        estimator.schema_ = schema
        estimator.n_features_in_ = schema.n_columns
        if schema.names_are_text:
            estimator.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    # Prediction

    def predict_blocks(
        self,
        predict: Callable[[DenseTable], Array],
        estimator: Any,
        thresholds: Iterable[tuple[int, float]],
    ) -> Array:
        """Return the predictions of an estimator for all rows, block by block.

        Parameters
        ----------
        predict : callable
            Returns the predictions for a table of the estimator's columns.
        estimator : estimator
            Its `schema_` is that of the columns.
        thresholds : iterable of (int, float)
            The column and the threshold of each numeric split.

        Raises
        ------
        ValueError
            If the columns are not those of the estimator, or a threshold separates values of one
            bin, so that codes do not tell on which side they are.
        """
        schema: Schema = estimator.schema_
        places = self._find_columns(schema, type(estimator).__name__)
        for column, threshold in thresholds:
            self._check_threshold(places[column], threshold)
        self.code(1, self.max_bins)  # checks the codes
        values = self._values_of_codes(schema, places)
        parts = []
        for begin in range(0, self.n_rows, _BLOCK_ROWS):
            codes = self._codes[:, begin : begin + _BLOCK_ROWS]
            columns = [values[j][codes[place]] for j, place in enumerate(places)]
            parts.append(predict(DenseTable(columns, codes.shape[1], schema.n_levels)))
        return np.concatenate(parts)

    def _find_columns(self, schema: Schema, owner: str) -> list[int]:
        """Return the place of each column of an estimator."""
        mine = self.schema
        if schema.names is None:
            if schema.n_columns != self.n_columns:
                raise ValueError(
                    f"X has {self.n_columns} features, but {owner} is expecting "
                    f"{schema.n_columns} features as input"
                )
            places = list(range(self.n_columns))
        else:
            missing = [name for name in schema.names if name not in mine.places]
            extra = [name for name in self.columns if name not in schema.places]
            if missing or extra:
                faults = [f"lacks {format_names(missing)}"] * bool(missing)
                faults += [f"has {format_names(extra)}, unseen at fit"] * bool(extra)
                raise ValueError(
                    "The feature names should match those that were passed during fit: "
                    f"{self._path} {' and '.join(faults)}"
                )
            places = [mine.places[name] for name in schema.names]
        for j, place in enumerate(places):
            if (schema.levels[j] is None) is not (mine.levels[place] is None):
                raise ValueError(
                    f"column {mine.describe(place)} is {mine.kinds[place]} in {self._path}, but "
                    f"was {schema.kinds[j]} in fit"
                )
        return places

    def _check_threshold(self, column: int, threshold: float) -> None:
        coded = self._header.columns[column]
        code = int(np.searchsorted(coded.upper, threshold, side="right"))
        if code < coded.n_values and coded.lower[code] <= threshold:
            raise ValueError(
                f"the model separates values of one bin of column {self.schema.describe(column)} "
                f"at {threshold!r}: {self._path} does not tell on which side they are. Predict "
                "the original table"
            )

    def _values_of_codes(self, schema: Schema, places: Iterable[int] | None = None) -> list[Array]:
        """Return the value of each code of each column, in the format of an estimator's table."""
        values: list[Array] = []
        for j, place in enumerate(range(self.n_columns) if places is None else places):
            labels, codes = self.schema.levels[place], schema.codes[j]
            if labels is None or codes is None:
                lower = self._header.columns[place].lower
                values.append(np.append(lower, np.nan))
            else:
                known = [codes.get(label, MISSING) for label in labels]
                values.append(np.array([*known, MISSING], dtype=np.uint16))
        return values

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: Any) -> NoReturn:
        self.refuse()

    def __repr__(self) -> str:
        columns = f"{self.n_columns:,} column{'s' * (self.n_columns != 1)}"
        return f"CodedTable({str(self._path)!r}, {self.n_rows:,} rows, {columns})"

    def __reduce__(self) -> tuple[type[Self], tuple[Path]]:
        return type(self), (self._path,)


class _Columns:
    """The columns of a schema, for the selection of categorical ones."""

    def __init__(self, schema: Schema) -> None:
        self.n_rows = 0
        self.n_columns = schema.n_columns

    def is_labelled(self, column: int) -> bool:
        raise NotImplementedError

    def numbers(self, column: int, place: str) -> NoReturn:
        raise NotImplementedError

    def labels(self, column: int, place: str) -> NoReturn:
        raise NotImplementedError


class _Naming:
    """Context that adds the name of the file to errors of its format."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, ModelFormatError):
            raise ModelFormatError(f"{self._path}: {error}") from error


def iterate_thresholds(
    trees: Iterable[Any], levels: tuple[int, ...]
) -> Iterator[tuple[int, float]]:
    """Yield the distinct columns and thresholds of the numeric splits of trees."""
    seen: set[tuple[int, float]] = set()
    for tree in trees:
        feature, threshold = tree.feature, tree.threshold
        for j, t in zip(feature.tolist(), threshold.tolist(), strict=True):
            if j >= 0 and not levels[j] and (j, t) not in seen:
                seen.add((j, t))
                yield j, t
