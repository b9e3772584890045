"""Reading and validation of targets and weights in any container."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import _check_sample_weight

from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.arrays import to_plain_arrow, to_plain_column, to_plain_pandas
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.encoding import convert_objects_to_numbers, is_missing, take
from arboleda._engine.frames import Series, read_labels, read_numbers
from arboleda._utils.sparse import check_sparse

__all__ = ["check_class_weights"]


def check_class_weights(weights: Any, parameter: str = "class_weight") -> None:
    """Check the values of a dict of class weights; other settings are ignored.

    Parameters
    ----------
    weights : dict or other
        Weight of each class, by its label.
    parameter : str
        Name of the parameter in messages.

    Raises
    ------
    ValueError
        If a weight is not a number, not finite or negative. The message names the class.

    Examples
    --------
    >>> check_class_weights({"ham": 1.0, "spam": 3})
    """
    if not isinstance(weights, dict):
        return
    for label, weight in weights.items():
        if not 0.0 <= _number(weight) < math.inf:
            raise ValueError(
                f"{parameter} gives the class {label!r} the weight {weight!r}: weights must be "
                "finite, non-negative numbers, such as 2.0"
            )


def _number(weight: Any) -> float:
    """Return the value of a number of any type; NaN for anything else."""
    try:
        return math.nan if isinstance(weight, str | bytes) else float(weight)
    except (TypeError, ValueError, OverflowError):
        return math.nan


_DROP = "drop such rows or fill in the values"
_SCALE = "multiply it by a constant, such as 1 / abs(y).max()"
ALL_ZERO = "sample_weight is zero for every row: at least one must be positive"
# The largest range of integer labels whose rows are counted.
_COUNTED_LABELS = 1 << 16
_LABELS_AT_ONCE = 1 << 16
BEYOND_SQUARES = f"squared differences of y overflow or underflow float64: {_SCALE}"


def read_target(y: Any, *, numeric: bool) -> Any:
    """Return a target as an array, or unchanged if scikit-learn has to check its shape.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers: a list, an array, or a Series or frame of pandas, polars or Arrow.
    numeric : bool
        Whether the task is regression, so text must be numeric.

    Raises
    ------
    ValueError
        If a value is missing, infinite or not numeric in regression, or labels mix text with other
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
    """Return the labels of each of several targets, each with its own type."""
    parts = _outputs(y)
    return [_labels(part, place) if part.dtype == object else part for part, place in parts]


def number_labels(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.integer[Any]]]:
    """Return the sorted labels of a target, and the number of each row's label among them.

    The result is that of `numpy.unique`, but integers near each other are counted, not sorted. The
    numbers may be the target itself.

    Examples
    --------
    >>> number_labels(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 0, 1]))
    """
    if y.dtype.kind not in "iu" or not y.dtype.isnative or not y.size:
        return np.unique(y, return_inverse=True)
    low = y.min()
    span = int(y.max()) - int(low) + 1
    if span > min(y.size, _COUNTED_LABELS):
        return np.unique(y, return_inverse=True)
    # Differences that overflow a signed type are right in the unsigned one.
    above = y if low == 0 else np.subtract(y, low).view(f"u{y.itemsize}")
    found = np.zeros(span, dtype=bool)
    for begin in range(0, y.size, _LABELS_AT_ONCE):
        found[above[begin : begin + _LABELS_AT_ONCE]] = True
    labels = np.flatnonzero(found).astype(y.dtype) + low
    return labels, above if found.all() else (np.cumsum(found) - 1)[above]


def unite_labels(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the sorted labels of all parts of a table.

    Raises
    ------
    ValueError
        If some parts have text, and others have other labels.
    """
    examples = {part.dtype.kind in "OUS": part[0] for part in parts}
    if len(examples) > 1:
        raise ValueError(
            f"y mixes text and other labels: {examples[True]!r} in one shard, "
            f"{examples[False]!r} in another; convert them to one type, for example with str()"
        )
    labels: npt.NDArray[Any] = np.unique(np.concatenate(parts))
    return labels


def as_columns(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Stack columns of labels, with dtype object if a common type would change them."""
    kinds = {part.dtype.kind for part in parts}
    if len(kinds) > 1 and not kinds <= set("biuf"):
        together = np.empty((len(parts[0]), len(parts)), dtype=object)
        for k, part in enumerate(parts):
            # NumPy scalars keep the unit of dates; Python objects of times in ns would be ints.
            together[:, k] = list(part) if part.dtype.kind in "mM" else part
        return together
    return np.column_stack(parts)


def read_weight(
    sample_weight: Any, table: DenseTable | SparseTable, *, may_be_zero: bool = False
) -> npt.NDArray[np.float64] | None:
    """Return the weight of every row, or None; of a part of the rows all ``may_be_zero``.

    Raises
    ------
    ValueError
        If a weight is missing, infinite or negative, all are zero, or their number is wrong.
    """
    if sample_weight is None:
        return None
    given = np.asarray(_as_array(sample_weight))
    if given.dtype.kind in "OUS" and given.ndim == 1:
        given = convert_objects_to_numbers(
            given.astype(object), "sample_weight", "weights must be numbers"
        )
    if given.dtype.kind == "f":
        check_finite(given, "sample_weight", "weights must be finite; use 0 to ignore a row")
    if given.size and given.dtype.kind in "biuf" and not given.any():
        if may_be_zero and given.shape == table.shape[:1]:
            return np.zeros(len(given))
        raise ValueError(ALL_ZERO)
    weight: npt.NDArray[np.float64] = _check_sample_weight(
        given if given.ndim else given.item(), table, dtype=np.float64
    )
    check_finite(weight, "sample_weight", "weights must be finite; use 0 to ignore a row")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: {weight[row]} in row {row}. "
            "Weights must be non-negative; use 0 to ignore a row"
        )
    return weight


