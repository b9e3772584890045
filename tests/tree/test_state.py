"""A fitted tree survives pickling, hostile states, forks, concurrent callers, Ctrl-C."""

import copy
import multiprocessing
import os
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.persist.twin import TREE_ARRAYS, FileTwin, TreeTwin, section
from tests.property.strategies import arrays_of

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ModelFormatError,
    PrunedTreeClassifier,
    _native,
    load,
)
from arboleda._engine.parallel import count_available_cores, resolve_n_jobs
from arboleda.persist._files import model_to_bytes

_RANDOM = np.random.default_rng(0)
_X = _RANDOM.normal(size=(300, 4))
_Y = np.digitize(_X[:, 0] + _X[:, 1], [-0.5, 0.5])


def fitted() -> Any:
    return DecisionTreeClassifier(max_depth=4).fit(_X, _Y)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_restore_the_tree(protocol: int) -> None:
    for model in (fitted(), DecisionTreeRegressor().fit(_X, _X[:, 2])):
        again = pickle.loads(pickle.dumps(model, protocol))
        assert arrays_of(again) == arrays_of(model)
        assert again.predict(_X).tobytes() == model.predict(_X).tobytes()
        assert pickle.dumps(again, protocol) == pickle.dumps(model, protocol)


@pytest.mark.parametrize(
    "estimator", [DecisionTreeClassifier, PrunedTreeClassifier, DecisionTreeRegressor]
)
def test_a_failed_fit_leaves_the_model_unchanged(estimator: Any, tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    model = estimator().fit(X := pd.DataFrame(_X, columns=names), _Y)
    before, attributes = model.predict(X), sorted(vars(model))
    other = pd.DataFrame({"a": ["x", "y"] * 150, "z": 1.0})
    for y in (_Y[:7], np.where(_Y == 1, np.nan, _Y)):
        with pytest.raises(ValueError, match="inconsistent|NaN"):
            model.fit(other, y)
    assert sorted(vars(model)) == attributes
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(X), before)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), before)
    with pytest.raises(ValueError, match="inconsistent"):
        (unfitted := estimator()).fit(_X, _Y[:7])
    assert vars(unfitted) == vars(estimator())


def test_copies_are_equal() -> None:
    model = fitted()
    for again in (copy.copy(model), copy.deepcopy(model)):
        assert arrays_of(again) == arrays_of(model)


def test_fitted_arrays_are_read_only() -> None:
    native = fitted().tree_._native
    for name in ("feature", "threshold", "right", "missing_left", "impurity", "value"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(native, name)[0] = 1


def load_state(state: Any) -> Any:
    tree = _native.Tree.__new__(_native.Tree)
    tree.__setstate__(state)
    return tree


def twin() -> TreeTwin:
    """The arrays of a fitted tree, to be changed and packed anew with a right checksum."""
    return TreeTwin.read(FileTwin.read(model_to_bytes(fitted())).sections[0][1])


def assert_refused(tree: TreeTwin, message: str = "tree|node") -> None:
    with pytest.raises(ModelFormatError, match=message):
        load_state(section(b"TREE", tree.write()))


# Array of the tree, where in it, what is put there.
_HOSTILE = [
    *(("right", 0, bad) for bad in (10**6, 2**31 - 1, 1, 0, -1, -5, -(2**31))),
    ("right", 1, 2**31 - 1),
    ("right", -1, 0),
    *(("feature", 0, bad) for bad in (4, 2**31 - 1, -1, -2, -(2**31))),
    ("feature", -1, 0),
    *(("threshold", 0, bad) for bad in (np.nan, -np.nan)),
    ("threshold", -1, 1.0),
    ("missing_left", 0, 2),
    ("missing_left", -1, 1),
    *(("impurity", 1, bad) for bad in (np.nan, np.inf, -1.0)),
    *(("weight", 1, bad) for bad in (np.nan, np.inf, 0.0, -1.0)),
    *(("value", 1, bad) for bad in (np.nan, np.inf, -np.inf)),
    *(("n_node_samples", 1, bad) for bad in (0, -1, -(2**63))),
]


@pytest.mark.parametrize(("name", "index", "bad"), _HOSTILE)
def test_a_hostile_value_is_refused(name: str, index: int, bad: Any) -> None:
    tree = twin()
    load_state(section(b"TREE", tree.write()))  # as it was it is accepted
    array = tree.arrays[name].copy()
    array[index] = bad
    assert_refused(tree.changed(**{name: array}))


@pytest.mark.parametrize("name", [name for name in TREE_ARRAYS if not name.startswith("cat")])
@pytest.mark.parametrize("change", ["shorter", "longer", "empty"])
def test_arrays_of_other_lengths_are_refused(name: str, change: str) -> None:
    tree = twin()
    array = tree.arrays[name]
    others = {"shorter": array[:-1], "longer": np.append(array, array[-1:]), "empty": array[:0]}
    sizes = {"n_nodes": len(tree.arrays["right"])}
    assert_refused(tree.changed(**sizes, **{name: others[change]}), "sizes and its length disagree")


_EDGES = (-(2**31), -1, 0, 2**31 - 1)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        *(("n_features", bad) for bad in _EDGES[:3]),
        *(("n_outputs", bad) for bad in _EDGES),
        *(("n_nodes", bad) for bad in (*_EDGES, 1)),
        *(("n_categories", bad) for bad in (1, 2**31, 2**63, 2**64 - 1)),
    ],
)
def test_hostile_sizes_are_refused(name: str, bad: int) -> None:
    assert_refused(twin().changed(**{name: bad}))


