"""Predict the rows of a table with a study's best model or any fitted model, into a file."""

import csv
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import Progress
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._utils.errors import StudyError
from arboleda._utils.files import open_atomically
from arboleda.study.artifacts.files import check_not_source
from arboleda.study.artifacts.loaded import StudyResult, load_study
from arboleda.study.config.options import read_size
from arboleda.study.results.leaderboard import csv_safe
from arboleda.study.results.prediction_columns import PredictionColumns
from arboleda.tables.chunked_reader import Chunk, read_chunks
from arboleda.tables.column_conversion import find_source
from arboleda.tables.column_reading import column_from_arrow

__all__ = ["PredictionFile", "predict", "predict_file"]

# Rows that are predicted and written together, which bounds the memory.
BLOCK = 20_000
_PARQUET = (".parquet", ".pq")
_SHOWN = 8


@dataclass(frozen=True)
class PredictionFile:
    """A written file: its ``path``, ``n_rows``, the model's ``name``, and notes for the user."""

    path: Path
    n_rows: int
    name: str
    notes: tuple[str, ...]


def predict(
    folder: str | Path,
    source: Any,
    out: str | Path | None = None,
    *,
    model: str | None = None,
    intervals: float | None = None,
    progress: bool = False,
    max_table_size: str | int | None = None,
) -> PredictionFile:
    """Predict the target of a new table with a model of a study, and write a file.

    The file has a row for each row of the table, in its order: ``prediction``, ``probability of
    <class>`` for each class, and the other columns of
    `arboleda.study.results.prediction_columns.PredictionColumns`: intervals or sets on request, and
    decisions if the study has costs. It is written atomically.

    Parameters
    ----------
    folder : str or path
        The study's folder.
    source : str, path or frame
        The table, as for a study. Columns are found by name; the target may be absent.
    out : str or path, optional
        The file, CSV or Parquet by its ending; by default ``<table>-predicted.csv``.
    model : str, optional
        Key or name of a saved model; by default the best.
    intervals : float, optional
        Fraction of rows whose true value should lie in its interval (or class in its set).
    progress : bool, default=False
        Whether to show progress on standard error, if that is a terminal.
    max_table_size : str or int, optional
        Maximum memory for the table: bytes, or a string such as ``"2GB"``; by default a quarter of
        the available memory. A table is read in chunks and may be larger; one row of text may not.

    Returns
    -------
    PredictionFile

    Raises
    ------
    StudyError
        If the folder or the table cannot be used, a column is missing or holds another kind of
        values, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from arboleda.study import Study, predict
    >>> with TemporaryDirectory() as folder:
    ...     _ = Study("iris", target="target", output_dir=folder, models="lda").run()
    ...     predict(folder, load_iris(as_frame=True).data, f"{folder}/predicted.csv").n_rows
    150
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = load_study(folder)
        columns = PredictionColumns(study, intervals, model)
        limit = read_size("max_table_size", max_table_size)
        reading = _Reading(study, source, progress, limit)
        path = Path(out) if out is not None else Path(f"{reading.stem}-predicted.csv")
        _check_ending(path)
        check_not_source(path, source)
        _write(path, reading.predict(columns), "name another one with --out")
    name = next(m["name"] for m in study.facts["models"] if m["key"] == columns.key)
    notes = [*columns.notes, *reading.notes(), *_warned(caught)]
    if study.class_names and not columns.has_probabilities:
        notes.append(f"{name} gives no probabilities.")
    return PredictionFile(path, reading.n_rows, name, tuple(notes))


def _check_ending(path: Path) -> None:
    """Check that a file's ending is known."""
    if path.suffix.lower() not in (".csv", *_PARQUET):
        raise StudyError(f"The file {path} must end in .csv or .parquet.")


