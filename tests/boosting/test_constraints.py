"""Constraints: monotonic columns, columns that may interact, and how they are given."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

RANDOM = np.random.default_rng(0)
N = 1500
FRAME = pd.DataFrame(
    {
        "rising": RANDOM.normal(size=N),
        "falling": RANDOM.integers(0, 12, size=N),
        "free": RANDOM.normal(size=N),
        "kind": pd.Categorical(np.array(["a", "b", "c", "d"])[RANDOM.integers(0, 4, size=N)]),
    }
)
FRAME.loc[RANDOM.random(N) < 0.1, "rising"] = np.nan
FRAME.loc[RANDOM.random(N) < 0.1, "kind"] = None
SCORE = (
    np.nan_to_num(np.sin(2 * FRAME["rising"]) + FRAME["rising"])
    - 0.2 * (FRAME["falling"] - 6) ** 2 / 6
    + FRAME["free"] ** 2
    + (FRAME["kind"] == "b")
    + 0.5 * RANDOM.normal(size=N)
).to_numpy()
DIRECTIONS = {"rising": 1, "falling": -1}


def probes(column: str, values: Any, n: int = 40) -> list[pd.DataFrame]:
    """Random rows, each with the given values of a column one after another."""
    rows = FRAME.sample(n, random_state=1)
    return [
        pd.concat([rows.iloc[[i]]] * len(values), ignore_index=True).assign(**{column: values})
        for i in range(n)
    ]


@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise", "symmetric"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
def test_regression_is_monotone(growth: str, loss: str) -> None:
    model = HistGradientBoostingRegressor(
        loss=loss, quantile=[0.2, 0.8] if loss == "quantile" else None, growth=growth,
        monotonic_cst=DIRECTIONS, early_stopping=True, random_state=0, max_depth=5,
    ).fit(FRAME, SCORE)  # fmt: skip
    assert model.n_iter_ > 5
    for column, direction in DIRECTIONS.items():
        values = np.linspace(-3, 15, 60)
        for probe in probes(column, values):
            steps = np.diff(model.predict(probe), axis=0) * direction
            assert steps.min() >= 0.0


def test_classification_is_monotone_and_the_free_model_is_not() -> None:
    y = np.median(SCORE) < SCORE
    values = np.linspace(-3, 3, 80)
    bound = HistGradientBoostingClassifier(monotonic_cst=DIRECTIONS, max_iter=60).fit(FRAME, y)
    free = HistGradientBoostingClassifier(max_iter=60).fit(FRAME, y)

    def smallest_step(model: Any) -> float:
        return min(np.diff(model.decision_function(p)).min() for p in probes("rising", values))

    assert smallest_step(bound) >= 0.0
    assert smallest_step(free) < 0.0


def test_directions_by_position_and_by_name_are_the_same() -> None:
    by_name = HistGradientBoostingRegressor(monotonic_cst=DIRECTIONS, max_iter=5)
    by_place = HistGradientBoostingRegressor(monotonic_cst=[1, -1, 0, 0], max_iter=5)
    np.testing.assert_array_equal(
        by_name.fit(FRAME, SCORE).predict(FRAME), by_place.fit(FRAME, SCORE).predict(FRAME)
    )


def meetings(model: Any) -> set[frozenset[int]]:
    """Sets of columns on the paths of all trees."""
    found = set()
    for tree in model.ensemble_.trees:
        waiting = [(0, frozenset[int]())]
        while waiting:
            node, path = waiting.pop()
            if tree.children_right[node] < 0:
                found.add(path)
                continue
            longer = path | {int(tree.feature[node])}
            waiting += [
                (int(tree.children_left[node]), longer),
                (int(tree.children_right[node]), longer),
            ]
    return found


@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise", "symmetric"])
@pytest.mark.parametrize(
    "sets",
    [
        [{0, 1}, {2, 3}],
        [("rising", "kind"), ("falling", "kind")],
        [["free"]],
        "no_interactions",
        "pairwise",
    ],
    ids=str,
)
def test_no_path_mixes_groups(sets: Any, growth: str) -> None:
    model = HistGradientBoostingRegressor(
        interaction_cst=sets, growth=growth, max_iter=30, max_depth=4
    ).fit(FRAME, SCORE)
    names = list(FRAME.columns)
    if sets == "no_interactions":
        allowed = [{j} for j in range(4)]
    elif sets == "pairwise":
        allowed = [set(pair) for pair in product(range(4), repeat=2)]
    else:
        allowed = [{names.index(c) if isinstance(c, str) else c for c in group} for group in sets]
        allowed.append(set(range(4)) - set.union(*allowed))
    found = meetings(model)
    assert all(any(path <= group for group in allowed) for path in found)
    assert any(path for path in found)
    free = HistGradientBoostingRegressor(growth=growth, max_iter=30, max_depth=4).fit(FRAME, SCORE)
    assert any(len(path) > 2 for path in meetings(free))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"monotonic_cst": [1, 0]}, r"monotonic_cst has shape \(2,\) but the input data X has 4"),
        ({"monotonic_cst": [1, 0, 0, 2]}, r"Observed values: \[2\] for column 'kind'"),
        (
            {"monotonic_cst": {"hight": 1}},
            r"contains 1 unexpected feature names: \['hight'\]. The columns of X are 'risi",
        ),
        (
            {"monotonic_cst": {"free": 0.5}},
            r"monotonic_cst\['free'\] must be either -1, 0 or 1. Got 0.5",
        ),
        ({"monotonic_cst": {"kind": 1}}, "Categorical features cannot have .* column 'kind'"),
        ({"interaction_cst": [{"rising", "hight"}]}, "interaction_cst contains 'hight'"),
        ({"interaction_cst": [[0, 4]]}, "Interaction constraints must consist of .* got 4"),
        ({"interaction_cst": [0, 1]}, "must be a sequence of tuples or lists"),
        (
            {"monotonic_cst": {"c": 1, "free": 1, "a": 1, "b": -1}},
            r"contains 3 unexpected feature names: \['a', 'b', 'c'\]\.",
        ),
    ],
)
def test_errors_name_invalid_constraints(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HistGradientBoostingRegressor(**options).fit(FRAME, SCORE)


def test_constraints_by_name_require_column_names() -> None:
    X = FRAME[["rising", "free"]].to_numpy()
    with pytest.raises(ValueError, match="Regressor was not fitted on data .* names 'rising'"):
        HistGradientBoostingRegressor(monotonic_cst={"rising": 1}).fit(X, SCORE)
    for wrong in (0.5, True, None):
        with pytest.raises(ValueError, match=f"must consist of integer indices .* got {wrong}"):
            HistGradientBoostingRegressor(interaction_cst=[{wrong}]).fit(X, SCORE)


def test_directions_with_many_classes_are_refused() -> None:
    y = np.digitize(SCORE, [-1, 1])
    with pytest.raises(ValueError, match="not supported for multiclass"):
        HistGradientBoostingClassifier(monotonic_cst=DIRECTIONS).fit(FRAME, y)
