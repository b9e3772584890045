"""Predictions of a study's best model for a new table, as a file."""

import csv
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import Progress

from arboleda._files import open_atomically
from arboleda.study.artifacts.loaded import LoadedStudy, load_study
from arboleda.study.artifacts.text_files import refuse_the_table
from arboleda.study.config.options import read_size
from arboleda.study.data.chunked_reader import Part
from arboleda.study.errors import StudyError
from arboleda.study.results.facts import csv_safe
from arboleda.study.results.prediction_columns import PredictionColumns

__all__ = ["Predictions", "check_ending", "predict_table", "write_blocks"]

# Rows that are predicted and written together, which bounds the memory.
BLOCK = 20_000
_PARQUET = (".parquet", ".pq")
_SHOWN = 8


@dataclass(frozen=True)
class Predictions:
    """What was written: to ``path``, ``n_rows`` rows by the model ``name``; notes for the user."""

    path: Path
    n_rows: int
    name: str
    notes: tuple[str, ...]


def predict_table(
    folder: str | Path,
    source: Any,
    out: str | Path | None = None,
    *,
    intervals: float | None = None,
    progress: bool = False,
    max_table_size: str | int | None = None,
) -> Predictions:
    """Predict the target of a new table by the best model of a study, and write a file.

    The file has a row for each row of the table, in its order: ``prediction``, for each class
    ``probability of <class>`` where the model gives probabilities, and what else
    `arboleda.study.results.prediction_columns.PredictionColumns` adds: intervals or sets on
    request, and decisions where the study has costs. It is written whole or not at all.

    Parameters
    ----------
    folder : str or path
        The study's folder.
    source : str, path or frame
        The table, as for a study. Columns are found by name; the target need not be there.
    out : str or path, optional
        The file, CSV or Parquet by its ending; by default ``<table>-predicted.csv``.
    intervals : float, optional
        Share of rows whose true value is to lie in an interval (or class in a set), such as 0.9.
    progress : bool, default=False
        Show on standard error how it goes on, if that is a terminal.
    max_table_size : str or int, optional
        How much of the table may be in memory: bytes, or a text such as ``"2GB"``; by default a
        quarter of what is available. A table is read part by part and may be larger; one row of
        text may not.

    Returns
    -------
    Predictions

    Raises
    ------
    StudyError
        If the folder or the table cannot be used, a column is missing or holds another kind of
        values, or the file cannot be written.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = load_study(folder)
        answerer = PredictionColumns(study, intervals)
        limit = read_size("max_table_size", max_table_size)
        reading = _Reading(study, source, progress, limit)
        path = Path(out) if out is not None else Path(f"{reading.stem}-predicted.csv")
        check_ending(path)
        refuse_the_table(path, source)
        try:
            with open_atomically(path) as file:
                write_blocks(file, path, reading.answers(answerer))
        except OSError as error:
            raise StudyError(
                f"The file {path} cannot be written ({error.strerror or error}); name another one "
                "with --out."
            ) from error
    name = next(m["name"] for m in study.facts["models"] if m["key"] == study.best_key)
    notes = [*answerer.notes, *reading.notes(), *_warned(caught)]
    if study.class_names and not hasattr(study.best_model_.pipeline_, "predict_proba"):
        notes.append(f"{name} gives no probabilities.")
    return Predictions(path, reading.n_rows, name, tuple(notes))


def check_ending(path: Path) -> None:
    """Refuse a name that does not tell what the file is."""
    if path.suffix.lower() not in (".csv", *_PARQUET):
        raise StudyError(f"The file {path} must end in .csv or .parquet, to tell what it is.")


class _Reading:
    """The rows of a table, read part by part, and what is to be told of them."""

    def __init__(
        self, study: LoadedStudy, source: Any, progress: bool, max_table_size: int | None
    ) -> None:
        self.n_rows = 0
        self._study = study
        self._parts = study.layout.parts(source, max_table_size=max_table_size)
        self._first = next(self._parts)
        self._console = Console(stderr=True)
        self._shown = progress and self._console.is_terminal
        self._unseen: dict[str, tuple[int, str]] = {}  # number of rows, and the first value

    @property
    def stem(self) -> str:
        """Name of the table, without endings."""
        return self._first.raw.stem

    def answers(self, answerer: PredictionColumns) -> Iterator[tuple[pa.Table, list[str] | None]]:
        """The answers for the next rows, and the predicted classes as the table writes them."""
        with Progress(console=self._console, transient=True, disable=not self._shown) as bar:
            task = bar.add_task("rows", total=1.0)
            before = 0.0
            for part in chain([self._first], self._parts):
                x = self._encoded(part)
                for start in range(0, len(x), BLOCK):
                    yield answerer.table(x[start : start + BLOCK])
                    done = min(1.0, (start + BLOCK) / len(x))
                    bar.update(task, completed=before + done * (part.share - before))
                before = part.share

    def _encoded(self, part: Part) -> npt.NDArray[np.float64]:
        try:
            features = self._study.layout.encode_raw(part.raw)
        except StudyError as error:
            if part.first:
                raise StudyError(f"In the rows after the first {part.first:,}: {error}") from error
            raise
        self.n_rows += len(features.x)
        for j, levels in features.levels.items():
            rows = np.flatnonzero(features.x[:, j] == len(levels))
            if rows.size:
                name = features.names[j]
                column = part.raw.data.column(part.raw.names.index(name))
                n_before, value = self._unseen.get(name, (0, str(column[int(rows[0])].as_py())))
                self._unseen[name] = n_before + rows.size, value
        return features.x

    def notes(self) -> Iterator[str]:
        """What the user should know of the columns."""
        facts = self._study.facts
        known = {column["name"] for column in facts["data"]["columns"]}
        known |= {*facts["study"]["settings"].get("drop", ())}
        strange = [name for name in self._first.raw.names if name not in known]
        if strange:
            shown = ", ".join(repr(name[:60]) for name in strange[:_SHOWN])
            more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
            yield f"Not used, for the study's table did not have them: {shown}{more}."
        for name, (n_rows, value) in self._unseen.items():
            yield (
                f"Column {name!r} holds values in {n_rows:,} of {self.n_rows:,} rows that the "
                f"study's table did not have, such as {value[:60]!r}."
            )


def write_blocks(
    file: BinaryIO, path: Path, blocks: Iterator[tuple[pa.Table, list[str] | None]]
) -> None:
    """Write tables one below the other, as Parquet or CSV; texts of predicted classes in CSV."""
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
    """The distinct first lines of what the libraries warned of."""
    return sorted({str(w.message).strip().splitlines()[0][:300] for w in caught if str(w.message)})
