"""Fitting again what may fail."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def restore_on_failure(estimator: object) -> Iterator[None]:
    """Give an estimator back all its attributes when fitting raises: never half of a new model."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
