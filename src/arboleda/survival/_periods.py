"""Discrete time: periods, and person-period rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt

from arboleda._utils.survival_times import SurvivalTimes, read_survival_times

__all__ = ["PersonPeriods", "choose_periods", "encode_periods", "person_period_rows"]

Floats = npt.NDArray[np.float64]


def choose_periods(event_times: Floats, counts: npt.NDArray[np.int64], periods: Any) -> Floats:
    """Return the ends of periods: those given, or so many at quantiles of the event times.

    Parameters
    ----------
    event_times : ndarray of shape (n_times,)
        The distinct times of events, ascending.
    counts : ndarray of shape (n_times,)
        How many events were at each.
    periods : int or array-like

    Raises
    ------
    ValueError
        If ends are not positive, finite and ascending.
    """
    if isinstance(periods, int | np.integer):
        levels = np.arange(1, periods + 1) / periods
        up_to = np.cumsum(counts)
        # The inverse of the empirical distribution, as of numpy.quantile's "inverted_cdf".
        ranks = np.maximum(np.ceil(levels * up_to[-1] - 1.0), 0.0)
        chosen: Floats = event_times[np.unique(np.searchsorted(up_to, ranks, side="right"))]
        return chosen
    try:
        ends = np.asarray(periods, dtype=np.float64)
    except (TypeError, ValueError):
        ends = np.empty(0)
    is_valid = ends.ndim == 1 and ends.size and np.isfinite(ends).all() and ends[0] > 0.0
    if not (is_valid and (np.diff(ends) > 0.0).all()):
        raise ValueError(
            "periods must be their number, or the times at which they end: positive, finite and "
            f"ascending, got {periods!r}"
        )
    return ends


def encode_periods(times: SurvivalTimes, ends: Floats) -> Floats:
    """Return the period of each event, or minus (-0.0 too) the number of periods without one."""
    period = np.searchsorted(ends, times.time, side="left")
    completed = np.searchsorted(ends, times.time, side="right")
    has_event = times.event & (period < len(ends))
    completed = np.where(times.event & ~has_event, len(ends), completed)
    return np.where(has_event, period, -completed.astype(np.float64))


class PersonPeriods(NamedTuple):
    """Person-period rows: one for each period in which a row was at risk."""

    row: npt.NDArray[np.intp]  # index of the row in the table
    period: npt.NDArray[np.intp]  # 0, 1, ..
    event: npt.NDArray[np.bool_]  # whether it had the event in the period
    X: Any  # the rows of the table, with the column "period"


def person_period_rows(X: Any, y: Any, times: Any = 10) -> PersonPeriods:
    """Make one row for each row of a table and each period in which it was at risk.

    A classifier of ``event`` fitted on these rows is a model of the hazard in each period. The
    probability of no event is the product of 1 minus the hazards of the periods so far.

    Parameters
    ----------
    X : data frame or array-like of shape (n_samples, n_features)
    y : structured ndarray or data frame of n_samples rows
        Event indicator and time.
    times : int or array-like of shape (n_periods,), default=10
        Number of periods, which then end at quantiles of the event times; or their ends, ascending.

    Returns
    -------
    rows : PersonPeriods
        Arrays ``row``, ``period`` and ``event``, and the table ``X`` of these rows, with the
        period, from 0, as a last column "period". Rows censored before the end of the first period
        have none.

    Raises
    ------
    ValueError
        If lengths differ, X has a column "period", the ends are not ascending, or for the reasons
        of the survival models' `fit`.

    References
    ----------
    J. Singer, J. Willett (1993), "It's about time: using discrete-time survival analysis to study
    duration and the timing of events", Journal of Educational Statistics 18(2).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.survival import person_period_rows
    >>> y = np.array([(True, 3.0), (False, 2.0)], dtype=[("event", "?"), ("time", "f8")])
    >>> rows = person_period_rows([[0.5], [0.7]], y, times=[1.0, 2.0, 3.0])
    >>> rows.row.tolist(), rows.period.tolist(), rows.event.astype(int).tolist()
    ([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [0, 0, 1, 0, 0])
    """
    survival = read_survival_times(y)
    event_times, counts = np.unique(survival.time[survival.event], return_counts=True)
    target = encode_periods(survival, choose_periods(event_times, counts, times))
    has_event = ~np.signbit(target)
    count = np.abs(target).astype(np.intp) + has_event
    row = np.repeat(np.arange(len(survival)), count)
    period = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return PersonPeriods(
        row, period, has_event[row] & (period == target[row]), _take_rows(X, row, period, survival)
    )


def _take_rows(
    X: Any, row: npt.NDArray[np.intp], period: npt.NDArray[np.intp], times: SurvivalTimes
) -> Any:
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        _check_length(len(frame), times)
        if "period" in frame.columns:
            raise ValueError('X has a column "period", which is the name of a new one: rename it')
        taken = frame[row.tolist()]
        new = nw.new_series("period", period, backend=nw.get_native_namespace(frame))
        if nw.dependencies.is_pandas_dataframe(taken.to_native()):
            return taken.to_native().reset_index(drop=True).assign(period=period)
        return taken.with_columns(new).to_native()
    table = np.asarray(X)
    _check_length(len(table), times)
    return np.column_stack([table[row], period])


def _check_length(n_rows: int, times: SurvivalTimes) -> None:
    if n_rows != len(times):
        raise ValueError(f"X has {n_rows} rows, and y has {len(times)}: give as many")
