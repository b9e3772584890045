"""The task is inferred by the documented rule; a target that cannot be studied is refused."""

import numpy as np
import pandas as pd
import pytest

from arboleda.study import StudyError
from arboleda.study.config.settings import Settings
from arboleda.study.splitting import make_split
from arboleda.tables.reading import read_table
from arboleda.tables.target import make_target

N = 60


def target_of(values: object, task: str | None = None, n: int = N):  # type: ignore[no-untyped-def]
    return make_target(read_table(pd.DataFrame({"x": np.arange(n), "y": values})), "y", task)


@pytest.mark.parametrize(
    ("values", "task", "labels"),
    [
        (["b", "a"] * 30, "binary", ("a", "b")),
        ([True, False] * 30, "binary", ("false", "true")),
        ([0, 1] * 30, "binary", ("0", "1")),
        ([0.5, 2.5] * 30, "binary", ("0.5", "2.5")),
        (list(range(10)) * 6, "multiclass", tuple("0123456789")),
        ([10, 9, 8] * 20, "multiclass", ("8", "9", "10")),
        (list(range(12)) * 5, "regression", ()),
        (np.linspace(0, 1, N), "regression", ()),
        ([0.5, 1.5, 2.25] * 20, "regression", ()),
    ],
)
def test_the_task_is_inferred_from_the_target(
    values: object, task: str, labels: tuple[str, ...]
) -> None:
    target = target_of(values)
    assert (target.task, target.labels) == (task, labels)
    assert target.positive == (labels[1] if task == "binary" else None)
    assert target.why.startswith(task if task == "regression" else "classification")


def test_the_task_can_be_given() -> None:
    assert target_of([0, 1, 2] * 20, "regression").task == "regression"
    assert len(target_of(list(range(12)) * 5, "classification").labels) == 12


@pytest.mark.parametrize(
    ("values", "task", "sentence"),
    [
        ([None] * 3 + [1.0, 2.0, 3.5] * 19, None, "'y' is missing in 3 of 60 rows"),
        ([None] * 3 + ["a", "b", "c"] * 19, None, "missing in 3 of 60 rows"),
        (["a"] * N, None, "only one class, 'a'"),
        ([3.25] * N, "regression", "same value in every row"),
        (["a"] * 30 + ["b"] * 29 + ["c"], None, "The class 'c' of the target 'y' has a single row"),
        ([f"t{i}" for i in range(N)], None, "single row .60 of 60 classes"),
        ([np.inf] + [1.5] * 59, None, "'y' holds the infinite value inf in data row 1"),
        (["a", "b"] * 30, "regression", "text such as 'a'"),
        ([1e308, -1e308, 1.5] * 20, None, r"values up to 1e\+308, whose powers"),
        (pd.date_range("2020", periods=N), None, "holds dates"),
        (sorted(list(range(30)) * 2), "classification", "30 classes in 60 rows"),
    ],
)
def test_invalid_targets_are_refused(values: object, task: str | None, sentence: str) -> None:
    with pytest.raises(StudyError, match=sentence):
        make_split(target_of(values, task), Settings())


def test_too_many_classes_are_refused() -> None:
    with pytest.raises(StudyError, match="has 101 classes; a study takes at most 100"):
        target_of(list(range(101)) * 2, "classification", n=202)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(StudyError, match="has 19 rows; a study needs at least 20"):
        target_of([0.5] * 19, n=19)
    with pytest.raises(StudyError, match="only the target 'y'"):
        make_target(read_table(pd.DataFrame({"y": range(N)})), "y")
    with pytest.raises(StudyError, match="no column 'Y'; did you mean 'y'"):
        make_target(read_table(pd.DataFrame({"x": range(N), "y": range(N)})), "Y")
    with pytest.raises(StudyError, match="its columns are 'x', 'y'"):
        make_target(read_table(pd.DataFrame({"x": range(N), "y": range(N)})), "price")


def test_the_split_keeps_the_classes_and_every_row_once() -> None:
    target = target_of(["a"] * 40 + ["b"] * 20)
    split = make_split(target, Settings(random_state=7))
    assert sorted([*split.train, *split.test]) == list(range(N))
    assert np.bincount(target.y[split.test]).tolist() == [8, 4]
    assert sorted(np.concatenate([score for _, score in split.folds])) == sorted(split.train)
    for fit, score in split.folds:
        assert set(fit) | set(score) == set(split.train)
        assert not set(fit) & set(score)
    again = make_split(target, Settings(random_state=7))
    np.testing.assert_array_equal(split.test, again.test)
    assert not np.array_equal(split.test, make_split(target, Settings(random_state=8)).test)


def test_a_class_of_two_rows_is_split_without_warnings() -> None:
    target = target_of(["a"] * 58 + ["b"] * 2)
    split = make_split(target, Settings(random_state=0))
    assert len(split.folds) == 5
