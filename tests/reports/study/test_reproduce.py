"""The command of the page does the study again: it asks for what was asked."""

import shlex
from dataclasses import replace
from typing import Any

import pytest

from arboleda.cli import main
from arboleda.reports.study.method import _make_command
from arboleda.study.config.options import NAMES, make_settings

ALL: dict[str, Any] = {
    "preset": "thesis",
    "models": "cart,lda",
    "cv": "group:3",
    "groups": "-who",
    "test_size": 0.00003,
    "test": "later one.csv",
    "time_budget": 1e-05,
    "cost_matrix": {"it's": {'"no"': 5.0}},
    "reject_cost": 0.0,
    "search": "random:9",
    "by": ["a, b", " c", "[d]"],
    "where": ["-a >= 3", "b == 'x, y' or c is missing", "[d] != 1"],
    "drop_missing": True,
    "drop_duplicates": True,
    "merge": {"it's": {"new": ['"old"', "-x"]}, "b": {"1": ["2"]}},
    "drop": ["-e", "f, g"],
    "lang": "es",
    "member_time": 1e17,
    "member_memory": "3GB",
    "seed": 7,
}


class Asked(Exception):  # noqa: N818 - it carries what the command asks for
    pass


def asked_by(command: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asks a study for."""

    def study(table: Any, **asked: Any) -> Any:
        raise Asked({"table": table, **asked})

    monkeypatch.setattr("arboleda.study.Study", study)
    with pytest.raises(Asked) as found:
        main(shlex.split(command)[1:])
    said: dict[str, Any] = found.value.args[0]
    return said


@pytest.mark.parametrize(
    "options",
    [
        {},
        {**ALL},
        {"cost_matrix": [[0.0, 5.0], [1.0, 0.0]]},
        {"time": "when", "cv": "time:4", "by": ["[1]", '["a"]', "true"]},
        {"cv": "bootstrap:30", "by": ["x", "y"], "models": "all"},
        {"cv": "5x3", "preset": "best", "time_budget": "15m", "test_size": 0.25},
    ],
)
@pytest.mark.parametrize("table", ["my table.csv", "-t.csv"])
def test_the_command_asks_for_the_same(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], table: str
) -> None:
    settings = make_settings(**options)
    told = {"table": table, "target": "--y", "task": "binary", "metric": "mcc"}
    command = _make_command({**told, "seed": settings.seed, "settings": settings.to_dict()})
    found = asked_by(command, monkeypatch)
    assert found.pop("table").removeprefix("./") == table
    assert found.pop("target") == "--y"
    assert {name for name, value in found.items() if value is not None} <= {*NAMES}
    again = make_settings(**{name: found[name] for name in NAMES})
    assert again == replace(settings, task="classification", metric="mcc")


def test_what_is_usual_is_not_said() -> None:
    told = {"table": "t.csv", "target": "y", "task": "regression", "metric": "r2", "seed": 0}
    command = _make_command({**told, "settings": make_settings().to_dict()})
    assert command == ("arboleda study t.csv --target y --task regression --metric r2 --seed 0")


def test_every_setting_has_its_flag() -> None:
    """Whatever is asked for is told in the facts, and nothing else."""
    assert set(make_settings().to_dict()) == set(NAMES) - {"jobs", "max_table_size"}
