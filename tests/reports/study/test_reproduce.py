"""The command of the page reproduces the study: it has the same options."""

import shlex
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
    "score_by": ["a, b", " c", "[d]"],
    "where": ["-a >= 3", "b == 'x, y' or c is missing", "[d] != 1"],
    "drop_missing": True,
    "drop_duplicates": True,
    "merge": {"it's": {"new": ['"old"', "-x"]}, "b": {"1": ["2"]}},
    "drop": ["-e", "f, g"],
    "lang": "es",
    "fit_timeout": 1e17,
    "fit_memory": "3GB",
    "random_state": 7,
}


class StudyCalled(Exception):  # noqa: N818 - it carries the options of the command
    pass


def parse_command(command: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the options with which a command calls a study."""

    def study(table: Any, **options: Any) -> Any:
        raise StudyCalled({"table": table, **options})

    monkeypatch.setattr("arboleda.study.Study", study)
    with pytest.raises(StudyCalled) as found:
        main(shlex.split(command)[1:])
    call: dict[str, Any] = found.value.args[0]
    return call


@pytest.mark.parametrize(
    "options",
    [
        {},
        {**ALL},
        {"cost_matrix": [[0.0, 5.0], [1.0, 0.0]]},
        {"time": "when", "cv": "time:4", "score_by": ["[1]", '["a"]', "true"]},
        {"cv": "bootstrap:30", "score_by": ["x", "y"], "models": "all"},
        {"cv": "5x3", "preset": "best", "time_budget": "15m", "test_size": 0.25},
    ],
)
@pytest.mark.parametrize("table", ["my table.csv", "-t.csv"])
def test_the_command_has_the_same_options(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], table: str
) -> None:
    settings = make_settings(**options)
    facts = {"table": table, "target": "--y", "task": "binary", "metric": "mcc"}
    command = _make_command(
        {**facts, "seed": settings.random_state, "settings": settings.to_dict()}
    )
    found = parse_command(command, monkeypatch)
    assert found.pop("table").removeprefix("./") == table
    assert found.pop("target") == "--y"
    assert {name for name, value in found.items() if value is not None} <= {*NAMES}
    again = make_settings(**{name: found[name] for name in NAMES})
    assert again == settings.model_copy(update={"task": "classification", "metric": "mcc"})


def test_defaults_are_omitted() -> None:
    facts = {"table": "t.csv", "target": "y", "task": "regression", "metric": "r2", "seed": 0}
    command = _make_command({**facts, "settings": make_settings().to_dict()})
    assert command == ("arboleda study t.csv --target y --task regression --metric r2 --seed 0")


def test_every_setting_has_its_flag() -> None:
    """The facts hold all options, and nothing else."""
    assert set(make_settings().to_dict()) == set(NAMES) - {"n_jobs", "max_table_size"}
