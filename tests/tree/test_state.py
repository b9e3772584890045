"""What a fitted tree survives: pickling, hostile states, forks, many callers, Ctrl-C."""

import copy
import multiprocessing
import os
import pickle
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from tests.property.strategies import arrays_of

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor, _native
from arboleda._bridge.threads import available_cores, resolve_n_jobs

_RANDOM = np.random.default_rng(0)
_X = _RANDOM.normal(size=(300, 4))
_Y = np.digitize(_X[:, 0] + _X[:, 1], [-0.5, 0.5])


def fitted() -> Any:
    return DecisionTreeClassifier(max_depth=4).fit(_X, _Y)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_come_back_equal(protocol: int) -> None:
    for model in (fitted(), DecisionTreeRegressor().fit(_X, _X[:, 2])):
        again = pickle.loads(pickle.dumps(model, protocol))
        assert arrays_of(again) == arrays_of(model)
        assert again.predict(_X).tobytes() == model.predict(_X).tobytes()
        assert pickle.dumps(again, protocol) == pickle.dumps(model, protocol)


def test_copies_are_equal() -> None:
    model = fitted()
    for again in (copy.copy(model), copy.deepcopy(model)):
        assert arrays_of(again) == arrays_of(model)


def test_fitted_arrays_cannot_be_written() -> None:
    native = fitted().tree_._native
    for name in ("feature", "threshold", "right", "missing_left", "impurity", "value"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(native, name)[0] = 1


def load_state(state: tuple[Any, ...]) -> Any:
    tree = _native.Tree.__new__(_native.Tree)
    tree.__setstate__(state)
    return tree


# Part of the state, where in it, what is put there.
_N_FEATURES, _N_OUTPUTS, _EXPONENT, _FEATURE, _THRESHOLD, _RIGHT, _MISSING = range(7)
_HOSTILE = [
    *((_RIGHT, 0, bad) for bad in (10**6, 2**31 - 1, 1, 0, -1, -5, -(2**31))),
    (_RIGHT, 1, 2**31 - 1),
    (_RIGHT, -1, 0),
    *((_FEATURE, 0, bad) for bad in (4, 2**31 - 1, -1, -2, -(2**31))),
    (_FEATURE, -1, 0),
    (_THRESHOLD, 0, np.nan),
    (_MISSING, 0, 2),
    (_MISSING, -1, 1),
]


@pytest.mark.parametrize(("part", "index", "bad"), _HOSTILE)
def test_a_hostile_value_is_refused(part: int, index: int, bad: Any) -> None:
    state = [
        np.array(s) if isinstance(s, np.ndarray) else s
        for s in fitted().tree_._native.__getstate__()
    ]
    load_state(tuple(state))  # as it was it is accepted
    state[part][index] = bad
    with pytest.raises(ValueError, match="tree"):
        load_state(tuple(state))


@pytest.mark.parametrize("part", range(_FEATURE, 11))
@pytest.mark.parametrize("change", ["shorter", "longer", "empty"])
def test_arrays_of_other_lengths_are_refused(part: int, change: str) -> None:
    state = list(fitted().tree_._native.__getstate__())
    array = state[part]
    others = {"shorter": array[:-1], "longer": np.append(array, array[-1:]), "empty": array[:0]}
    state[part] = others[change]
    with pytest.raises(ValueError, match="tree"):
        load_state(tuple(state))


@pytest.mark.parametrize(
    ("part", "bad"),
    [
        (_N_FEATURES, -1),
        (_N_FEATURES, 0),
        (_N_OUTPUTS, 0),
        (_N_OUTPUTS, -1),
        (_N_OUTPUTS, 2**31 - 1),
    ],
)
def test_hostile_sizes_are_refused(part: int, bad: int) -> None:
    state = list(fitted().tree_._native.__getstate__())
    state[part] = bad
    with pytest.raises(ValueError, match="tree"):
        load_state(tuple(state))


@pytest.mark.parametrize("part", range(11))
@pytest.mark.parametrize("bad", [None, "abc", 2**70, [[1]], {}], ids=str)
def test_other_types_are_refused(part: int, bad: Any) -> None:
    state = list(fitted().tree_._native.__getstate__())
    state[part] = bad
    with pytest.raises(ValueError, match="tree"):
        load_state(tuple(state))


@pytest.mark.parametrize("state", [(), (1,), None, "abc", tuple(range(12))], ids=str)
def test_states_of_another_shape_are_refused(state: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        load_state(state)


def test_a_pickle_with_another_object_for_its_tree_is_refused() -> None:
    tree = fitted().tree_
    with pytest.raises((ValueError, TypeError), match="state"):
        type(tree).__new__(type(tree)).__setstate__({"native": 5})


def test_n_jobs() -> None:
    with pytest.raises(ValueError, match="n_jobs=0"):
        DecisionTreeClassifier(n_jobs=0).fit(_X, _Y)
    cores = available_cores()
    expected = arrays_of(fitted())
    for n_jobs in (None, 1, 2, -1, -2, -1000, 1000, 10**30):
        assert 1 <= resolve_n_jobs(n_jobs) <= cores
        model = DecisionTreeClassifier(max_depth=4, n_jobs=n_jobs).fit(_X, _Y)
        assert arrays_of(model) == expected
    assert resolve_n_jobs(-1) == cores


def test_nested_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert resolve_n_jobs(None) == 1


def _large() -> tuple[Any, Any]:
    X = np.random.default_rng(1).normal(size=(20_000, 10))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def _fit_in_child(connection: Any) -> None:
    model = DecisionTreeClassifier(n_jobs=2).fit(*_large())
    connection.send(arrays_of(model))


@pytest.mark.filterwarnings(
    # Python 3.12 warns of every fork beside threads; that this one works is what is tested.
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)
def test_a_forked_child_fits_with_threads_of_its_own() -> None:
    X, y = _large()
    expected = arrays_of(DecisionTreeClassifier(n_jobs=2).fit(X, y))
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_fit_in_child, args=(theirs,))
    child.start()
    try:
        assert ours.poll(60), "the child hangs"
        assert ours.recv() == expected
        child.join(10)
        assert child.exitcode == 0
    finally:
        child.kill()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_a_fit_and_it_can_be_fitted_again(n_jobs: int) -> None:
    random = np.random.default_rng(2)
    X, y = random.normal(size=(200_000, 60)), random.normal(size=200_000)
    model = DecisionTreeRegressor(n_jobs=n_jobs)
    pressed = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.7, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):  # the fit takes far longer than the timer
            model.fit(X, y)
        assert time.monotonic() - pressed[0] < 2.0
    finally:
        timer.cancel()
    assert not hasattr(model, "tree_")
    assert model.fit(_X, _X[:, 0]).score(_X, _X[:, 0]) == 1.0
