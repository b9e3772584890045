"""Files with a forest that has one thing wrong: the error and its message."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.boosting.ensembles import mixed_table
from tests.forest.forests import mixed_forest, read
from tests.persist.forest_files import from_file, to_file
from tests.persist.twin import FileTwin, ForestTwin

from arboleda import ModelFormatError


@pytest.fixture(scope="module")
def good() -> FileTwin:
    """A sound file: seven trees of three classes that keep their rows."""
    return FileTwin.read(to_file(mixed_forest(n_rows=120, keep_rows=True)[0]))


def refusal(data: bytes) -> str:
    with pytest.raises(ModelFormatError) as caught:
        from_file(data)
    return str(caught.value)


def with_forest(file: FileTwin, forest: ForestTwin) -> bytes:
    return replace(file, sections=[(b"FRST", forest.write())]).write()


ENTRIES: list[tuple[Any, str]] = [
    (None, "forest_ is not a forest of the file"),
    ({"tree": 0}, "forest_ is not a forest of the file"),
    ({"forest": 0}, "forest_ is not a forest of the file"),
    ({"forest": "0", "widths": [3]}, "forest_ is not a forest of the file"),
    ({"forest": False, "widths": [3]}, "forest_ is not a forest of the file"),
    ({"forest": 0, "widths": 3}, "forest_ is not a forest of the file"),
    ({"forest": 0, "widths": ["3"]}, "forest_ is not a forest of the file"),
    ({"forest": 0, "widths": [True, 2]}, "forest_ is not a forest of the file"),
    ({"forest": 0, "widths": [3], "x": 1}, "forest_ is not a forest of the file"),
    ({"forest": 1, "widths": [3]}, "there is no forest 1"),
    ({"forest": -1, "widths": [3]}, "there is no forest -1"),
    ({"forest": 10**30, "widths": [3]}, "there is no forest 1000"),
    ({"forest": 0, "widths": []}, "a leaf of the forest has 3 values, not 0"),
    ({"forest": 0, "widths": [2]}, "a leaf of the forest has 3 values, not 2"),
    ({"forest": 0, "widths": [4, -1]}, "a leaf of the forest has 3 values"),
    ({"forest": 0, "widths": [10**30]}, "a leaf of the forest has 3 values"),
]


@pytest.mark.parametrize(("entry", "message"), ENTRIES, ids=str)
def test_an_invalid_entry_is_refused(good: FileTwin, entry: Any, message: str) -> None:
    assert message in refusal(good.with_json(entry).write())


def test_an_unexpected_forest_is_refused(good: FileTwin) -> None:
    twice = replace(good, sections=good.sections * 2)
    assert "more trees or arrays than its header" in refusal(twice.write())


SIZES: list[tuple[dict[str, Any], str]] = [
    ({"n_features": -1}, "impossible number of columns"),
    ({"n_features": 2**31 - 1}, "more columns than the file"),
    ({"n_features": 1}, "a feature of the forest is out of range"),
    ({"n_outputs": 0}, "impossible number of columns or outputs"),
    ({"n_outputs": 2**31 - 1}, "more should follow"),
    ({"n_outputs": 2}, "byte"),
    ({"measure": 7}, "unknown measure"),
    ({"measure": 2**32 - 1}, "unknown measure"),
    ({"measure": 3}, "has one value a leaf"),
    ({"measure": 6}, "byte"),
    ({"n_trees": 8}, "more should follow"),
    ({"n_trees": 2**32 - 1}, "more should follow"),
    ({"n_trees": 6}, "a forest is longer than its trees"),
    ({"n_training_rows": 0}, "a row of the forest is out of range"),
    ({"n_training_rows": 100}, "a row of the forest is out of range"),
]


@pytest.mark.parametrize(("sizes", "message"), SIZES, ids=str)
def test_invalid_sizes_are_refused(good: FileTwin, sizes: dict[str, Any], message: str) -> None:
    forest = replace(ForestTwin.read(good.sections[0][1]), **sizes)
    assert message in refusal(with_forest(good, forest))


def _one_changed(array: Any, at: int, value: Any) -> Any:
    changed = array.copy()
    changed[at] = value
    return changed


ARRAYS: list[tuple[str, Any, str]] = [
    ("threshold", lambda a: _one_changed(a, -1, 1.0), "a leaf of the forest has a test"),
    ("right", lambda a: _one_changed(a, 0, 1), "a child of the forest is out of range"),
    ("right", lambda a: _one_changed(a, 0, 2**31 - 1), "a child of the forest is out of range"),
    ("right", lambda a: _one_changed(a, -1, -1), "the leaves of the forest are out of order"),
    ("asks", lambda a: _one_changed(a, -1, 2**31), "a leaf of the forest has a test"),
    ("asks", lambda a: _one_changed(a, 0, 2**30 - 1), "a feature of the forest is out of range"),
    ("value", lambda a: _one_changed(a, 0, np.nan), "is not a finite number"),
    ("value", lambda a: _one_changed(a, 0, -0.25), "are not shares"),
    ("value", lambda a: _one_changed(a, 0, 2.0), "are not shares"),
    ("weight", lambda a: _one_changed(a, 0, 0.0), "is not a positive number"),
    ("weight", lambda a: _one_changed(a, 0, np.nan), "is not a positive number"),
    ("weight", lambda a: _one_changed(a, 0, np.inf), "weights of the forest are not finite"),
    ("weight", lambda a: _one_changed(a, 0, 1e-300), "are too far apart"),
    ("n_rows", lambda a: _one_changed(a, 0, 0), "a leaf of the forest has no rows"),
    ("n_rows", lambda a: _one_changed(a, 0, 2**31), "more or fewer than its leaves hold"),
    ("n_rows", lambda a: np.full_like(a, 2**32 - 1), "has too many rows"),
    ("row", lambda a: _one_changed(a, 0, 120), "a row of the forest is out of range"),
    ("row", lambda a: a[:-1], "more or fewer than its leaves hold"),
    ("row", lambda a: a[:0], "some trees of the forest keep their rows and some do not"),
    ("category", lambda a: _one_changed(a, -1, 65535), "stands for no category"),
    ("category", lambda a: a[:-1], "do not belong to its nodes"),
    ("category_start", lambda a: a[:-1], "do not belong to its nodes"),
    ("category_start", lambda a: _one_changed(a, 0, 1), "do not belong to its nodes"),
    ("category_start", lambda a: _one_changed(a, -1, 0), "do not belong to its nodes"),
]


@pytest.mark.parametrize(("name", "change", "message"), ARRAYS)
def test_invalid_arrays_are_refused(good: FileTwin, name: str, change: Any, message: str) -> None:
    forest = ForestTwin.read(good.sections[0][1])
    number = next(i for i, (_, tree) in enumerate(forest.trees) if tree["category"].size > 1)
    array = change(forest.trees[number][1][name])
    assert message in refusal(with_forest(good, forest.with_array(number, **{name: array})))


def test_trees_of_other_columns_are_refused() -> None:
    forest, _ = mixed_forest()
    assert forest.defect((0, 0, 0, 4, 0)) is None
    assert forest.defect((0, 0, 0, 9, 0)) is None
    for n_levels in ((0, 0, 0, 4), (0, 0, 0, 4, 0, 0)):
        assert "a different number of columns" in str(forest.defect(n_levels))
    for n_levels in ((0, 0, 0, 1, 0), (0, 0, 0, 0, 0), (0, 0, 0, 70000, 0)):
        assert "splits on categories that its columns do not have" in str(forest.defect(n_levels))


def _damaged(forest: ForestTwin, numbers: random.Random) -> ForestTwin:
    """Return a forest with one number that was another."""
    at_tree = numbers.randrange(len(forest.trees))
    arrays = forest.trees[at_tree][1]
    name = numbers.choice([name for name, array in arrays.items() if array.size])
    array = arrays[name]
    at = numbers.randrange(array.size)
    value: Any
    if array.dtype.kind == "f":
        value = numbers.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, array[at] * 2])
    else:
        limits = np.iinfo(array.dtype)
        low, high = max(limits.min, -3), min(limits.max, array.size + 3)
        value = numbers.choice([limits.min, limits.max, numbers.randint(low, high)])
    return forest.with_array(at_tree, **{name: _one_changed(array, at, value)})


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error", "poisson"])
def test_damaged_forests_are_refused_or_usable(criterion: str) -> None:
    """Checksums are made anew, so that the damage reaches the checks behind them."""
    forest, reader = mixed_forest(criterion, n_rows=60, keep_rows=True)
    file = FileTwin.read(to_file(forest))
    twin = ForestTwin.read(file.sections[0][1])
    table = read(reader, mixed_table(30, seed=1))
    numbers = random.Random(3)
    loaded = refused = 0
    for _ in range(300):
        try:
            again = from_file(with_forest(file, _damaged(twin, numbers)))
        except ModelFormatError:
            refused += 1
            continue
        loaded += 1
        with np.errstate(all="ignore"):
            assert again.votes(table, n_threads=2).shape == (30, forest.n_outputs)
        assert again.apply(table).shape == (30, 7)
        assert again.compute_feature_importances().shape == (5,)
        assert all(np.isfinite(again.tree(i).impurity).all() for i in range(7))
    assert loaded > 30
    assert refused > 30
