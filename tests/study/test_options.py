"""The options of a study: which are valid, and one sentence for those that are not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda._utils.errors import StudyError
from arboleda.study.config.options import NAMES, make_settings
from arboleda.study.config.schemes import Scheme, parse_scheme
from arboleda.study.config.settings import Settings
from arboleda.study.search.strategies import TpeStrategy


def test_no_options_give_the_defaults() -> None:
    assert make_settings() == Settings()
    assert make_settings(**dict.fromkeys(NAMES)) == Settings()


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ({"time_budget": "15m"}, "time_budget", 900.0),
        ({"time_budget": "1h30m"}, "time_budget", 5400.0),
        ({"time_budget": " 90 "}, "time_budget", 90.0),
        ({"time_budget": 2}, "time_budget", 2.0),
        ({"fit_timeout": "0.5 min"}, "fit_timeout", 30.0),
        ({"fit_memory": "4GB"}, "fit_memory", 4 * 10**9),
        ({"fit_memory": "1.5 GiB"}, "fit_memory", 3 * 2**29),
        ({"fit_memory": "1000"}, "fit_memory", 1000),
        ({"models": "core, kernel_ridge,"}, "models", ("core", "kernel_ridge")),
        ({"models": ["cart "]}, "models", ("cart",)),
        ({"search": "tpe:12"}, "search", TpeStrategy(12)),
        ({"score_by": "a,b"}, "score_by", ("a", "b")),
        ({"score_by": ["a,b", 3]}, "score_by", ("a,b", "3")),
        ({"groups": 7}, "groups", "7"),
        ({"random_state": np.int64(4)}, "random_state", 4),
        ({"test_size": np.float32(0.25)}, "test_size", 0.25),
        ({"cv": 10}, "cv", Scheme("kfold", 10)),
        ({"groups": "g"}, "cv", Scheme("group", 5)),
        ({"time": "t"}, "cv", Scheme("time", 5)),
        ({"time": "t", "cv": "time:3"}, "cv", Scheme("time", 3)),
        ({"cost_matrix": '{"a": {"b": 5}}'}, "cost_matrix", {"a": {"b": 5.0}}),
        ({"cost_matrix": {1: {0: 2}}}, "cost_matrix", {"1": {"0": 2.0}}),
        ({"cost_matrix": {("a", "b"): 2, ("a", "c"): 3}}, "cost_matrix", {"a": {"b": 2, "c": 3}}),
        ({"cost_matrix": "[[0, 5], [1, 0]]"}, "cost_matrix", ((0.0, 5.0), (1.0, 0.0))),
        ({"cost_matrix": np.array([[0, 5], [1, 0]])}, "cost_matrix", ((0.0, 5.0), (1.0, 0.0))),
        (
            {"cost_matrix": pd.DataFrame({"a": [0, 5], "b": [1, 0]}, index=["a", "b"])},
            "cost_matrix",
            {"a": {"a": 0.0, "b": 1.0}, "b": {"a": 5.0, "b": 0.0}},
        ),
    ],
)
def test_options_are_parsed(options: dict[str, Any], field: str, value: Any) -> None:
    assert getattr(make_settings(**options), field) == value


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("5", Scheme()),
        ("5x3", Scheme("repeated", 5, 3)),
        ("5x1", Scheme("kfold", 5)),
        ("group", Scheme("group", 5)),
        ("GROUP:4", Scheme("group", 4)),
        ("time:2", Scheme("time", 2)),
        (" loo ", Scheme("loo", 1)),
        ("bootstrap", Scheme("bootstrap", 50)),
        ("bootstrap:200", Scheme("bootstrap", 200)),
    ],
)
def test_schemes_are_parsed(text: str, scheme: Scheme) -> None:
    assert parse_scheme(text) == scheme
    assert parse_scheme(scheme.text) == scheme


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "1", "0", "101", "5x0", "5x101", "5x", "group:1", "time:", "loo:5"),
        *("bootstrap:9", "-5", "5.0", "9" * 5000, "\uff15"),
    ],
)
def test_invalid_schemes_are_refused(text: str) -> None:
    with pytest.raises(StudyError, match="The cross-validation|no cross-validation"):
        parse_scheme(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "clustering"}, "no task 'clustering'; choose classification or regression"),
        ({"metric": 3}, "The metric 3 is not a name"),
        ({"preset": "slow"}, "no preset 'slow'; choose quick, thesis or best"),
        (
            {"models": [1]},
            "models must be names separated by commas, as in core,kernel_ridge, got [1]",
        ),
        ({"cv": "6 fold"}, "no cross-validation '6 fold'"),
        ({"cv": 1}, "cross-validation '1' has 1 folds; choose from 2 to 100"),
        ({"cv": 2.5}, "The cross-validation 2.5 is not a scheme"),
        ({"cv": "group:5"}, "'group:5' needs a column; name it by --groups"),
        ({"cv": "time"}, "'time:5' needs a column; name it by --time"),
        ({"cv": "5", "groups": "g"}, "does not use the column 'g' of --groups"),
        ({"groups": "g", "time": "t"}, "by groups ('g') and by time ('t') at once"),
        ({"groups": ""}, "groups must be the name of a column, got ''"),
        (
            {"test_size": 1},
            "test_size must be a fraction of the rows between 0 and 1, such as 0.2, got 1.",
        ),
        ({"test_size": "0.2"}, "between 0 and 1, such as 0.2, got '0.2'."),
        ({"test_size": float("nan")}, "between 0 and 1, such as 0.2, got nan."),
        ({"time_budget": "soon"}, "The time budget 'soon' is not a time above 0"),
        ({"time_budget": 0}, "The time budget 0 is not"),
        ({"time_budget": float("inf")}, "The time budget inf is not"),
        ({"fit_timeout": "-1s"}, "The time limit of a fit '-1s' is not"),
        ({"search": "bayes"}, "There is no search 'bayes'; choose grid"),
        ({"search": 30}, "The search must be a string such as tpe:30, got 30."),
        ({"fit_memory": "much"}, "The memory limit of a fit 'much' is not a size"),
        ({"fit_memory": 0}, "The memory limit of a fit 0 is not"),
        ({"reject_cost": -1}, "reject_cost must be >= 0, got -1."),
        ({"cost_matrix": [1]}, "The cost matrix [1] cannot be read"),
        ({"cost_matrix": [[0, "x"], [1, 0]]}, "The cost matrix [[0, 'x'], [1, 0]] cannot be read"),
        (
            {"cost_matrix": "[[0, NaN], [1, 0]]"},
            "The cost matrix '[[0, NaN], [1, 0]]' cannot be read",
        ),
        ({"cost_matrix": {"a": 1}}, "The cost matrix {'a': 1} cannot be read"),
        (
            {"cost_matrix": {"a": {"b": float("nan")}}},
            "The cost matrix {'a': {'b': nan}} cannot be read",
        ),
        ({"cost_matrix": "{"}, "The cost matrix is not JSON"),
        ({"cost_matrix": "none.json"}, "The cost matrix none.json cannot be read (No such file"),
        ({"cost_matrix": {}, "task": "regression"}, "A cost matrix needs a classification"),
        ({"score_by": 3}, "Names of columns must be separated by commas, got 3."),
        ({"lang": "fr"}, "no language 'fr'; choose en or es"),
        (
            {"random_state": -1},
            "random_state (--seed) must be an integer from 0 to 4294967295, got -1.",
        ),
        (
            {"random_state": 2**32},
            "random_state (--seed) must be an integer from 0 to 4294967295, got 4294967296.",
        ),
        (
            {"random_state": True},
            "random_state (--seed) must be an integer from 0 to 4294967295, got True.",
        ),
        ({"n_jobs": 0}, "n_jobs (--jobs) must be an integer >= 1, got 0."),
        ({"n_jobs": "x" * 500}, "x..."),
    ],
)
def test_invalid_options_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError) as error:
        make_settings(**options)
    assert message in str(error.value)
    assert len(str(error.value)) < 250
    assert str(error.value).endswith(".")


def test_costs_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    path.write_text('{"good": {"bad": 1}, "bad": {"good": 5}}')
    found = make_settings(cost_matrix=path).cost_matrix
    assert found == {"good": {"bad": 1.0}, "bad": {"good": 5.0}}


def test_settings_are_serialized_as_plain_values() -> None:
    options = {
        "cv": "5x3",
        "models": "cart",
        "score_by": "a",
        "cost_matrix": {"a": {"b": 1}},
        "n_jobs": 2,
    }
    message = make_settings(**options).to_dict()
    assert json.loads(json.dumps(message, allow_nan=False)) == message
    assert set(message) == set(NAMES) - {"n_jobs", "max_table_size"}
    assert (message["cv"], message["models"], message["score_by"]) == ("5x3", ["cart"], ["a"])
    assert make_settings(test=Path("a/b.csv")).to_dict()["test"] == "b.csv"