class _Reading:
    """The rows of a table, read in chunks, and the notes on them."""

    def __init__(
        self, study: StudyResult, source: Any, progress: bool, max_table_size: int | None
    ) -> None:
        self.n_rows = 0
        self._study = study
        self._parts = study.layout.iterate_chunks(source, max_table_size=max_table_size)
        self._first = next(self._parts)
        self._console = Console(stderr=True)
        self._shown = progress and self._console.is_terminal
        self._unseen: dict[str, tuple[int, str]] = {}  # number of rows, and the first value

    @property
    def stem(self) -> str:
        """The name of the table, without endings."""
        return self._first.raw.stem

    def predict(self, columns: PredictionColumns) -> Iterator[tuple[pa.Table, list[str] | None]]:
        """Yield the columns for the next rows, and the predicted classes as in the table."""
        with Progress(console=self._console, transient=True, disable=not self._shown) as bar:
            task = bar.add_task("rows", total=1.0)
            before = 0.0
            for part in chain([self._first], self._parts):
                x = self._encoded(part)
                for start in range(0, len(x), BLOCK):
                    yield columns.table(x[start : start + BLOCK])
                    done = min(1.0, (start + BLOCK) / len(x))
                    bar.update(task, completed=before + done * (part.share - before))
                before = part.share

    def _encoded(self, part: Chunk) -> npt.NDArray[np.float64]:
        try:
            features = self._study.layout.encode_raw(part.raw)
        except StudyError as error:
            if part.first:
                raise StudyError(f"In the rows after the first {part.first:,}: {error}") from error
            raise
        self.n_rows += len(features.x)
        names = part.raw.names
        sources = {c.name: find_source(c, names) for c in self._study.layout.columns}
        for j, levels in features.levels.items():
            rows = np.flatnonzero(features.x[:, j] == len(levels))
            if rows.size:
                name = features.names[j]
                column = part.raw.data.column(names.index(sources[name] or name))
                n_before, value = self._unseen.get(name, (0, str(column[int(rows[0])].as_py())))
                self._unseen[name] = n_before + rows.size, value
        return features.x

    def notes(self) -> Iterator[str]:
        """Yield notes for the user on the columns."""
        facts = self._study.facts
        known = {column["name"] for column in facts["data"]["columns"]}
        known |= {*facts["study"]["settings"].get("drop", ())}
        strange = [name for name in self._first.raw.names if name not in known]
        if strange:
            shown = ", ".join(repr(name[:60]) for name in strange[:_SHOWN])
            more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
            yield f"Not used, because the study's table did not have them: {shown}{more}."
        for name, (n_rows, value) in self._unseen.items():
            yield (
                f"Column {name!r} holds values in {n_rows:,} of {self.n_rows:,} rows that the "
                f"study's table did not have, such as {value[:60]!r}."
            )


def _write(path: Path, blocks: Iterator[tuple[pa.Table, list[str] | None]], remedy: str) -> None:
    """Write a file atomically; raise a StudyError with the remedy if it cannot be written."""
    try:
        with open_atomically(path) as file:
            _write_blocks(file, path, blocks)
    except OSError as error:
        raise StudyError(
            f"The file {path} cannot be written ({error.strerror or error}); {remedy}."
        ) from error


def _write_blocks(
    file: BinaryIO, path: Path, blocks: Iterator[tuple[pa.Table, list[str] | None]]
) -> None:
    """Write tables in sequence, as Parquet or as CSV with the texts of predicted classes."""
    if path.suffix.lower() in _PARQUET:
        table, _ = next(blocks)
        with pq.ParquetWriter(file, table.schema) as writer:
            writer.write_table(table)
            for table, _ in blocks:
                writer.write_table(table)
        return
    header = True
    for table, classes in blocks:
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        if header:
            lines.writerow([csv_safe(name) for name in table.column_names])
        header = False
        columns = [column.to_pylist() for column in table.columns]
        if classes is not None:
            columns[0] = classes
        columns = [[csv_safe(c) for c in cs] if isinstance(cs[0], str) else cs for cs in columns]
        lines.writerows(zip(*columns, strict=True))
        file.write(text.getvalue().encode("utf-8", "backslashreplace"))


