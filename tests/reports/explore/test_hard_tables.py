"""Degenerate tables: each gives valid facts and a page, without a warning."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.study import explore

N = 60
NAN = np.nan
RANDOM = np.random.default_rng(1)
X, Z = RANDOM.normal(size=(2, N))
ODD = np.arange(N) % 2 == 1

TABLES: dict[str, tuple[dict[str, Any], str | None]] = {
    "one row": ({"a": [1.0], "b": ["x"]}, None),
    "two rows": ({"a": [1.0, 2.5], "b": ["x", "y"]}, "b"),
    "twelve rows": ({"a": X[:12], "b": Z[:12], "y": list("pq") * 6}, "y"),
    "one column": ({"a": X}, None),
    "only the target": ({"y": list("pq") * 30}, "y"),
    "nothing but gaps": ({"a": [NAN] * N, "b": [None] * N, "y": list("pq") * 30}, "y"),
    "constants": ({"a": [1] * N, "b": ["x"] * N}, None),
    "free text": ({"a": [f"some words {i}" for i in range(N)]}, None),
    "categories": ({"a": np.where(X > 0, "p", "q"), "b": np.where(Z > 0, "r", "s")}, None),
    "a category and a number": ({"a": np.where(X > 0, "p", "q"), "y": Z}, "y"),
    "truth values": ({"a": X > 0, "b": Z > 0, "y": ODD}, "y"),
    "huge": ({"a": np.where(ODD, 1e308, -1e308), "b": X * 1e-320, "c": X * 1e300,
              "y": np.clip(Z, -1, 1) * 1e308}, "y"),
    "infinite": ({"a": np.where(ODD, np.inf, X), "b": Z, "y": np.where(X > 2, np.inf, Z)}, "y"),
    "targets missing": ({"a": X, "b": Z, "y": [None, "p", "q"] * 20}, "y"),
    "few targets": ({"a": X, "b": Z, "y": [None] * 57 + ["p", "q", "p"]}, "y"),
    "old dates": ({"a": pd.date_range("1700-01-01", periods=N, freq="5YE"), "b": X,
                   "y": pd.date_range("2020-01-01", periods=N)}, "y"),
    "a single value": ({"a": [NAN] * (N - 1) + [3.0], "b": X, "y": Z}, "y"),
    "equal rows": ({"a": [1.5] * 30 + [2.5] * 30, "b": list("xy") * 30}, None),
    "nearly equal rows": ({"a": [1.5] * 59 + [2.5], "b": ["x"] * 59 + ["y"]}, None),
    "many levels": ({"a": [f"v{i // 2}" for i in range(N)], "b": X,
                     "y": [f"c{i % 15}" for i in range(N)]}, "y"),
    "names": ({"": X, " ": np.where(Z > 0, "", "a"), "<b>": Z, "@0@": ODD}, "<b>"),
    "far from zero": ({"a": 1e15 + np.arange(N) % 5, "b": X}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_degenerate_tables_are_explored(name: str, check_facts: Callable[[Any], None]) -> None:
    columns, target = TABLES[name]
    found = explore(pd.DataFrame(columns), target)
    check_facts(json.loads(json.dumps(found.facts, allow_nan=False)))
    page = found.to_html()
    assert page.rstrip().endswith("</html>")
    for column in filter(str.strip, columns):
        assert column.replace("<b>", "&lt;b&gt;") in page
    assert ">nan<" not in page


def test_parts_that_a_table_does_not_allow_are_explained() -> None:
    found = explore(pd.DataFrame({"a": [1.0, 2.5, 2.0], "b": ["x", "y", "y"]}))
    assert found.facts["components"] is found.facts["tsne"] is found.facts["outliers"] is None
    assert "maps: the table has fewer than 10 rows" in found.to_html()
