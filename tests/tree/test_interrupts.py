"""Ctrl-C ends a fit within a second, whatever it is about, and the estimator can be fitted again.

Time is that of the processor, because other programs may take the machine's.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

_RANDOM = np.random.default_rng(0)
_ROWS = 200_000


def _numbers(n_columns: int) -> Any:
    return _RANDOM.random((_ROWS, n_columns))


def _get_targets() -> Any:
    return _RANDOM.random(_ROWS)


def _categories() -> Any:
    return _RANDOM.integers(0, 65_535, (_ROWS, 40)).astype(np.uint16)


def _sparse(n_columns: int) -> Any:
    """One cell in 25, at any row."""
    entries = np.arange(n_columns * (_ROWS // 25))
    rows = 25 * (entries % (_ROWS // 25)) + _RANDOM.integers(0, 25, entries.size)
    start = np.arange(n_columns + 1) * (_ROWS // 25)
    return sparse.csc_array((_RANDOM.random(entries.size), rows, start), (_ROWS, n_columns))


# Fits that take several seconds each.
_FITS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    "absolute error": lambda: (
        DecisionTreeRegressor(criterion="absolute_error"),
        _numbers(20),
        _get_targets(),
    ),
    "categories": lambda: (
        DecisionTreeClassifier(categorical_features=range(40)),
        _categories(),
        _RANDOM.integers(0, 12, _ROWS),
    ),
    "random splits": lambda: (
        DecisionTreeRegressor(splitter="random"),
        _numbers(100),
        _get_targets(),
    ),
    "sparse": lambda: (
        DecisionTreeRegressor(),
        _sparse(600),
        _get_targets(),
    ),
    "outputs": lambda: (
        DecisionTreeRegressor(),
        _numbers(30),
        np.column_stack([_get_targets() for _ in range(5)]),
    ),
    "coding": lambda: (DecisionTreeRegressor(max_depth=1), _numbers(200), _get_targets()),
}


@pytest.mark.parametrize("name", _FITS)
def test_ctrl_c_stops_the_fit_and_it_can_be_fitted_again(name: str) -> None:
    model, X, y = _FITS[name]()
    pressed = []

    def press() -> None:
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):  # the fit takes far longer than the timer
            model.fit(X, y)
        assert time.process_time() - pressed[0] < 1.0
    finally:
        timer.cancel()
    assert not hasattr(model, "tree_")
    again = model.fit(X[:50], y[:50])
    assert again.apply(X[:50]).shape == (50,)
