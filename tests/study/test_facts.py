"""The models of the facts, their generated schema, and the sentences on damaged facts."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from arboleda.facts.model import CandidateFacts, FactsModel
from arboleda.facts.study import (
    SCHEMA_VERSION,
    ColumnFacts,
    SchemeFacts,
    SettingsFacts,
    SplitFacts,
    format_schema,
)
from arboleda.reports.study import page
from arboleda.study.artifacts.index import check_facts

ROOT = Path(__file__).parents[2]
SCHEMAS: dict[Path, type[FactsModel]] = runpy.run_path(str(ROOT / "tools/write_schemas.py"))[
    "SCHEMAS"
]
SCHEME = {"name": "5", "kind": "kfold", "folds": 5, "repeats": 1, "test": "random"}
CANDIDATE = {"params": {"depth": 3}, "fold_scores": [0.5, 0.7], "mean": 0.6, "sd": 0.1}
COLUMN = {
    "name": "age",
    "kind": "categorical",
    "role": "feature",
    "reason": None,
    "n_missing": 0,
    "n_distinct": 2,
    "numeric": None,
    "top": [["old", 3]],
    "histogram": None,
}


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_the_committed_schema_is_that_of_the_models(path: Path) -> None:
    """If not: python tools/write_schemas.py."""
    assert path.read_text("utf-8") == format_schema(SCHEMAS[path])


def test_the_report_draws_the_version_that_a_study_writes() -> None:
    assert page._SCHEMA_VERSION == SCHEMA_VERSION


@pytest.mark.parametrize(
    ("model", "facts", "sentence"),
    [
        (SchemeFacts, SCHEME, None),
        (SchemeFacts, [], "the file is an array, not an object"),
        (SchemeFacts, SCHEME | {"folds": 5.0}, "folds is 5.0, not a valid integer"),
        (SchemeFacts, SCHEME | {"folds": True}, "folds is true, not a valid integer"),
        (SchemeFacts, SCHEME | {"folds": 0}, "folds is 0, not greater than or equal to 1"),
        (SchemeFacts, SCHEME | {"kind": None}, "kind is null, not 'kfold', 'repeated', 'group'"),
        (SchemeFacts, SCHEME | {"x" * 99: 1}, f"the file has the unknown key '{'x' * 60}'"),
        (SplitFacts, {"n_train": 3, "n_test": 2}, "classes is missing"),
        (
            SplitFacts,
            {"n_train": 3, "n_test": 2, "classes": [{"label": "a", "train": 3}]},
            "classes[0].test is missing",
        ),
        (
            SplitFacts,
            {"n_train": 3, "n_test": 2, "classes": [None]},
            "classes[0] is null, not an object",
        ),
        (CandidateFacts, CANDIDATE, None),
        (CandidateFacts, CANDIDATE | {"mean": float("nan")}, "mean is nan, not a finite number"),
        (CandidateFacts, CANDIDATE | {"params": {"a": []}}, "params.a is an array, not a valid"),
        (CandidateFacts, CANDIDATE | {"fold_scores": ["x" * 99]}, f"[0] is '{'x' * 60}', not a"),
        (ColumnFacts, COLUMN, None),
        (ColumnFacts, COLUMN | {"top": [["old"]]}, "top[0][1] is missing"),
        (ColumnFacts, COLUMN | {"top": [["old", "3"]]}, "top[0][1] is '3', not a valid integer"),
        (SettingsFacts, {"seed": 0, "search": "all"}, "task is missing"),
    ],
)
def test_the_first_wrong_value_is_named(
    model: type[FactsModel], facts: Any, sentence: str | None
) -> None:
    found = check_facts(facts, model)
    assert found is None if sentence is None else sentence in str(found)
    assert "\n" not in str(found)
