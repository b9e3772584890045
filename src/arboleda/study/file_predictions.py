"""What a fitted model says of the rows of a file, as a file: part by part."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._files import written_whole
from arboleda.study.errors import StudyError
from arboleda.study.pages import refuse_the_table
from arboleda.study.parts_of_tables import Part, parts_of
from arboleda.study.predictions import check_ending, write_blocks

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
        If the table cannot be read, lacks a column or holds texts where numbers belong, the model
        gives several numbers a row, or the file cannot be written.

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
        with written_whole(path) as file:
            write_blocks(file, path, _answers(model, source, counted))
    except OSError as error:
        raise StudyError(
            f"The file {path} cannot be written ({error.strerror or error})."
        ) from error
    return sum(counted)


def _answers(
    model: Any, source: Any, counted: list[int]
) -> Iterator[tuple[pa.Table, list[str] | None]]:
    for part in parts_of(source, as_text=_texts(model)):
        X = _rows(model, part)
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


def _rows(model: Any, part: Part) -> Any:
    """The columns of the model: a table of ours, a frame for others, numbers without names."""
    data = part.raw.data
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return np.column_stack(
            [_numbers(*named) for named in zip(data.column_names, data.columns, strict=True)]
        )
    lacking = [name for name in names if name not in data.column_names]
    if lacking:
        raise StudyError(
            f"The table {part.raw.name} lacks the column {lacking[0]!r}, which the model needs."
        )
    data = data.select(list(names))
    return data if hasattr(model, "schema_") else data.to_pandas()


def _numbers(name: str, column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StudyError(
            f"The column {name!r} does not hold numbers, and the model takes its columns in their "
            f"order, as numbers: {error}."
        ) from error


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
