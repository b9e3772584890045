"""Queries of the rows of a ranker: reading them, and the splits that keep them whole."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from arboleda._base.folds import hold_out
from arboleda._utils.errors import ModelFormatError
from arboleda._utils.ranking import (
    encode_queries,
    number_queries,
    read_group_sizes,
    read_query_values,
)
from arboleda.boosting._rows import TrainingRows

if TYPE_CHECKING:
    from arboleda.persist.fields import Sections

Codes = npt.NDArray[np.uint32]

# Rows that are one list unless queries are given.
_MOST_ROWS_OF_A_LIST = 10_000


def has_column(X: Any, name: str | None) -> bool:
    """Return whether X is a data frame with a column of this name."""
    if name is None or not nw.dependencies.is_into_dataframe(X):
        return False
    return name in nw.from_native(X).columns


def drop_column(X: Any, name: str | None) -> Any:
    """Return a data frame without a column; X itself if it has none of this name."""
    return nw.from_native(X).drop(name).to_native() if has_column(X, name) else X


def read_queries(X: Any, qid: Any, group: Any, suffix: str = "") -> tuple[Any, Codes]:
    """Return a table without the column of its queries, and the query of each row.

    Parameters
    ----------
    X : array-like
    qid : array-like, str or None
        The query of each row, or the name of a column of X.
    group : array-like or None
        Sizes of the queries, in the order of the rows.
    suffix : str
        End of the arguments' names in messages.

    Raises
    ------
    ValueError
        If both or, for many rows, none are given, they do not match X, or a query is missing.
    """
    if qid is not None and group is not None:
        raise ValueError(f"qid{suffix} and group{suffix} are both given: give one of them")
    n_rows = _num_samples(X)
    if isinstance(qid, str):
        X, values = split_queries(X, qid, suffix)
        return X, number_queries(values)[1]
    if qid is not None:
        return X, encode_queries(qid, n_rows, f"qid{suffix}")
    if group is not None:
        return X, read_group_sizes(group, n_rows, f"group{suffix}")
    check_one_list(n_rows, suffix)
    return X, np.zeros(n_rows, dtype=np.uint32)


def split_queries(X: Any, qid: str, suffix: str = "") -> tuple[Any, npt.NDArray[Any]]:
    """Return a data frame without the column of its queries, and the values of that column."""
    if not has_column(X, qid):
        raise ValueError(
            f"qid{suffix}={qid!r} is not a column of X: give the name of a column of a data "
            "frame, or the query of each row"
        )
    frame = nw.from_native(X, eager_only=True)
    values = read_query_values(frame.get_column(qid), len(frame), f"column {qid!r}")
    return drop_column(X, qid), values


def check_one_list(n_rows: int, suffix: str = "") -> None:
    """Raise an error for many rows of which no queries are given."""
    if n_rows > _MOST_ROWS_OF_A_LIST:
        raise ValueError(
            f"qid{suffix} and group{suffix} are None, so that all {n_rows:,} rows would be one "
            f"list; this is for at most {_MOST_ROWS_OF_A_LIST:,} rows. Give the query of each row "
            f"as qid{suffix}"
        )


def hold_out_queries(
    rows: TrainingRows, fraction: float, *, seed: int
) -> tuple[TrainingRows, TrainingRows]:
    """Split rows at random into training and validation rows, whole queries to one side.

    Parameters
    ----------
    rows : TrainingRows
        With queries.
    fraction : float or int
        Share or number of the queries to hold out.
    seed : int

    Raises
    ------
    ValueError
        If either side would be empty.
    """
    assert rows.query is not None
    query = rows.query[rows.numbers]
    # The queries of all shards: each splits them alike, and then its own rows.
    names = np.sort(rows.shards.join(np.unique(query))).astype(np.intp)
    n_held_out = fraction if isinstance(fraction, int) else int(names.size * fraction)
    if not 0 < n_held_out < names.size:
        raise ValueError(
            f"validation_fraction={fraction} of {names.size} queries holds out {n_held_out} of "
            "them, and at least one must be on either side: change it, set early_stopping=False, "
            "or pass validation rows as X_val, y_val and qid_val"
        )
    _, held_out = hold_out(fraction, np.empty(0), names, stratify=False, seed=seed)
    is_held_out = np.isin(query, held_out)
    return (
        replace(rows, numbers=rows.numbers[~is_held_out]),
        replace(rows, numbers=rows.numbers[is_held_out]),
    )


def warn_without_pairs(rows: TrainingRows) -> None:
    """Warn if no query has two rows of different relevance.

    Warns
    -----
    UserWarning
        If there is none.
    """
    assert rows.query is not None
    query, target = rows.query[rows.numbers], rows.targets
    order = np.lexsort((target, query))
    is_same = np.diff(query[order].astype(np.int64)) == 0
    has_pair = np.array([np.any(is_same & (np.diff(target[order]) != 0))])
    if not rows.shards.is_any(has_pair)[0] and rows.shards.number == 0:
        warnings.warn(
            "no query has two rows of different relevance, so there is nothing to learn: the "
            "ranker gives all rows the same score. Check that y and qid belong together",
            stacklevel=4,
        )


def choose_queries(rows: TrainingRows, n_rows: int, *, seed: int) -> TrainingRows:
    """Return the rows of random queries: all, or until they have a number of rows."""
    assert rows.query is not None
    if rows.n_rows <= n_rows:
        return rows
    query = rows.query[rows.numbers]
    n_queries = max(rows.shards.gather(int(query.max(initial=0)))) + 1
    sizes = rows.shards.add(np.bincount(query, minlength=n_queries))
    order = np.random.RandomState(seed).permutation(np.flatnonzero(sizes))
    n_chosen = max(1, int(np.searchsorted(np.cumsum(sizes[order]), n_rows, side="right")))
    return replace(rows, numbers=rows.numbers[np.isin(query, order[:n_chosen])])


def read_label_gain(label_gain: Any) -> tuple[float, ...]:
    """Check and return the gains of relevance 0, 1, ..; empty for the default.

    Raises
    ------
    ValueError
        If they are not finite, not negative and not decreasing numbers.
    """
    if label_gain is None:
        return ()
    try:
        gains = np.asarray(label_gain, dtype=np.float64)
    except (TypeError, ValueError):
        gains = np.empty(0)
    is_valid = gains.ndim == 1 and gains.size and np.isfinite(gains).all()
    if not (is_valid and gains[0] >= 0.0 and (np.diff(gains) >= 0.0).all()):
        raise ValueError(
            "label_gain must hold a gain for relevance 0, 1, 2, ..: finite, not negative and not "
            f"decreasing, got {label_gain!r}"
        )
    return tuple(gains.tolist())


class QueryColumn:
    """Field of model files for the name of the column of queries, or null."""

    def encode(self, name: str, value: Any, sections: Sections) -> str | None:
        """Return the name."""
        return None if value is None else str(value)

    def decode(self, name: str, stored: Any, sections: Sections) -> str | None:
        """Check and return the name."""
        if stored is not None and not isinstance(stored, str):
            raise ModelFormatError(f"{name} is neither null nor the name of a column")
        return stored
