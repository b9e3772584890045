"""The table of a study from features and a target that are apart from each other."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from scipy.sparse import issparse

from arboleda._utils.errors import StudyError
from arboleda._utils.survival_times import read_survival_times
from arboleda.tables.reading import read_raw

__all__ = ["join_columns", "join_target", "join_times_of_events"]

UNNAMED = "target"


def join_columns(X: Any) -> Any:
    """Return a frame as it is, and an array as a table with the columns x0, x1, and so on.

    Examples
    --------
    >>> join_columns([[1.0, 2.0], [3.0, 4.0]]).column_names
    ['x0', 'x1']
    """
    if issparse(X):
        raise StudyError("A study takes no sparse matrix; pass X.toarray(), or a table.")
    if not isinstance(X, np.ndarray | Sequence):
        return X
    values = np.asarray(X)
    if values.ndim != 2:
        raise StudyError(
            f"X has {values.ndim} dimensions; pass rows and columns, such as X.reshape(-1, 1)."
        )
    return pa.table({f"x{j}": _make_array(values[:, j]) for j in range(values.shape[1])})


def join_target(X: Any, y: Any) -> tuple[pa.Table, str]:
    """Append the target to the features as their last column.

    Returns
    -------
    table, name : pyarrow.Table, str
        The name of the target is that of ``y``, or "target" if it has none.

    Raises
    ------
    StudyError
        If the lengths differ, or a column of X has that name.

    Examples
    --------
    >>> table, name = join_target(np.eye(2), ["yes", "no"])
    >>> table.column_names, name
    (['x0', 'x1', 'target'], 'target')
    """
    data = read_raw(join_columns(X)).data
    values, name = _read_target(y)
    if len(values) != data.num_rows:
        raise StudyError(f"X has {data.num_rows:,} rows and y {len(values):,}; pass as many.")
    if name in data.column_names:
        raise StudyError(
            f"A column of X is named {name!r}, like the target; give y another name, or remove "
            "the column."
        )
    return data.append_column(name, values), name


def join_times_of_events(X: Any, y: Any, time: str, event: str) -> pa.Table:
    """Append the times and the events of a target to the features, as columns of these names.

    Parameters
    ----------
    X : frame or array
    y : structured ndarray or data frame of two columns
        Whether the event was observed, and its time or that of censoring.
    time, event : str

    Raises
    ------
    StudyError
        If the lengths differ, ``y`` cannot be read, or a column of X has one of the names.

    Examples
    --------
    >>> y = np.array([(True, 3.0), (False, 5.0)], dtype="?,f8")
    >>> join_times_of_events(np.eye(2), y, "days", "died").column_names
    ['x0', 'x1', 'days', 'died']
    """
    data = read_raw(join_columns(X)).data
    try:
        rows = read_survival_times(y, requires_event=False)
    except ValueError as error:
        raise StudyError(f"{str(error).rstrip('.')}.") from error
    if len(rows) != data.num_rows:
        raise StudyError(f"X has {data.num_rows:,} rows and y {len(rows):,}; pass as many.")
    for name, values in ((time, rows.time), (event, rows.event)):
        if name in data.column_names:
            raise StudyError(
                f"A column of X is named {name!r}, like a part of the target; remove the column, "
                "or choose another name."
            )
        data = data.append_column(name, pa.array(values))
    return data


def _read_target(y: Any) -> tuple[Any, str]:
    """Return the values and the name of a target."""
    single = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(single, nw.DataFrame):
        if len(single.columns) != 1:
            raise StudyError(f"y has {len(single.columns)} columns; pass one, the target.")
        single = single.get_column(single.columns[0])
    if isinstance(single, nw.Series):
        # Series of some libraries have no name, or an empty one.
        name: Any = single.name
        return single.to_arrow(), UNNAMED if name is None or name == "" else str(name)
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise StudyError(f"y has {values.ndim} dimensions; pass one value for each row.")
    return _make_array(values), UNNAMED


def _make_array(values: np.ndarray) -> pa.Array:
    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException as error:
        raise StudyError(
            "An array holds values of several kinds; pass a table with a column for each."
        ) from error
