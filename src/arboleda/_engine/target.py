"""Targets and weights of any container, refused where a value is missing or makes no sense."""

from __future__ import annotations

import math
import sys
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import _check_sample_weight

from arboleda._engine.arrow import plain_arrow, plain_column, plain_pandas
from arboleda._engine.categories import take
from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.frames import Series, read_labels, read_numbers
from arboleda._engine.numbers import is_missing, numbers_of_objects
from arboleda._sparse import check_sparse

_DROP = "drop such rows, or fill them in if you know better"
_SCALE = "multiply it by a constant, such as 1 / abs(y).max()"
BEYOND_SQUARES = (
    f"y is so large or so small that its squared differences are beyond float64: {_SCALE}"
)


def read_target(y: Any, *, numeric: bool) -> Any:
    """Return a target as an array, or as it is where scikit-learn has to judge its shape.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers: a list, an array, or a Series or frame of pandas, polars or Arrow.
    numeric : bool
        Whether the task is regression, so that text is refused unless it is a number.

    Raises
    ------
    ValueError
        If a value is missing, infinite, text where a number must be, or labels mix text with other
        types. The message names the row.
    """
    check_sparse(y, "y")
    if issparse(y):
        raise TypeError(
            "sparse multilabel-indicator for y is not supported. Use '.toarray()' to convert y to "
            "a dense array"
        )
    y = _as_array(y)
    if not isinstance(y, np.ndarray) or y.ndim not in {1, 2}:
        return y
    if not numeric and y.dtype.kind in "mM" and np.isnat(y).any():
        raise ValueError(_missing(y, int(np.argwhere(np.isnat(y))[0][0])))
    if y.dtype.kind == "O" or (numeric and y.dtype.kind == "U"):
        read = _numbers if numeric else _labels
        parts = [read(part.astype(object), place) for part, place in _outputs(y)]
        y = as_columns(parts) if y.ndim == 2 else parts[0]
    if y.dtype.kind == "f":
        check_finite(y, "y", _DROP)
    return y


def label_columns(y: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Labels of each of several targets, each in a type of its own."""
    parts = _outputs(y)
    return [_labels(part, place) if part.dtype == object else part for part, place in parts]


def as_columns(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Columns of labels as one array, which holds objects where a common type would change them."""
    kinds = {part.dtype.kind for part in parts}
    if len(kinds) > 1 and not kinds <= set("biuf"):
        together = np.empty((len(parts[0]), len(parts)), dtype=object)
        for k, part in enumerate(parts):
            # As objects of NumPy's, dates keep their unit; as Python's, times in ns become ints.
            together[:, k] = list(part) if part.dtype.kind in "mM" else part
        return together
    return np.column_stack(parts)


def read_weight(sample_weight: Any, table: Table | SparseTable) -> npt.NDArray[np.float64] | None:
    """Return the weight of every row, None where none is given.

    Raises
    ------
    ValueError
        If a weight is missing, infinite or negative, all are zero, or there are too many or few.
    """
    if sample_weight is None:
        return None
    given = np.asarray(_as_array(sample_weight))
    if given.dtype.kind in "OUS" and given.ndim == 1:
        given = numbers_of_objects(given.astype(object), "sample_weight", "weights are numbers")
    if given.dtype.kind == "f":
        check_finite(given, "sample_weight", "give every row a finite weight; 0 leaves it out")
    if given.size and given.dtype.kind in "biuf" and not given.any():
        raise ValueError("sample_weight is zero for every row: at least one must be positive")
    weight: npt.NDArray[np.float64] = _check_sample_weight(
        given if given.ndim else given.item(), table, dtype=np.float64
    )
    check_finite(weight, "sample_weight", "give every row a finite weight; 0 leaves it out")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: {weight[row]} in row {row}. "
            "Weights are counts or importances; 0 leaves a row out"
        )
    return weight


def check_total_weight(weight: npt.NDArray[np.float64] | None) -> None:
    """Refuse weights whose sum leaves float64.

    Raises
    ------
    ValueError
        If it does.
    """
    with np.errstate(over="ignore"):
        if weight is not None and not math.isfinite(weight.sum()):
            raise ValueError(
                "the sum of sample_weight is beyond float64: divide all weights by the same number"
            )


def check_finite(values: npt.NDArray[Any], what: str, remedy: str) -> None:
    """Refuse NaN and infinity in an array of floats; the message names the row.

    Raises
    ------
    ValueError
        If a value is not finite.
    """
    if np.isfinite(values).all():
        return
    row = int(np.argwhere(~np.isfinite(values))[0][0])
    kind = "NaN" if np.isnan(values[row]).any() else "infinity"
    raise ValueError(f"Input {what} contains {kind}: row {row} is {values[row]}; {remedy}")


