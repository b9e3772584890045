"""Results of jobs as plain values, and the limit of one thread per job."""

import warnings
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = ["error_sentence", "limit_threads", "to_plain", "warning_texts"]


def limit_threads() -> AbstractContextManager[Any]:
    """Limit the numeric libraries to one thread, so that results do not depend on the number."""
    limit: AbstractContextManager[Any] = _thread_pools().limit(limits=1)
    return limit


@cache
def _thread_pools() -> ThreadpoolController:
    """Find the numeric libraries' thread pools once: the search costs as much as a small fit."""
    return ThreadpoolController()


def to_plain(value: Any) -> Any:
    """Replace numbers that JSON cannot represent (NaN, infinity) by None."""
    if isinstance(value, dict):
        return {k: to_plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [to_plain(v) for v in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def error_sentence(error: Exception) -> str:
    """Return the type of an error and its first line."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else "no reason given"
    return f"{type(error).__name__}: {text[:300]}"


def warning_texts(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the distinct texts of warnings, sorted."""
    texts = {error_sentence(w.message) for w in caught if isinstance(w.message, Exception)}
    return sorted(texts)
