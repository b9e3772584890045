"""Categories in an order in which neighbours occur with alike values elsewhere."""

import numpy as np
import pandas as pd
import pytest

from arboleda.explain._accumulated_effects import order_levels
from arboleda.explain._rows import read_rows

LEVELS = pd.DataFrame(
    {
        "c": ["a"] * 40 + ["b"] * 30 + ["c"] * 20,
        "u": np.concatenate([np.full(40, 0.0), np.full(30, 2.0), np.full(20, 1.0)])
        + np.random.default_rng(0).uniform(0, 0.5, 90),
    }
)


def test_categories_are_ordered_by_similarity_in_other_columns() -> None:
    assert order_levels(read_rows(LEVELS), 0, np.ones(90)).tolist() == [0, 2, 1]
    weight = (LEVELS["c"] != "c").to_numpy(dtype=float)
    assert order_levels(read_rows(LEVELS), 0, weight).tolist() == [0, 1]


def test_categories_are_ordered_by_other_categories() -> None:
    draw = np.random.default_rng(0)
    levels = draw.choice(list("abcd"), 800)
    like = {"a": 0.0, "c": 0.3, "d": 0.6, "b": 1.0}
    other = np.array(["in" if draw.random() < like[c] else "out" for c in levels])
    rows = read_rows(np.column_stack([levels, other]).astype(object))
    assert order_levels(rows, 0, np.ones(800)).tolist() == [0, 2, 3, 1]


@pytest.mark.parametrize("others", [{}, {"gap": np.full(90, np.nan)}, {"same": np.ones(90)}])
def test_indistinguishable_categories_are_ordered_by_code(
    others: dict[str, object],
) -> None:
    table = pd.DataFrame({"c": LEVELS["c"], **others})
    assert order_levels(read_rows(table), 0, np.ones(90)).tolist() == [0, 1, 2]


def test_rows_without_a_category_are_ignored() -> None:
    table = pd.concat([LEVELS, pd.DataFrame({"c": [None] * 9, "u": [50.0] * 9})])
    assert order_levels(read_rows(table), 0, np.ones(99)).tolist() == [0, 2, 1]


def test_a_level_without_other_values_is_like_the_average() -> None:
    gaps = LEVELS.assign(u=LEVELS["u"].where(LEVELS["c"] != "c"))
    assert order_levels(read_rows(gaps), 0, np.ones(90)).tolist() == [0, 2, 1]
