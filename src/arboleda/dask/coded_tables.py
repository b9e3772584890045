"""Coded tables on workers, which get the path of the file and read it from a disk they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboleda._engine.coded_reference import CodedReference
from arboleda._engine.coded_table import CodedTable
from arboleda._utils.errors import ClusterError, TableError
from arboleda.dask.calls import call_workers

__all__ = [
    "check_coded_table",
    "open_coded_table",
    "pack_series",
    "refuse_coded_table",
    "unpack_series",
]

# Seconds to wait until every worker has opened the file.
_REPLY = 120.0


def check_coded_table(client: Any, X: Any) -> None:
    """Check that each worker can open the file of a coded table, if X is one.

    Raises
    ------
    ClusterError
        If a worker cannot, or finds another file under its path; the message names both.
    """
    if not isinstance(X, CodedTable):
        return
    replies = call_workers(client, _open_on_worker, X._reference, timeout=_REPLY)
    for _, error in sorted(replies.items()):
        if isinstance(error, TableError):
            raise ClusterError(str(error)) from error


def _open_on_worker(reference: CodedReference, dask_worker: Any) -> None:
    reference.open(f"The worker {dask_worker.address}")


def open_coded_table(X: Any) -> None:
    """Open the file of a coded table on this worker, which may have come after `check_coded_table`.

    Raises
    ------
    ClusterError
        As `check_coded_table` does.
    """
    if isinstance(X, CodedTable):
        try:
            len(X)
        except TableError as error:
            raise ClusterError(str(error)) from error


def refuse_coded_table(X: Any, name: str) -> None:
    """Raise an error if X is a coded table, for fits whose workers hold some rows each.

    Raises
    ------
    TypeError
    """
    if isinstance(X, CodedTable):
        raise TypeError(
            f"{name} is a CodedTable, whose rows cannot be divided among workers: pass the files "
            "or the collection that it was written from, as in fit('part-*.parquet', 'target'), or "
            "fit the plain class of arboleda to it on one machine"
        )


@dataclass(frozen=True)
class _OwnSeries:
    """The target or the weights of a coded table, which its readers take from the file."""

    role: str


def pack_series(X: Any, values: Any, role: str) -> Any:
    """Return a name for the target or the weights if the file of a coded table has them.

    Parameters
    ----------
    X : CodedTable or another table
    values : array-like or None
    role : {"y", "sample_weight"}
    """
    if not isinstance(X, CodedTable) or not isinstance(values, np.ndarray):
        return values
    try:
        own = getattr(X, role)
    except ValueError:  # the file has none
        return values
    is_own = own.dtype == values.dtype and np.array_equal(own, values)
    return _OwnSeries(role) if is_own else values


def unpack_series(X: Any, values: Any) -> Any:
    """Return the values of which `pack_series` has made a name."""
    return getattr(X, values.role) if isinstance(values, _OwnSeries) else values