def check_sums(
    targets: npt.NDArray[np.float64], n_answers: int, used: npt.NDArray[np.bool_] | None = None
) -> None:
    """Refuse targets so large that the sum of so many answers like them may leave float64.

    Rows that are not ``used`` may hold anything; None: all are.

    Raises
    ------
    ValueError
        If one is. The message names the row of the largest.
    """
    sizes = np.abs(targets)
    if used is not None:
        sizes[~used] = 0.0
    if sizes.max(initial=0.0) > sys.float_info.max / n_answers:
        place = np.unravel_index(int(sizes.argmax()), sizes.shape)
        raise ValueError(
            f"y is {targets[place]} in row {place[0]}: the sum of {n_answers:,} such answers, of "
            f"which the mean is predicted, is beyond float64; {_SCALE}"
        )


def check_squares(targets: npt.NDArray[np.float64]) -> None:
    """Refuse targets whose squared differences leave float64, at either end.

    Raises
    ------
    ValueError
        If an output has such ones.
    """
    halves = np.ptp(targets / 2.0, axis=0)  # the whole may be beyond float64
    with np.errstate(over="ignore", under="ignore"):
        most = 4.0 * halves**2 * len(targets)
    if not np.isfinite(most).all() or ((most < sys.float_info.min) & (halves > 0.0)).any():
        raise ValueError(BEYOND_SQUARES)


def _as_array(y: Any) -> Any:
    """Series, frames and lists that hold text as arrays of their values."""
    if isinstance(y, np.ndarray):
        return y
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(y, arrow.Array):
        y = arrow.chunked_array([y])
    if arrow is not None and isinstance(y, arrow.ChunkedArray):
        y = plain_column(y)
    elif arrow is not None and isinstance(y, arrow.Table):
        y = plain_arrow(y)
    elif arrow is not None and nw.dependencies.is_pandas_dataframe(y):
        y = plain_pandas(y)
    elif arrow is not None and nw.dependencies.is_pandas_series(y):
        y = plain_pandas(y.to_frame()).iloc[:, 0]
    wrapped = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(wrapped, nw.Series):
        return _values(wrapped)
    if isinstance(wrapped, nw.DataFrame):
        return as_columns([_values(wrapped.get_column(name)) for name in wrapped.columns])
    if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y):
        _check_objects(np.array([*y, None], dtype=object)[:-1], "y", numeric=False)
    if not isinstance(y, list | tuple):
        return y
    array = np.asarray(y)
    if array.dtype.kind == "U" and array.ndim == 2:  # NumPy writes numbers beside text as text
        plain = np.asarray(y, dtype=object)
        return array if all(isinstance(label, str) for label in plain.flat) else plain
    return array


def _values(series: Series) -> npt.NDArray[Any]:
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return read_numbers(series, "y")
    if not isinstance(series.dtype, nw.Categorical | nw.Enum):
        return series.to_numpy()
    column = read_labels(series, "y")
    present = column.present()
    values = np.full(int(present.max(initial=-1)) + 2, None, dtype=object)
    values[present] = column.labels_at(present)
    labels = take(values, column.codes)
    plain = [type(label) for label in values[present]]
    return labels if str in plain or (column.codes < 0).any() else np.array(labels.tolist())


def _outputs(y: npt.NDArray[Any]) -> list[tuple[npt.NDArray[Any], str]]:
    """Targets of one column or several, each with its name in messages."""
    if y.ndim == 1:
        return [(y, "y")]
    return [(part, f"output {k} of y") for k, part in enumerate(y.T)]


def _numbers(values: npt.NDArray[Any], place: str) -> npt.NDArray[np.float64]:
    _check_objects(values, place, numeric=True)
    return numbers_of_objects(values, place, "a regressor needs numbers")


def _labels(values: npt.NDArray[Any], place: str) -> npt.NDArray[Any]:
    """Labels given as objects, in a type that scikit-learn takes for labels."""
    _check_objects(values, place, numeric=False)
    plain = np.array(values.tolist())
    if plain.dtype.kind in "biufmM":
        return plain
    if plain.dtype.kind in "US":
        return values
    for row, label in enumerate(values):
        if not isinstance(label, date) or getattr(label, "tzinfo", None) is not None:
            raise ValueError(
                f"{place} holds {label!r} in row {row}: labels are text, numbers, booleans or "
                "dates without a zone; turn them into one of these"
            )
    return values.astype("datetime64")


def _missing(y: npt.NDArray[Any], row: int, place: str = "y") -> str:
    return f"{place} has a missing value in row {row} ({y[row]!r}): {_DROP}"


def _check_objects(y: npt.NDArray[Any], place: str, *, numeric: bool) -> None:
    """Refuse missing values among objects, and labels of text beside others."""
    values = y.tolist()
    kinds = {kind for kind in set(map(type, values)) if not issubclass(kind, str)}
    row = next((i for i, v in enumerate(values) if type(v) in kinds and is_missing(v)), None)
    if row is not None:
        raise ValueError(_missing(y, row, place))
    if numeric or not kinds or len(kinds) == len(set(map(type, values))):
        return
    text = next(i for i, value in enumerate(values) if isinstance(value, str))
    other = next(i for i, value in enumerate(values) if not isinstance(value, str))
    raise ValueError(
        f"{place} mixes text and other labels: {values[text]!r} in row {text}, {values[other]!r} "
        f"in row {other}; give them one type, for example with str()"
    )
