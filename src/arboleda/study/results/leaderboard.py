"""The leaderboard as a table for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from arboleda._visible import visible
from arboleda.study.execution.progress import format_duration, format_mean_and_sd, format_number
from arboleda.study.results.facts import params_text

__all__ = ["caveats", "failures", "leaderboard_table", "preparation"]


# Terminal widths from which the time and the chosen parameters are shown.
_TIMED, _WIDE = 60, 120
# Descriptions of the rows that remain after the steps of a recipe.
_STEPS = {
    "drop_missing": "without missing values",
    "drop_duplicates": "without duplicates",
    "where": "where {condition}",
}


def leaderboard_table(facts: Mapping[str, Any], *, width: int) -> Table:
    """Return a table of models, best first, with scores, and time and parameters if they fit."""
    study = facts["study"]
    title = f"{study['table']}, target {study['target']}: {study['metric_label']}"
    table = Table(title=Text(visible(title)))
    table.add_column("#", justify="right", no_wrap=True)
    # Names are folded before numbers are.
    table.add_column("Model", overflow="fold")
    for name in ("Cross-validated", "Test", "Search")[: 3 if width >= _TIMED else 2]:
        table.add_column(name, no_wrap=True)
    if width >= _WIDE:
        table.add_column("Parameters", overflow="fold")
    for rank, model in enumerate(facts["models"], start=1):
        cells = [Text(str(rank)), Text(visible(model["name"])), *_cells(model, study["metric"])]
        cells.append(Text(visible(params_text(model))))
        table.add_row(*cells[: len(table.columns)])
    return table


def caveats(facts: Mapping[str, Any]) -> list[str]:
    """Return the sentences on selection bias and on models as good as the winner."""
    return [facts[part]["sentence"] for part in ("selection", "comparison") if facts[part]]


def preparation(facts: Mapping[str, Any]) -> str | None:
    """Return a sentence on the rows that the recipe left; None if it dropped none."""
    recipe, data = facts["data"].get("recipe"), facts["data"]
    if recipe is None or recipe["n_rows"] == data["n_rows"]:
        return None
    steps = [
        f"{_STEPS[step['kind']].format(**step)}, {step['rows_after']:,}"
        for step in recipe["steps"]
        if step["kind"] in _STEPS
    ]
    return (
        f"{data['n_rows']:,} of {recipe['n_rows']:,} rows stay after the preparation of the table: "
        f"{'; '.join(steps)}."
    )


def failures(facts: Mapping[str, Any]) -> list[str]:
    """Return a line per model that failed, was not saved, or was skipped for lack of time."""
    failed = [f"{m['name']} failed: {m['error']}" for m in facts["models"] if m["error"]]
    lost = [m for m in facts["models"] if m["not_kept"]]
    late = [_late(left) for left in facts.get("search", {}).get("left_out", [])]
    return failed + [f"{m['name']} is not kept: {m['not_kept']}" for m in lost] + late


def _late(left: Mapping[str, Any]) -> str:
    n = left["candidates"]
    if left["whole"]:
        return f"{left['name']} was not tried: it did not fit in the time budget."
    what = "1 candidate was" if n == 1 else f"{n} candidates were"
    return f"{left['name']}: {what} not tried for want of time."


def _cells(model: Mapping[str, Any], metric: str) -> list[Text]:
    time = Text(format_duration(model["timing"]["search_s"]))
    if model["status"] == "failed":
        return [Text("failed"), Text(""), time]
    cv, test = model["cv"], model["test"]["metrics"][metric]
    return [Text(format_mean_and_sd(cv["mean"], cv["sd"])), Text(format_number(test)), time]
