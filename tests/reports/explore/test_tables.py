"""Facts about columns, missing values and equal rows, against tables made by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.study import StudyError, explore


def facts(columns: dict[str, Any], target: str | None = None) -> dict[str, Any]:
    return explore(pd.DataFrame(columns), target).facts


def codes(found: dict[str, Any]) -> set[tuple[str, str | None]]:
    return {(c["code"], c["column"]) for c in found["cautions"]}


def test_missing_values_are_counted_by_column_and_combination() -> None:
    nan = np.nan
    found = facts({"a": [1, nan, nan, 4, 5.5], "b": [nan, "x", "y", "x", "y"],
                   "c": [nan, 1, 2, 3, 4.5]})["missing"]  # fmt: skip
    assert found == {
        "n_complete_rows": 2,
        "n_columns": 3,
        "n_patterns": 2,
        "patterns": [
            {"columns": ["a"], "n_columns": 1, "n_rows": 2},
            {"columns": ["b", "c"], "n_columns": 2, "n_rows": 1},
        ],
    }


def test_duplicates_and_contradictory_rows_are_counted() -> None:
    found = facts(
        {"a": [1, 1, 2, 1, 2, 3], "b": list("xxyxyz"), "y": list("ppqpqp")}, "y"
    )["duplicates"]  # fmt: skip
    assert (found["n_repeats"], found["n_groups"]) == (3, 2)
    assert found["groups"][0] == {"n_rows": 3, "rows": [1, 2, 4]}
    assert found["conflicts"] == {"n_groups": 0, "n_rows": 0, "groups": []}
    found = facts({"a": [1, 1, 2, 2], "id": [7, 8, 9, 10], "y": list("pqpp")}, "y")["duplicates"]
    # The identifier column is ignored when rows are compared.
    assert found["n_repeats"] == 0
    assert found["conflicts"]["groups"] == [{"n_rows": 2, "rows": [1, 2], "targets": ["p", "q"]}]


def test_notable_columns_are_listed() -> None:
    n = 40
    rows = np.arange(n)
    found = facts(
        {
            "constant": np.ones(n),
            "customer_id": rows,
            "note": [f"text {i}" for i in rows],
            "gaps": np.where(rows < 30, np.nan, rows / 7),
            "school": [f"s{i % 4}" for i in rows],
            "school_code": (rows % 4) * 10,
            "day": pd.date_range("2020-01-01", periods=n).to_numpy(),
            "wild": np.where(rows == 3, np.inf, rows % 7),
            "y": np.where(rows == 0, "rare", "often"),
        },
        "y",
    )
    assert codes(found) >= {
        ("constant", "constant"), ("identifier", "customer_id"), ("identifier", "note"),
        ("mostly_missing", "gaps"), ("one_to_one", "school_code"), ("dates", "day"),
        ("reading", "wild"), ("rare_class", "y"),
    }  # fmt: skip


def test_missing_targets_are_reported_once() -> None:
    frame = pd.DataFrame({"x": range(40), "y": [None] * 24 + ["p", "q"] * 8})
    about = {code for code, column in codes(explore(frame, "y").facts) if column == "y"}
    assert about == {"rare_class", "target_missing"}


@pytest.mark.parametrize(
    ("columns", "target", "sentence"),
    [
        ({"age": [1, 2]}, "aeg", "did you mean 'age'?"),
        ({"a": [1, 2], "y": [None, None]}, "y", "missing in every row"),
        ({"a": [1, 2], "y": ["p", "p"]}, "y", "only one distinct value"),
        ({"a": range(300), "y": [f"c{i % 150}" for i in range(300)]}, "y", "150 classes"),
        ({"a": []}, None, "no rows"),
    ],
)
def test_tables_that_cannot_be_explored_are_refused(
    columns: Any, target: str | None, sentence: str
) -> None:
    with pytest.raises(StudyError, match=sentence):
        explore(pd.DataFrame(columns), target)


def test_the_page_is_written_completely_to_the_given_path(tmp_path: Path) -> None:
    found = explore("iris", "target")
    page = found.save(tmp_path / "new" / "iris.html")
    assert page.read_text("utf-8") == found.to_html()
    assert [p.name for p in page.parent.iterdir()] == ["iris.html"]
    assert json.loads(json.dumps(found.facts, allow_nan=False)) == found.facts
    with pytest.raises(StudyError, match="cannot be written"):
        found.save(tmp_path)
