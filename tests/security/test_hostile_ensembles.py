"""Files with an ensemble that has one thing wrong: the error and its message."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.boosting.ensembles import mixed_ensemble, mixed_table
from tests.persist.ensemble_files import from_file, to_file
from tests.persist.twin import FileTwin, TreeTwin, array_content

from arboleda import DecisionTreeRegressor, ModelFormatError
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.model_file import write_model
from arboleda._engine.table import check_table


@pytest.fixture(scope="module")
def good() -> FileTwin:
    """A sound file of four rounds with two trees each."""
    return FileTwin.read(to_file(mixed_ensemble(mixed_table(), 2, 4)[0]))


def refusal(data: bytes) -> str:
    with pytest.raises(ModelFormatError) as caught:
        from_file(data)
    return str(caught.value)


START = {"array": "ensemble_.start"}
ENTRIES: list[tuple[Any, str]] = [
    (None, "ensemble_ is not an ensemble of trees"),
    ({"tree": 0}, "ensemble_ is not an ensemble of trees"),
    ({"first_tree": 0, "n_trees": 8}, "ensemble_ is not an ensemble of trees"),
    (
        {"first_tree": 0, "n_trees": 8, "start": START, "x": 1},
        "ensemble_ is not an ensemble of trees",
    ),
    ({"first_tree": "0", "n_trees": 8, "start": START}, "ensemble_ is not an ensemble of trees"),
    ({"first_tree": 0, "n_trees": 8.0, "start": START}, "ensemble_ is not an ensemble of trees"),
    ({"first_tree": False, "n_trees": 8, "start": START}, "ensemble_ is not an ensemble of trees"),
    ({"first_tree": 0, "n_trees": True, "start": START}, "ensemble_ is not an ensemble of trees"),
    ({"first_tree": 0, "n_trees": -8, "start": START}, "ensemble_ is not an ensemble of trees"),
    ({"first_tree": -1, "n_trees": 8, "start": START}, "there is no tree -1"),
    ({"first_tree": 1, "n_trees": 8, "start": START}, "there is no tree 8"),
    ({"first_tree": 0, "n_trees": 10**18, "start": START}, "there is no tree 8"),
    ({"first_tree": 10**30, "n_trees": 8, "start": START}, "there is no tree 1000"),
    ({"first_tree": 0, "n_trees": 6, "start": START}, "more trees or arrays than its header"),
    ({"first_tree": 2, "n_trees": 6, "start": START}, "more trees or arrays than its header"),
    ({"first_tree": 0, "n_trees": 7, "start": START}, "lacks a tree for some output"),
    (
        {"first_tree": 0, "n_trees": 8, "start": [0, 0]},
        "ensemble_.start is not an array of the file",
    ),
    ({"first_tree": 0, "n_trees": 8, "start": {"array": "x"}}, "ensemble_.start is not an array"),
    ({"first_tree": 0, "n_trees": 8, "start": START, "linear": 1}, "is not an ensemble of trees"),
    (
        {"first_tree": 0, "n_trees": 8, "start": START, "linear": False},
        "is not an ensemble of trees",
    ),
    ({"first_tree": 0, "n_trees": 8, "start": START, "linear": True}, "'ensemble_.linear.start'"),
]


@pytest.mark.parametrize(("entry", "message"), ENTRIES, ids=str)
def test_an_invalid_entry_is_refused(good: FileTwin, entry: Any, message: str) -> None:
    assert message in refusal(good.with_json(entry).write())


STARTS: list[tuple[Any, str]] = [
    ([], "at least one output"),
    ([0.0, np.nan], "a start value of the ensemble is not a finite number"),
    ([0.0, -np.inf], "a start value of the ensemble is not a finite number"),
    ([0.0, 0.0, 0.0], "lacks a tree for some output"),
    ([0.0] * 16, "lacks a tree for some output"),
    ([[0.0, 0.0]], "ensemble_.start is an array of the wrong type or number of dimensions"),
    (0.0, "ensemble_.start is an array of the wrong type or number of dimensions"),
    (np.array([0, 0]), "ensemble_.start is an array of the wrong type or number of dimensions"),
]


@pytest.mark.parametrize(("start", "message"), STARTS, ids=str)
def test_an_invalid_start_is_refused(good: FileTwin, start: Any, message: str) -> None:
    array = start if isinstance(start, np.ndarray) else np.asarray(start, dtype=np.float64)
    content = array_content("ensemble_.start", array)
    bad = replace(good, sections=[*good.sections[:-1], (b"ARRY", content)])
    assert message in refusal(bad.write())


def test_incompatible_trees_are_refused(good: FileTwin) -> None:
    X = np.random.default_rng(0).normal(size=(50, 5))
    for fitted, message in [
        (DecisionTreeRegressor().fit(X, X[:, :2]), "a tree of the ensemble must have one value"),
        (DecisionTreeRegressor().fit(X[:, :4], X[:, 0]), "different numbers of columns"),
    ]:
        other = FileTwin.read(write_model(b"{}", [fitted.tree_], {}))
        for at in (0, 5):
            sections = list(good.sections)
            sections[at] = other.sections[0]
            assert message in refusal(replace(good, sections=sections).write())


def test_trees_of_other_columns_are_refused() -> None:
    ensemble, _ = mixed_ensemble(mixed_table())
    assert ensemble.defect((0, 0, 0, 4, 0)) is None
    assert ensemble.defect((0, 0, 0, 9, 0)) is None
    for n_levels in ((0, 0, 0, 4), (0, 0, 0, 4, 0, 0)):
        assert "a different number of columns" in str(ensemble.defect(n_levels))
    for n_levels in ((0, 0, 0, 1, 0), (0, 0, 0, 0, 0)):
        assert "splits on categories that its columns do not have" in str(ensemble.defect(n_levels))
    assert Ensemble.from_trees([0.0], []).defect((0, 0)) is None


def _damaged(tree: TreeTwin, numbers: random.Random) -> bytes:
    """Return a tree with one number that was another."""
    name = numbers.choice([name for name, array in tree.arrays.items() if array.size])
    array = tree.arrays[name].copy()
    at = numbers.randrange(array.size)
    if array.dtype.kind == "f":
        array[at] = numbers.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, array[at] * 2])
    else:
        limits = np.iinfo(array.dtype)
        low, high = max(limits.min, -3), min(limits.max, array.size + 3)
        array[at] = numbers.choice([limits.min, limits.max, numbers.randint(low, high)])
    return tree.changed(**{name: array}).write()


def test_damaged_trees_are_refused_or_usable() -> None:
    """Checksums are made anew, so that the damage reaches the checks behind them."""
    ensemble, reader = mixed_ensemble(mixed_table(60), 2, 4)
    twin = FileTwin.read(to_file(ensemble))
    table = check_table(reader, mixed_table(30, seed=1), reset=False)
    numbers = random.Random(3)
    trees = [TreeTwin.read(content) for kind, content in twin.sections if kind == b"TREE"]
    loaded = refused = 0
    for _ in range(600):
        sections = list(twin.sections)
        at = numbers.randrange(len(trees))
        sections[at] = (b"TREE", _damaged(trees[at], numbers))
        try:
            again = from_file(replace(twin, sections=sections).write())
        except ModelFormatError:
            refused += 1
            continue
        loaded += 1
        with np.errstate(all="ignore"):
            assert again.scores(table, 2).shape == (30, 2)
        assert again.apply(table).shape == (30, 8)
        assert len(again.compute_feature_importances()) == 5
        assert len(again.gain_importances()) == 5
        again.defect((0, 0, 0, 4, 0))
    assert loaded > 100
    assert refused > 100
