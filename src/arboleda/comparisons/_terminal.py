"""The comparison of studies as a table for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from arboleda._numbers import plain
from arboleda._visible import visible

__all__ = ["make_comparison_table"]


def make_comparison_table(facts: Mapping[str, Any]) -> Table:
    """Return the leaderboards side by side, with cross-validated and test scores."""
    table = Table(title=Text("Cross-validated / test"))
    table.add_column("Model", overflow="fold")
    for study in facts["studies"]:
        heading = f"{study['name']}: {study['metric_label']}"
        table.add_column(Text(visible(heading), overflow="fold"), justify="right")
    for row in facts["leaderboard"]:
        cells = [Text(visible(row["name"]))]
        for cell in row["cells"]:
            scores = "" if cell is None else f"{plain(cell['cv'])} / {plain(cell['test'])}"
            best = cell is not None and cell["rank"] == 1
            cells.append(Text(visible(scores), style="bold" if best else ""))
        table.add_row(*cells)
    return table
