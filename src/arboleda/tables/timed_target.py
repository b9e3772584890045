"""Targets of two columns: the time to an event with its indicator, and relevance with its query."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arboleda._utils.errors import TableError
from arboleda._utils.ranking import LARGEST_RELEVANCE
from arboleda._utils.survival_times import SurvivalTimes, read_survival_times
from arboleda.reports.fact_messages import write_message
from arboleda.tables.table import Column, StudyTable
from arboleda.tables.target import MIN_ROWS, StudyTarget, check_finite, format_class

__all__ = [
    "RELEVANCE",
    "TIMES",
    "convert_to_numbers",
    "find_event_column",
    "join_relevance",
    "join_times",
    "make_ranking_target",
    "make_survival_target",
    "read_event_column",
    "read_target_times",
]

# With more values, a column of events is read as a mistake.
MAX_LEVELS = 50
# The fields of a target with two parts; each row carries both wherever it goes.
TIMES = np.dtype([("event", np.bool_), ("time", np.float64)])
RELEVANCE = np.dtype([("relevance", np.float64), ("query", np.int64)])


def make_survival_target(table: StudyTable, time: str, event: str) -> StudyTarget:
    """Check the columns of times and events.

    Raises
    ------
    TableError
        If there is no such column, or one is unusable: missing, negative or infinite times, dates,
        an event of unclear coding, no event, or too few rows.
    """
    column = table.column(time)
    of_event, value = find_event_column(table, event)
    if of_event.name == time:
        raise TableError(
            f"The column {time!r} cannot be both time and event; name the column of the times by "
            "--time and that of the events by --event."
        )
    _check_rows(table, (time, of_event.name))
    for name in (time, of_event.name):
        _check_missing(table, name)
    if column.kind != "numeric":
        raise TableError(
            f"The column of times {time!r} holds {_name_kind(column)}; convert it to numbers, for "
            "example to days since the start."
        )
    check_finite(column)
    if column.values.min() < 0:
        row = int(column.values.argmin())
        raise TableError(
            f"The column of times {time!r} holds {column.values[row]:g} in data row {row + 1}; "
            "times to an event are not negative: correct or drop such rows."
        )
    if column.values.min() == column.values.max():
        raise TableError(
            f"The column of times {time!r} holds the same time in every row; there is nothing to "
            "predict."
        )
    happened = read_event_column(of_event, value)
    if not happened.any():
        raise TableError(
            f"No row of the column {of_event.name!r} has the event: all {table.n_rows:,} are "
            "censored, and nothing can be learned about the time to it; check which values mean "
            "the event."
        )
    why = write_message("survival", column=of_event.name, count=int(happened.sum()))
    y = join_times(happened, column.values)
    return StudyTarget(time, "survival", y, (), why, second=of_event.name, event=event)


def make_ranking_target(table: StudyTable, name: str, query: str) -> StudyTarget:
    """Check the columns of relevance and of queries.

    Raises
    ------
    TableError
        If there is no such column, or one is unusable: missing values, a relevance that is not an
        integer from 0 on, a single query, or no query with rows of different relevance.
    """
    if name == query:
        raise TableError(
            f"The column {name!r} cannot be both target and query; name the column of the "
            "relevance by --target and that of the queries by --query."
        )
    column, of_query = table.column(name), table.column(query)
    _check_rows(table, (name, query))
    for both in (name, query):
        _check_missing(table, both)
    if column.kind not in ("numeric", "boolean"):
        raise TableError(
            f"The target column {name!r} holds {_name_kind(column)}, but relevance is an integer "
            "from 0 on, larger for better rows; convert it to such grades."
        )
    check_finite(column)
    _check_relevance(column)
    _, codes, sizes = np.unique(of_query.values, return_inverse=True, return_counts=True)
    if len(sizes) == 1:
        raise TableError(
            f"The column of queries {query!r} holds a single query; rankings are learned from "
            "several: name another column with --query."
        )
    relevance = column.values
    highest = np.full(len(sizes), -np.inf)
    lowest = np.full(len(sizes), np.inf)
    np.maximum.at(highest, codes, relevance)
    np.minimum.at(lowest, codes, relevance)
    if not (highest > lowest).any():
        raise TableError(
            f"No query of {query!r} has rows of different {name!r}, so there is nothing to rank; "
            "check that --query names the column of the queries."
        )
    why = write_message("ranking", column=query, count=len(sizes))
    y = join_relevance(relevance, codes)
    return StudyTarget(name, "ranking", y, (), why, second=query)


def _check_relevance(column: Column) -> None:
    values = column.values
    is_grade = (values >= 0) & (values <= LARGEST_RELEVANCE) & (values == np.floor(values))
    wrong = np.flatnonzero(~is_grade)
    if wrong.size:
        row = int(wrong[0])
        raise TableError(
            f"The target column {column.name!r} holds {values[row]:g} in data row {row + 1}, but "
            f"relevance is an integer from 0 to {LARGEST_RELEVANCE}, larger for better rows; "
            "convert it to such grades."
        )


def _check_rows(table: StudyTable, names: tuple[str, str]) -> None:
    if table.n_rows < MIN_ROWS:
        raise TableError(
            f"The table {table.name} has {table.n_rows} rows; a study needs at least {MIN_ROWS}."
        )
    if all(column.name in names for column in table.columns):
        raise TableError(
            f"The table {table.name} holds only {names[0]!r} and {names[1]!r}; add features."
        )


def _check_missing(table: StudyTable, name: str) -> None:
    n_missing = int(table.column(name).missing.sum())
    if n_missing:
        raise TableError(
            f"The column {name!r} is missing in {n_missing:,} of {table.n_rows:,} rows; remove "
            f"those rows with --where '{name} is not missing', or fill them in."
        )


def _name_kind(column: Column) -> str:
    if column.kind == "string":
        return f"text such as {column.levels[0][:60]!r}"
    return "dates" if column.kind == "datetime" else "truth values"


def find_event_column(table: StudyTable, event: str) -> tuple[Column, str | None]:
    """Return the column of events, and its value that means the event if ``event`` names one.

    Examples of ``event``: ``died``, or ``status=2``.

    Raises
    ------
    TableError
        If there is no such column.
    """
    names = {column.name for column in table.columns}
    name, equals, value = event.rpartition("=")
    if event not in names and equals and name.strip() in names:
        return table.column(name.strip()), value.strip()
    return table.column(event), None


def read_event_column(column: Column, value: str | None = None) -> npt.NDArray[np.bool_]:
    """Return whether each row had the event: truth values, 0 and 1, or words such as "dead".

    Raises
    ------
    TableError
        If it is not clear which value means the event; the message shows the readings. If ``value``
        names one that the column does not hold.
    """
    levels, codes = np.unique(column.values, return_inverse=True)
    shown = [format_class(column, level) for level in levels[:MAX_LEVELS]]
    if value is not None:
        if value not in shown:
            raise TableError(
                f"The column of events {column.name!r} has no value {value[:60]!r}; it holds "
                f"{_list_values(shown)}."
            )
        return np.asarray(codes == shown.index(value))
    if column.kind == "boolean" or (column.kind == "numeric" and np.isin(levels, (0, 1)).all()):
        return column.values.astype(bool)
    if column.kind == "string" and len(levels) <= MAX_LEVELS:
        texts = np.array(shown)[codes]
        frame = pa.table({"event": texts, "time": np.arange(1.0, 1.0 + len(texts))})
        try:
            return read_survival_times(frame, requires_event=False).event
        except ValueError:
            pass  # the message below names the remedies of a study
    readings = "; ".join(
        f"if {text!r} means the event, write --event '{column.name}={text}'" for text in shown[:3]
    )
    raise TableError(
        f"The column of events {column.name!r} holds {_list_values(shown)}, and it is not clear "
        f"which value means that the event took place: {readings}."
    )


def _list_values(shown: list[str]) -> str:
    return ", ".join(repr(text[:60]) for text in shown[:6]) + (", ..." if len(shown) > 6 else "")


def join_times(event: npt.NDArray[np.bool_], time: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return events and times as one array with two fields."""
    y = np.empty(len(time), dtype=TIMES)
    y["event"], y["time"] = event, time + 0.0  # no -0.0
    return y


