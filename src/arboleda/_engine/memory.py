"""Checks of memory that grows with rows times classes."""

from __future__ import annotations

import os
import resource

__all__ = ["check_output_size", "get_usable_memory"]


def get_usable_memory() -> int:
    """Return the maximum number of bytes that this process can use."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return machine if limit == resource.RLIM_INFINITY else min(machine, limit)


def check_output_size(n_rows: int, n_outputs: int, *, task: str, bytes_each: int = 8) -> None:
    """Check that an array of rows times outputs fits in memory.

    Parameters
    ----------
    n_rows, n_outputs : int
        Numbers of rows, and of classes or values per row.
    task : {"fitting", "predicting"}
        Purpose of the memory.
    bytes_each : int, default=8
        Bytes per row and output.

    Raises
    ------
    MemoryError
        If the array does not fit in memory.
    """
    needed = n_rows * n_outputs * bytes_each
    if needed <= get_usable_memory():
        return
    remedy = (
        "if the target is a quantity, use a regressor; otherwise merge rare classes"
        if task == "fitting"
        else "predict fewer rows at a time"
    )
    raise MemoryError(
        f"{task} requires at least {needed / 2**30:,.0f} GiB for {n_rows:,} rows x {n_outputs:,} "
        f"classes, more than is available: {remedy}"
    )
