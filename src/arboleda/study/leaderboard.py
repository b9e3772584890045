"""The leaderboard as a table for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from arboleda.study.facts import params_text
from arboleda.study.progress import duration, number, plus_minus

__all__ = ["leaderboard_table"]


def leaderboard_table(facts: Mapping[str, Any]) -> Table:
    """Models from best to worst: cross-validated and test score, time, chosen parameters."""
    study = facts["study"]
    title = f"{study['table']}, target {study['target']}: {study['metric_label']}"
    table = Table(title=Text(title))
    table.add_column("#", justify="right")
    for name in ("Model", "Cross-validated", "Test", "Time"):
        table.add_column(name, no_wrap=True)
    table.add_column("Parameters", overflow="fold")
    for rank, model in enumerate(facts["models"], start=1):
        table.add_row(str(rank), Text(model["name"]), *_cells(model, study["metric"]))
    return table


def _cells(model: Mapping[str, Any], metric: str) -> list[Text]:
    if model["status"] == "failed":
        return [Text("failed"), Text(""), Text(""), Text(model["error"])]
    cv, test = model["cv"], model["test"]["metrics"][metric]
    return [
        Text(plus_minus(cv["mean"], cv["sd"])),
        Text(number(test)),
        Text(duration(model["timing"]["search_s"])),
        Text(params_text(model)),
    ]