def join_relevance(relevance: npt.NDArray[Any], query: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return relevance and numbers of queries as one array with two fields."""
    y = np.empty(len(relevance), dtype=RELEVANCE)
    y["relevance"], y["query"] = relevance, query
    return y


def read_target_times(y: npt.NDArray[Any]) -> SurvivalTimes:
    """Return the events and times of a target."""
    return SurvivalTimes(y["event"], y["time"])


def convert_to_numbers(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return one number per row, for what needs one: the encoding of categories by the target.

    It is the relevance in a ranking. Of times it is the martingale residual: 1 for a row with the
    event, less the cumulative hazard up to its time (Nelson-Aalen), so that rows with early events
    have large numbers. Other targets are returned as they are.

    Examples
    --------
    >>> y = join_times(np.array([True, True, False]), np.array([1.0, 2.0, 2.0]))
    >>> convert_to_numbers(y).round(3).tolist()
    [0.667, 0.167, -0.833]
    """
    if y.dtype == RELEVANCE:
        return np.asarray(y["relevance"])
    if y.dtype != TIMES:
        return y
    distinct, at = np.unique(y["time"], return_inverse=True)
    events = np.bincount(at, y["event"], len(distinct))
    leaving = np.bincount(at, minlength=len(distinct))
    at_risk = len(y) - np.cumsum(leaving) + leaving
    return np.asarray(y["event"] - np.cumsum(events / at_risk)[at])
