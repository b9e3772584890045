"""How many threads a fit or a prediction may use."""

from __future__ import annotations

import os
from typing import Any

import joblib

from arboleda._engine.row_predictor import are_few


def available_cores() -> int:
    """Cores that this process may use: its affinity and its container's quota are respected."""
    return int(joblib.cpu_count())


def threads_for(table: Any, n_jobs: int | None) -> int:
    """Turn ``n_jobs`` into a number of threads, as `resolve_n_jobs`; one for few rows.

    To ask the system for its cores takes longer than to answer few rows.
    """
    return 1 if n_jobs != 0 and are_few(table) else resolve_n_jobs(n_jobs)


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads.

    None means all available cores, or ``OMP_NUM_THREADS`` where that is fewer (joblib sets it in
    its workers, so that nested parallelism does not multiply). Negative numbers count from all
    cores: -1 is all, -2 all but one. Never more than the available cores: more threads give the
    same result later.

    Raises
    ------
    ValueError
        If ``n_jobs`` is 0.
    """
    cores = available_cores()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: give a number of threads, or -1 for all cores")
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else min(n_jobs, cores)