def with_categories() -> TreeTwin:
    """Return a tree whose first node splits on the categories 1 and 4."""
    tree = twin()
    threshold, start = tree.arrays["threshold"].copy(), np.full(len(tree.arrays["right"]) + 1, 2)
    threshold[0] = start[0] = 0
    return tree.changed(threshold=threshold, category=np.array([1, 4]), category_start=start)


def test_categories_are_restored_and_used() -> None:
    tree = load_state(section(b"TREE", with_categories().write()))
    again = pickle.loads(pickle.dumps(tree))
    assert again.category.tolist() == [1, 4]
    left, right = 1, int(again.right[0])
    others, listed = (left, right) if again.missing_left[0] else (right, left)
    for category, child in ((1, listed), (4, listed), (0, others), (65535, others)):
        columns = [np.array([float(category)])] + [np.zeros(1)] * 3
        _, path = again.decision_path(columns, 1, 1)
        assert path[1] == child


@pytest.mark.parametrize(
    "changes",
    [
        {"category": [4, 1]},
        {"category": [1, 1]},
        {"category": [1, 65535]},  # stands for no category
        {"start": (0, 1)},
        {"start": (0, 3)},
        {"start": (1, 0)},
        {"start": (1, 2**62)},
        {"start": (1, -(2**63))},
        {"start": (-1, 1)},
        {"threshold": (0, 0.5)},
    ],
    ids=str,
)
def test_hostile_categories_are_refused(changes: dict[str, Any]) -> None:
    tree = with_categories()
    arrays = {name: tree.arrays[name].copy() for name in ("threshold", "category_start")}
    arrays["category"] = np.array(changes.get("category", [1, 4]))
    for key, name in (("start", "category_start"), ("threshold", "threshold")):
        if key in changes:
            index, bad = changes[key]
            arrays[name][index] = bad
    assert_refused(tree.changed(**arrays))


@pytest.mark.parametrize("state", [(), (1,), None, "abc", 5, 2**70, {}, bytearray(8)], ids=str)
def test_states_of_another_type_are_refused(state: Any) -> None:
    with pytest.raises(TypeError):
        load_state(state)


def test_damaged_states_are_refused() -> None:
    state = fitted().tree_._native.__getstate__()
    for end in range(0, len(state), 7):
        with pytest.raises(ModelFormatError):
            load_state(state[:end])
    for at in range(0, len(state), 11):
        with pytest.raises(ModelFormatError):
            load_state(state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :])
    for after in (b"\0", b"\0" * 8, state):
        with pytest.raises(ModelFormatError):
            load_state(state + after)


def test_a_pickle_with_another_object_as_tree_is_refused() -> None:
    tree = fitted().tree_
    with pytest.raises((ValueError, TypeError), match="state"):
        type(tree).__new__(type(tree)).__setstate__({"native": 5})


def test_n_jobs_limits_the_threads() -> None:
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        DecisionTreeClassifier(n_jobs=0).fit(_X, _Y)
    cores = count_available_cores()
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
def test_a_forked_child_fits_with_its_own_threads() -> None:
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
