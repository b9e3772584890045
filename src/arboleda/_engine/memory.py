"""Memory that grows with rows times classes, estimated before it is allocated."""

from __future__ import annotations

import os
import resource

__all__ = ["check_output_size", "usable_memory"]


def usable_memory() -> int:
    """Bytes that this process can use at most: of the machine, or fewer if a limit is set."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return machine if limit == resource.RLIM_INFINITY else min(machine, limit)


def check_output_size(n_rows: int, n_outputs: int, *, task: str, bytes_each: int = 8) -> None:
    """Refuse work on a number for each row and output that no memory here can hold.

    Parameters
    ----------
    n_rows, n_outputs : int
        Rows, and numbers of each: classes, or values.
    task : {"fitting", "predicting"}
        What the memory is for.
    bytes_each : int, default=8
        Bytes for each row and output.

    Raises
    ------
    MemoryError
        If this process cannot have so much memory.
    """
    needed = n_rows * n_outputs * bytes_each
    if needed <= usable_memory():
        return
    remedy = (
        "if the target is a quantity, use a regressor; otherwise merge rare classes"
        if task == "fitting"
        else "predict fewer rows at a time"
    )
    raise MemoryError(
        f"{task} needs at least {needed / 2**30:,.0f} GiB for {n_rows:,} rows x {n_outputs:,} "
        f"classes, more than there is: {remedy}"
    )