def _warned(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the distinct first lines of warnings."""
    return sorted({str(w.message).strip().splitlines()[0][:300] for w in caught if str(w.message)})


def predict_file(model: Any, source: Any, out: str | Path) -> int:
    """Predict the rows of a file larger than memory by any fitted model, and write a file.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor with one target. If it has names of columns, the file's
        columns are found by these; otherwise all columns are used in their order, as numbers.
    source : str, path or frame
        A CSV or Parquet file, compressed or not, or a table in memory. It is read in chunks.
    out : str or path
        The file, CSV or Parquet by its ending, with a row for each row of the table:
        ``prediction``, and for a classifier with probabilities ``probability of <class>``. It is
        written atomically.

    Returns
    -------
    n_rows : int

    Raises
    ------
    StudyError
        If the table cannot be read, lacks a column or holds values that the model cannot use, the
        model predicts several numbers per row, or the file cannot be written.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> arboleda.predict_file(tree, "rows.csv", "predictions.parquet")  # doctest: +SKIP
    1000000
    """
    check_is_fitted(model)
    path = Path(out)
    _check_ending(path)
    check_not_source(path, source)
    counted: list[int] = []
    _write(path, _predict_chunks(model, source, counted), "name another one")
    return sum(counted)


def _predict_chunks(
    model: Any, source: Any, counted: list[int]
) -> Iterator[tuple[pa.Table, list[str] | None]]:
    for part in read_chunks(source, as_text=_texts(model)):
        X = _rows(model, part)
        with _error_location(model, part):
            y = np.asarray(model.predict(X))
        if y.ndim != 1:
            raise StudyError(
                f"The {type(model).__name__} gives {y.shape[1]} numbers a row; a file has room for "
                "one: predict by a model of one target and one quantile."
            )
        columns: dict[str, Any] = {"prediction": pa.array(y)}
        if is_classifier(model) and hasattr(model, "predict_proba"):
            p = model.predict_proba(X)
            columns |= {f"probability of {c}": p[:, k] for k, c in enumerate(model.classes_)}
        counted.append(part.raw.data.num_rows)
        yield pa.table(columns), None


@contextmanager
def _error_location(model: Any, part: Chunk) -> Iterator[None]:
    """Turn a model's ValueError into a StudyError that names the file and the rows before."""
    try:
        yield
    except ValueError as error:
        after = f" after its first {part.first:,} rows" if part.first else ""
        name = type(model).__name__
        reason = next(iter(str(error).splitlines()), "it gives no reason")
        raise StudyError(f"The {name} cannot predict {part.raw.name}{after}: {reason}") from error


def _rows(model: Any, part: Chunk) -> Any:
    """Return the model's input: an Arrow table for arboleda's models, a frame, or numbers."""
    data = part.raw.data
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        numbers = [_numbers(name, part) for name in data.column_names]
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in numbers])
    lacking = [name for name in names if name not in data.column_names]
    if lacking:
        raise StudyError(
            f"The table {part.raw.name} lacks the column {lacking[0]!r}, which the model needs."
        )
    schema = getattr(model, "schema_", None)
    if schema is None:
        return data.select(list(names)).to_pandas()
    columns = [
        data[name] if levels is not None else _numbers(name, part)
        for name, levels in zip(names, schema.levels, strict=True)
    ]
    return pa.table(dict(zip(names, columns, strict=True)))


def _numbers(name: str, part: Chunk) -> pa.ChunkedArray:
    """Return a column as the numbers that the model needs; text such as ``1,5`` is parsed."""
    data = part.raw.data[name]
    if not (pa.types.is_string(data.type) or pa.types.is_large_string(data.type)):
        return data
    found = column_from_arrow(name, data, part.raw.decimal_comma)
    if found.kind in {"numeric", "boolean"}:
        return pa.chunked_array([np.where(found.missing, np.nan, found.values)])
    wrong = [not _is_number(text) for text in found.levels]
    rows = np.flatnonzero(~found.missing)
    row = next((i for i in rows if wrong and wrong[int(found.values[i])]), rows[0])
    raise StudyError(
        f"The column {name!r} of {part.raw.name} does not hold numbers, as the model needs: "
        f"{data[int(row)].as_py()[:60]!r} in data row {part.first + row + 1:,} is not one; correct "
        "it or leave it blank."
    )


def _is_number(text: str) -> bool:
    try:
        pc.cast(pa.scalar(text.strip().replace(",", ".")), pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _texts(model: Any) -> list[str]:
    """Return the columns whose categories are text, even if they look like numbers."""
    schema = getattr(model, "schema_", None)
    if schema is None or schema.names is None:
        return []
    return [
        str(name)
        for name, levels in zip(schema.names, schema.levels, strict=True)
        if levels and all(isinstance(level, str) for level in levels)
    ]
