"""Reading of targets of time to an event: whether the event was observed, and when."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

__all__ = [
    "SurvivalIntervals",
    "SurvivalTimes",
    "check_any_event",
    "choose_event_field",
    "choose_times",
    "describe_fields",
    "has_intervals",
    "read_survival_intervals",
    "read_survival_times",
]

# Words that name an event or its absence beyond doubt, in lower case.
_EVENT_WORDS = frozenset(
    {
        "1",
        "dead",
        "death",
        "deceased",
        "died",
        "event",
        "failed",
        "failure",
        "t",
        "true",
        "y",
        "yes",
    }
)
_CENSORED_WORDS = frozenset(
    {"0", "alive", "censored", "f", "false", "living", "n", "no", "no event", "survived"}
)

_HOW_TO_WRITE = (
    "pass a structured array with the two fields event (bool) and time (float), as scikit-survival "
    "has it, or a data frame with these two columns"
)


@dataclass(frozen=True, eq=False)
class SurvivalTimes:
    """Times of rows, and whether each ended with the event.

    Parameters
    ----------
    event : ndarray of bool, shape (n_samples,)
        False: the row was censored, so its event came later than its time or not at all.
    time : ndarray of float64, shape (n_samples,)
        Finite and not negative.
    """

    event: npt.NDArray[np.bool_]
    time: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: Any) -> SurvivalTimes:
        """Return some of the rows, by index or mask."""
        return SurvivalTimes(self.event[rows], self.time[rows])


@dataclass(frozen=True, eq=False)
class SurvivalIntervals:
    """Intervals in which the events of rows took place.

    Parameters
    ----------
    lower : ndarray of float64, shape (n_samples,)
        Finite and not negative. 0: the event took place at any time up to ``upper``.
    upper : ndarray of float64, shape (n_samples,)
        Positive and not below ``lower``, which it equals if the time of the event is known.
        Infinite: the event comes later than ``lower`` or not at all.
    """

    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def times(self) -> SurvivalTimes:
        """Times of these rows, with events at the middle of their intervals."""
        event = np.isfinite(self.upper)
        return SurvivalTimes(event, np.where(event, 0.5 * (self.lower + self.upper), self.lower))


def has_intervals(y: Any) -> bool:
    """Return whether a target has the fields "lower" and "upper", or is an array of two columns."""
    if isinstance(y, SurvivalIntervals):
        return True
    if isinstance(y, np.ndarray) and y.dtype.names is None:
        return y.ndim == 2 and y.shape[1] == 2 and y.dtype.kind in "iuf"
    names = y.dtype.names if isinstance(y, np.ndarray) else getattr(_as_frame(y), "columns", ())
    return {str(name).lower() for name in names} == {"lower", "upper"}


def read_survival_intervals(
    y: Any, name: str = "y", *, requires_event: bool = True, event_field: Any = None
) -> SurvivalIntervals:
    """Read a target of intervals, or of times, as intervals.

    Parameters
    ----------
    y : structured ndarray, data frame or ndarray of shape (n_samples, 2)
        Fields "lower" and "upper", or two columns in this order; or as in `read_survival_times`.
    name : str, default="y"
        Name of the argument in messages.
    requires_event, event_field
        Of times; see `read_survival_times`.

    Raises
    ------
    ValueError
        If a lower end is negative, not finite or above the upper one, an upper end is not positive,
        or for the reasons of `read_survival_times`.
    """
    if isinstance(y, SurvivalIntervals):
        return y
    if not has_intervals(y):
        times = read_survival_times(y, name, requires_event=requires_event, event_field=event_field)
        upper = np.where(times.event, times.time, np.inf)
        return _check_intervals(times.time, upper, name)
    if isinstance(y, np.ndarray) and y.dtype.names is None:
        ends = y.astype(np.float64)
        return _check_intervals(ends[:, 0], ends[:, 1], name)
    fields = {str(field).lower(): part for field, part in _read_fields(y, name).items()}
    for end, part in fields.items():
        if part.dtype.kind not in "iuf":
            raise ValueError(f"{name}[{end!r}] holds values of the type {part.dtype}, not numbers")
    return _check_intervals(
        fields["lower"].astype(np.float64), fields["upper"].astype(np.float64), name
    )


def _check_intervals(
    lower: npt.NDArray[np.float64], upper: npt.NDArray[np.float64], name: str
) -> SurvivalIntervals:
    for is_wrong, what in (
        (~np.isfinite(lower) | (lower < 0.0), "the lower end must be finite and not negative"),
        (np.isnan(upper), "the upper end is missing; infinity means that no event was seen"),
        (
            (upper <= 0.0) & (lower <= upper),
            "an event at time 0 has no logarithm: move it to a small positive time",
        ),
        (lower > upper, "the lower end is above the upper one: exchange or correct them"),
    ):
        wrong = np.flatnonzero(is_wrong)
        if wrong.size:
            row = int(wrong[0])
            raise ValueError(
                f"{name} is the interval from {lower[row]} to {upper[row]} in row {row}: {what}"
            )
    return SurvivalIntervals(lower + 0.0, upper + 0.0)


def read_survival_times(
    y: Any, name: str = "y", *, requires_event: bool = True, event_field: Any = None
) -> SurvivalTimes:
    """Read a target of two fields or columns: an event indicator and a time.

    The event is the field that holds truth values, 0 and 1, or words such as "dead" and "alive";
    the time is the other. Their names and their order do not matter.

    Parameters
    ----------
    y : structured ndarray, data frame or SurvivalTimes
    name : str, default="y"
        Name of the argument in messages.
    requires_event : bool, default=True
        Whether at least one row must have the event.
    event_field : str, default=None
        Name of the field that is the event. None: it is found.

    Raises
    ------
    ValueError
        If there are not exactly two fields, it is not clear which is the event or which of its
        values means that the event took place, a value is missing, or a time is negative or
        infinite.
    """
    if isinstance(y, SurvivalTimes):
        times = y
    else:
        fields = _read_fields(y, name)
        event_name = _find_event_field(fields, name) if event_field is None else event_field
        (time_name,) = (field for field in fields if field != event_name)
        event = _read_event(fields[event_name], f"{name}[{event_name!r}]")
        times = SurvivalTimes(event, _read_time(fields[time_name], f"{name}[{time_name!r}]"))
    if requires_event:
        check_any_event(times.event.any(), len(times), name)
    return times


def check_any_event(has_event: Any, n_rows: int, name: str = "y") -> None:
    """Raise an error if none of so many rows has the event."""
    if not has_event:
        raise ValueError(
            f"no row of {name} has the event: all {n_rows:,} are censored, and nothing can be "
            "learned about the time to an event. Check which values mean that it took place"
        )


def _read_fields(y: Any, name: str) -> dict[Any, npt.NDArray[Any]]:
    """Return the two fields by name."""
    if isinstance(y, np.ndarray) and y.dtype.names is not None and y.ndim == 1:
        fields = {field: y[field] for field in y.dtype.names}
    else:
        frame = _as_frame(y)
        if frame is None:
            shape = getattr(y, "shape", None)
            got = type(y).__name__ + (f" of shape {shape}" if shape is not None else "")
            raise ValueError(
                f"{name} is a {got}, but a time to an event has two parts: {_HOW_TO_WRITE}"
            )
        fields = {column: _to_numpy(frame[column], name) for column in frame.columns}
    if len(fields) != 2:
        raise ValueError(
            f"{name} has {len(fields)} fields, {list(fields)[:6]}, but a time to an event has two: "
            f"{_HOW_TO_WRITE}"
        )
    if not len(next(iter(fields.values()))):
        raise ValueError(f"{name} has 0 rows: at least one is required")
    return fields


def _as_frame(y: Any) -> nw.DataFrame[Any] | None:
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(y, arrow.RecordBatch):
        y = arrow.Table.from_batches([y])
    if not nw.dependencies.is_into_dataframe(y):
        return None
    frame: nw.DataFrame[Any] = nw.from_native(y, eager_only=True)
    return frame


def _to_numpy(column: nw.Series[Any], name: str) -> npt.NDArray[Any]:
    missing = np.flatnonzero(column.is_null().to_numpy())
    if missing.size:
        raise ValueError(f"{name}[{column.name!r}] is missing in row {missing[0]}: drop such rows")
    values: npt.NDArray[Any] = np.asarray(column.to_numpy())
    if values.dtype == object:  # pandas' nullable types, and texts
        values = np.array(values.tolist())
    return values


def _find_event_field(fields: dict[Any, npt.NDArray[Any]], name: str) -> Any:
    kinds = {field: _kind(values) for field, values in fields.items()}
    if not set(kinds.values()) <= {"number"}:
        return choose_event_field(kinds, name)
    for field, values in fields.items():
        levels = np.unique(values)
        if len(levels) == 2:
            raise _make_ambiguous_error(f"{name}[{field!r}]", levels)
    return choose_event_field(kinds, name)


def describe_fields(y: Any, name: str = "y") -> dict[Any, str]:
    """Return what the two fields of a target hold: "truth", "text", "zero-one" or "number"."""
    return {field: _kind(values) for field, values in _read_fields(y, name).items()}


def choose_event_field(kinds: Mapping[Any, str], name: str) -> Any:
    """Return which of two fields is the event, given what they hold.

    Raises
    ------
    ValueError
        If both could be it, or neither.
    """
    for kind in ("truth", "text", "zero-one"):
        found = [field for field in kinds if kinds[field] == kind]
        if len(found) == 1:
            return found[0]
        if found:
            first, second = kinds
            raise ValueError(
                f"either field of {name} could be the event: {first!r} with {second!r} as time, or "
                f"{second!r} with {first!r} as time. Convert the event to bool, for example "
                f"{name}[{first!r}] == 1"
            )
    raise ValueError(
        f"neither field of {name}, {list(kinds)}, holds truth values, 0 and 1, or words, so it is "
        "not clear which rows have the event: " + _HOW_TO_WRITE
    )


def _kind(values: npt.NDArray[Any]) -> str:
    if values.dtype.kind == "b":
        return "truth"
    if values.dtype.kind in "OUST":
        return "text"
    is_zero_one = values.dtype.kind in "iuf" and np.isin(values, (0, 1)).all()
    return "zero-one" if is_zero_one else "number"


def _read_event(values: npt.NDArray[Any], place: str) -> npt.NDArray[np.bool_]:
    if values.dtype.kind in "biuf":
        return values.astype(bool)
    levels, codes = np.unique(values.astype(str), return_inverse=True)
    words = [level.strip().lower() for level in levels.tolist()]
    if not all(word in _EVENT_WORDS or word in _CENSORED_WORDS for word in words):
        raise _make_ambiguous_error(place, levels)
    is_event = np.array([word in _EVENT_WORDS for word in words])
    event: npt.NDArray[np.bool_] = is_event[codes.reshape(-1)]
    return event


def _make_ambiguous_error(place: str, levels: npt.NDArray[Any]) -> ValueError:
    shown = levels.tolist()
    if len(shown) == 1:
        readings = f"an event: write {place} == {shown[0]!r}; no event: {place} != {shown[0]!r}"
    else:
        readings = "; ".join(
            f"if {level!r} means the event, write {place} == {level!r}" for level in shown[:4]
        )
    return ValueError(
        f"{place} holds {', '.join(map(repr, shown[:6]))}{', ...' if len(shown) > 6 else ''}, and "
        f"it is not clear which means that the event took place: {readings}"
    )


def _read_time(values: npt.NDArray[Any], place: str) -> npt.NDArray[np.float64]:
    if values.dtype.kind not in "iuf":
        raise ValueError(
            f"{place} holds values of the type {values.dtype}, but times are numbers: convert "
            "them, for example to days since the start"
        )
    time = values.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(time) & (time >= 0.0)))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(
            f"{place} is {time[row]} in row {row}: times must be finite and not negative; drop or "
            "correct such rows"
        )
    return time + 0.0  # no -0.0


# Places, among ascending times, of those with a column of their own.
_COLUMN_TIMES = (0.25, 0.5, 0.75, 1.0)


def choose_times(times: Sequence[float] | npt.NDArray[np.float64]) -> tuple[float, ...]:
    """Choose a few times, rounded to three digits.

    Examples
    --------
    >>> choose_times([1.0, 2.0, 3.0, 4.0, 5.0])
    (2.0, 3.0, 4.0, 5.0)
    """
    chosen = np.quantile(np.asarray(times), _COLUMN_TIMES)
    return tuple(sorted({float(f"{time:.3g}") for time in chosen.tolist()}))
