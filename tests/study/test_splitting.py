"""Splits by every scheme: the rows of each side, and what cannot be split."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda._utils.errors import StudyError
from arboleda.model_selection import BootstrapSplit
from arboleda.study.config.options import make_settings
from arboleda.study.plan import Plan, make_plan
from arboleda.study.search.strategies import Trial
from arboleda.study.splitting import Split
from arboleda.tables.reading import read_table


def frame_of(n: int = 200, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": draw.normal(size=n),
            "who": draw.integers(0, 25, n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 90, n), "D"),
            "y": draw.choice(["no", "yes"], n, p=[0.7, 0.3]),
        }
    )


def plan_for(frame: pd.DataFrame, target: str = "y", **options: Any) -> Plan:
    return make_plan(read_table(frame), target, make_settings(models="cart", **options))


def check_sides(split: Split, n_rows: int) -> None:
    assert sorted([*split.train, *split.test]) == list(range(n_rows))
    for folds in (split.folds, split.partition):
        for fit, score in folds:
            assert set(fit) <= set(split.train)
            assert set(score) <= set(split.train)
    scored = np.concatenate([score for _, score in split.partition])
    assert len(set(scored)) == len(scored)
    assert all(not set(fit) & set(score) for fit, score in split.partition)


@pytest.mark.parametrize("target", ["y", "x"])
def test_repeated_folds_divide_the_rows_differently(target: str) -> None:
    split = plan_for(frame_of(), target, cv="4x3").split
    check_sides(split, 200)
    assert len(split.folds) == 12
    assert split.partition == split.folds[:4]
    for start in (0, 4, 8):
        scored = np.concatenate([score for _, score in split.folds[start : start + 4]])
        assert sorted(scored) == split.train.tolist()
    assert not np.array_equal(split.folds[0][1], split.folds[4][1])


@pytest.mark.parametrize("target", ["y", "x"])
def test_no_group_is_on_both_sides(target: str) -> None:
    frame = frame_of()
    plan = plan_for(frame, target, groups="who", test_size=0.3)
    split, who = plan.split, frame["who"].to_numpy()
    check_sides(split, 200)
    assert not set(who[split.train]) & set(who[split.test])
    assert abs(len(split.test) - 60) <= 8
    assert len(split.folds) == 5
    assert sorted(np.concatenate([score for _, score in split.folds])) == split.train.tolist()
    for fit, score in split.folds:
        assert not set(who[fit]) & set(who[score])
    assert plan.roles["who"].role == "left_out"
    assert "who" not in plan.features.names
    again = plan_for(frame, target, groups="who", test_size=0.3)
    assert np.array_equal(again.split.test, split.test)
    other = plan_for(frame, target, groups="who", test_size=0.3, random_state=1)
    assert not np.array_equal(other.split.test, split.test)


def test_a_large_group_stays_in_the_training_rows() -> None:
    frame = frame_of()
    frame["who"] = np.where(np.arange(200) < 150, "most", frame["who"].astype(str))
    split = plan_for(frame, groups="who", cv="group:3").split
    assert abs(len(split.test) - 40) <= 4
    assert 0 in split.train


@pytest.mark.parametrize("target", ["y", "x"])
def test_time_windows_learn_from_the_past(target: str) -> None:
    frame = frame_of()
    split, when = plan_for(frame, target, time="when", cv="time:4").split, frame["when"].to_numpy()
    check_sides(split, 200)
    assert when[split.train].max() < when[split.test].min()
    assert abs(len(split.test) - 40) <= 5
    sizes = []
    for fit, score in split.folds:
        assert when[fit].max() < when[score].min()
        assert (np.diff(when[fit].astype("int64")) >= 0).all()
        sizes.append(len(score))
    assert set(split.folds[1][0]) == {*split.folds[0][0], *split.folds[0][1]}
    assert {*split.folds[-1][0], *split.folds[-1][1]} == set(split.train)
    assert max(sizes) - min(sizes) <= 10


def test_leave_one_out_is_one_fold_of_many_fits() -> None:
    plan = plan_for(frame_of(60), cv="loo")
    (job, *_), split = plan.trial_jobs(plan.models[0], Trial({})), plan.split
    assert job.kind == "one_by_one"
    assert len(split.folds) == 1
    assert np.array_equal(split.folds[0][1], split.train)
    assert len(split.partition) == 5
    check_sides(split, 60)


def test_bags_match_the_bootstrap() -> None:
    plan = plan_for(frame_of(60), cv="bootstrap:10", random_state=3)
    split, train = plan.split, plan.split.train
    check_sides(split, 60)
    expected = list(BootstrapSplit(10, random_state=3).split(train))
    assert len(split.folds) == 11
    for (fit, score), (bag, left_out) in zip(split.folds, expected, strict=False):
        assert np.array_equal(fit, train[bag])
        assert np.array_equal(score, train[left_out])
    assert np.array_equal(split.folds[10][0], split.folds[10][1])
    kinds = [job.kind for job in plan.trial_jobs(plan.models[0], Trial({}))]
    assert kinds == ["fold"] * 10 + ["apparent"]


def test_another_scheme_makes_another_study() -> None:
    frame = frame_of()
    options: list[dict[str, Any]] = [{}, {"cv": 4}, {"test_size": 0.3}, {"groups": "who"}]
    options += [
        {"time": "when"},
        {"cv": "group:4", "groups": "who"},
        {"test": frame_of(30, seed=1)},
    ]
    known = [plan_for(frame, **one).identity() for one in options]
    assert all(known[i] != known[j] for i in range(len(known)) for j in range(i))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"who": 1}, {"groups": "who"}, "'who' holds only one group"),
        ({"who": None}, {"groups": "who"}, "'who' is missing in 200 of 200 rows"),
        ({}, {"groups": "nobody"}, "has no column 'nobody'"),
        ({}, {"groups": "y"}, "The target 'y' cannot also split the rows"),
        ({}, {"groups": "who", "cv": "group:30"}, "too few for 30 folds"),
        ({"when": "monday"}, {"time": "when"}, "'when' holds text such as 'monday'"),
        ({"when": True}, {"time": "when"}, "'when' holds truth values"),
        ({"when": None}, {"time": "when"}, "'when' is missing in 200 of 200 rows"),
        ({"when": 3}, {"time": "when"}, "the same time in every row"),
        ({"when": [1, 2] * 100}, {"time": "when"}, "1 distinct times of 'when', too few"),
        ({}, {"score_by": "z"}, "has no column 'z'"),
        ({}, {"test_size": 0.001}, "too few to test every class with a test size of 0.001"),
        ({}, {"test_size": 0.999}, "leaves 0 of 200 rows for training"),
        ({}, {"cv": "90", "test_size": 0.5}, "No class of the target 'y' has the 90 training"),
        (
            {"who": list("ab") * 100, "y": list("pq") * 100},
            {"groups": "who", "cv": "group:2"},
            "only 1 of the groups of 'who', too few for 2 folds",
        ),
        (
            {"when": range(200), "y": ["p"] * 100 + ["q"] * 100},
            {"time": "when"},
            "The earliest of 6 windows of 'when' (27 rows) has only one class",
        ),
        (
            {"when": range(200), "y": ["p", "q"] * 90 + ["r"] * 20},
            {"time": "when"},
            "The class 'r' of the target 'y' occurs in the latest rows alone",
        ),
    ],
)
def test_tables_that_cannot_be_split_are_refused(
    change: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError) as error:
        plan_for(frame_of().assign(**change), **options)
    assert message in str(error.value)


def test_too_few_rows_for_the_folds_are_refused() -> None:
    with pytest.raises(StudyError, match="20 folds need at least as many training rows"):
        plan_for(frame_of(22), "x", cv=20)


def test_too_many_fits_are_refused() -> None:
    frame = frame_of(20_000)
    with pytest.raises(
        StudyError, match=r"Leave-one-out on 16,000 training rows .* takes [\d,]+ fits"
    ):
        plan_for(frame, cv="loo")
