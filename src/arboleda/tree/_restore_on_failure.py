"""Restoring estimators when fitting fails."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def restore_on_failure(estimator: object) -> Iterator[None]:
    """Restore all attributes of an estimator if fitting raises an error."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