def check_total_weight(weight: npt.NDArray[np.float64] | None, shards: AllShards = ALONE) -> None:
    """Check that the sum of the weights of all shards does not overflow float64.

    Raises
    ------
    ValueError
        If it does.
    """
    with np.errstate(over="ignore"):
        if weight is not None and not math.isfinite(sum(shards.gather(float(weight.sum())))):
            raise ValueError(
                "the sum of sample_weight overflows float64: divide all weights by the same number"
            )


def check_finite(values: npt.NDArray[Any], what: str, remedy: str) -> None:
    """Check that an array of floats has no NaN or infinity; the message names the row.

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
    targets: npt.NDArray[np.float64], n_terms: int, used: npt.NDArray[np.bool_] | None = None
) -> None:
    """Check that sums of a number of predictions like the targets do not overflow float64.

    Rows that are not ``used`` are ignored; None: all are used.

    Raises
    ------
    ValueError
        If they may overflow. The message names the row of the largest target.
    """
    sizes = np.abs(targets)
    if used is not None:
        sizes[~used] = 0.0
    if sizes.max(initial=0.0) > sys.float_info.max / n_terms:
        place = np.unravel_index(int(sizes.argmax()), sizes.shape)
        raise ValueError(
            f"y is {targets[place]} in row {place[0]}: the sum of {n_terms:,} such predictions, "
            f"whose mean is predicted, overflows float64; {_SCALE}"
        )


def check_squares(targets: npt.NDArray[np.float64]) -> None:
    """Check that squared differences of targets neither overflow nor underflow float64.

    Raises
    ------
    ValueError
        If they do.
    """
    halves = np.ptp(targets / 2.0, axis=0)  # the full range may overflow
    with np.errstate(over="ignore", under="ignore"):
        most = 4.0 * halves**2 * len(targets)
    if not np.isfinite(most).all() or ((most < sys.float_info.min) & (halves > 0.0)).any():
        raise ValueError(BEYOND_SQUARES)


def _as_array(y: Any) -> Any:
    """Convert series, frames and lists with text to arrays."""
    if isinstance(y, np.ndarray):
        return y
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(y, arrow.Array):
        y = arrow.chunked_array([y])
    if arrow is not None and isinstance(y, arrow.ChunkedArray):
        y = to_plain_column(y)
    elif arrow is not None and isinstance(y, arrow.Table):
        y = to_plain_arrow(y)
    elif arrow is not None and nw.dependencies.is_pandas_dataframe(y):
        y = to_plain_pandas(y)
    elif arrow is not None and nw.dependencies.is_pandas_series(y):
        y = to_plain_pandas(y.to_frame()).iloc[:, 0]
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
    if array.dtype.kind == "U" and array.ndim == 2:  # NumPy would convert numbers to text
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
    """Return the columns of a target, each with its name in messages."""
    if y.ndim == 1:
        return [(y, "y")]
    return [(part, f"output {k} of y") for k, part in enumerate(y.T)]


def _numbers(values: npt.NDArray[Any], place: str) -> npt.NDArray[np.float64]:
    _check_objects(values, place, numeric=True)
    return convert_objects_to_numbers(values, place, "a regressor requires numbers")


def _labels(values: npt.NDArray[Any], place: str) -> npt.NDArray[Any]:
    """Convert labels given as objects to a type that scikit-learn supports."""
    _check_objects(values, place, numeric=False)
    plain = np.array(values.tolist())
    if plain.dtype.kind in "biufmM":
        return plain
    if plain.dtype.kind in "US":
        return values
    for row, label in enumerate(values):
        if not isinstance(label, date) or getattr(label, "tzinfo", None) is not None:
            raise ValueError(
                f"{place} has {label!r} in row {row}: labels must be text, numbers, booleans or "
                "dates without a time zone; convert them to one of these"
            )
    return values.astype("datetime64")


def _missing(y: npt.NDArray[Any], row: int, place: str = "y") -> str:
    return f"{place} has a missing value in row {row} ({y[row]!r}): {_DROP}"


def _check_objects(y: npt.NDArray[Any], place: str, *, numeric: bool) -> None:
    """Check that objects have no missing values, and labels do not mix text with other types."""
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
        f"in row {other}; convert them to one type, for example with str()"
    )
