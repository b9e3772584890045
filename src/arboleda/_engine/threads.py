"""Number of threads of fits and predictions."""

from __future__ import annotations

import os
from typing import Any

import joblib

from arboleda._engine.row_predictor import has_few_rows


def count_available_cores() -> int:
    """Count the cores that this process may use, respecting its affinity and container quota."""
    return int(joblib.cpu_count())


def resolve_threads(table: Any, n_jobs: int | None) -> int:
    """Convert ``n_jobs`` to a number of threads; one for few rows.

    Counting the cores takes longer than predicting few rows.
    """
    return 1 if n_jobs != 0 and has_few_rows(table) else resolve_n_jobs(n_jobs)


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Convert scikit-learn's ``n_jobs`` to a number of threads.

    None means all available cores, or ``OMP_NUM_THREADS`` if that is fewer (joblib sets it in its
    workers to limit nested parallelism). Negative numbers count from all cores: -1 is all, -2 all
    but one. The result is at most the number of available cores, as more threads are slower.

    Raises
    ------
    ValueError
        If ``n_jobs`` is 0.
    """
    cores = count_available_cores()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: set a number of threads, or -1 for all cores")
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else min(n_jobs, cores)
