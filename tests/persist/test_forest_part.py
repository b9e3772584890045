"""A forest is restored from its model file; the file matches its description."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.boosting.ensembles import mixed_table
from tests.forest.forests import CRITERIA, mixed_forest, numbers_of, read
from tests.persist.forest_files import from_file, to_file
from tests.persist.twin import FileTwin, ForestTwin, section


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_forest_is_restored_completely(criterion: str, n_targets: int) -> None:
    forest, reader = mixed_forest(criterion, n_targets, keep_rows=n_targets == 2)
    again = from_file(to_file(forest))
    assert again.widths == forest.widths
    assert to_file(again) == to_file(forest)
    table = read(reader, mixed_table(50, seed=1))
    assert again.votes(table).tobytes() == forest.votes(table).tobytes()
    for number in range(forest.n_trees):
        assert_array_equal(again.tree(number).impurity, forest.tree(number).impurity)
        assert_array_equal(again.tree(number).value, forest.tree(number).value)
        assert_array_equal(again.rows(number), forest.rows(number))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_twin_reads_and_writes_the_same_bytes(criterion: str) -> None:
    for n_targets in (1, 2):
        forest, _ = mixed_forest(criterion, n_targets, keep_rows=n_targets == 1)
        file = FileTwin.read(to_file(forest))
        [(kind, content)] = file.sections
        assert kind == b"FRST"
        twin = ForestTwin.read(content)
        assert twin.write() == content
        assert len(twin.trees) == forest.n_trees
        assert twin.n_training_rows == (300 if n_targets == 1 else 0)
        assert section(b"FRST", content) == forest._native.__getstate__()


def test_votes_can_be_computed_from_the_description() -> None:
    forest, reader = mixed_forest()
    twin = ForestTwin.read(FileTwin.read(to_file(forest)).sections[0][1])
    table = read(reader, mixed_table(60, seed=2))
    for row, votes in zip(numbers_of(table), forest.votes(table), strict=True):
        sums = np.zeros(3)
        for _, tree in twin.trees:
            node = 0
            while tree["right"][node] >= 0:
                split = int(tree["asks"][node])
                x, missing_left = row[split & (2**30 - 1)], bool(split >> 31)
                if split & 2**30:
                    number = int(tree["threshold"][node])
                    start = tree["category_start"]
                    listed = tree["category"][start[number] : start[number + 1]]
                    left = (x in listed) != missing_left
                else:
                    left = missing_left if np.isnan(x) else x <= tree["threshold"][node]
                node = node + 1 if left else tree["right"][node]
            leaf = -1 - tree["right"][node]
            sums += tree["value"].reshape(-1, 3)[leaf]
        assert_array_equal(votes, sums / len(twin.trees))
