"""What a fitted model says of the rows of a file, as a file: part by part."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._files import open_atomically
from arboleda.study.artifacts.text_files import refuse_the_table
from arboleda.study.data.chunked_reader import Part, subgroups_of
from arboleda.study.data.table import column_from_arrow
from arboleda.study.errors import StudyError
from arboleda.study.results.predictions import check_ending, write_blocks

__all__ = ["predict_file"]


def predict_file(model: Any, source: Any, out: str | Path) -> int:
    """Predict the rows of a file larger than memory by any fitted model, and write a file.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor of one target. If it knows names of columns, the file's are
        found by these; else all columns are taken in their order, as numbers.
    source : str, path or frame
        A CSV or Parquet file, packed or not, or a table in memory. Read part by part.
    out : str or path
        The file, CSV or Parquet by its ending, with a row for each row of the table:
        ``prediction``, and of a classifier with probabilities ``probability of <class>``. It is
        written whole or not at all.

    Returns
    -------
    n_rows : int

    Raises
    ------
    StudyError
        If the table cannot be read, lacks a column or holds values that the model does not take,
        the model gives several numbers a row, or the file cannot be written.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> arboleda.predict_file(tree, "rows.csv", "answers.parquet")  # doctest: +SKIP
    1000000
    """
    check_is_fitted(model)
    path = Path(out)
    check_ending(path)
    refuse_the_table(path, source)
    counted: list[int] = []
    try:
        with open_atomically(path) as file:
            write_blocks(file, path, _answers(model, source, counted))
    except OSError as error:
        raise StudyError(
            f"The file {path} cannot be written ({error.strerror or error}); name another one."
        ) from error
    return sum(counted)


def _answers(
    model: Any, source: Any, counted: list[int]
) -> Iterator[tuple[pa.Table, list[str] | None]]:
    for part in subgroups_of(source, as_text=_texts(model)):
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
def _error_location(model: Any, part: Part) -> Iterator[None]:
    """What a model says of rows that it cannot take, with the file and how many rows went well."""
    try:
        yield
    except ValueError as error:
        after = f" after its first {part.first:,} rows" if part.first else ""
        name = type(model).__name__
        reason = next(iter(str(error).splitlines()), "it gives no reason")
        raise StudyError(f"The {name} cannot answer {part.raw.name}{after}: {reason}") from error


def _rows(model: Any, part: Part) -> Any:
    """The columns of the model: a table of ours, a frame for others, numbers without names."""
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


def _numbers(name: str, part: Part) -> pa.ChunkedArray:
    """A column that the model takes as numbers, which a text may stand for: ``1,5``."""
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
        f"{data[int(row)].as_py()[:60]!r} in data row {part.first + row + 1:,} is none; correct "
        "it or leave it blank."
    )


def _is_number(text: str) -> bool:
    try:
        pc.cast(pa.scalar(text.strip().replace(",", ".")), pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _texts(model: Any) -> list[str]:
    """Columns whose categories are texts, however much they look like numbers."""
    schema = getattr(model, "schema_", None)
    if schema is None or schema.names is None:
        return []
    return [
        str(name)
        for name, levels in zip(schema.names, schema.levels, strict=True)
        if levels and all(isinstance(level, str) for level in levels)
    ]
