"""``arboleda compare``: comparison of studies."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arboleda.cli._app import CtrlCError, print_line

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["compare"]


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="STUDY...", help="Folders of at least two studies.")
    ],
    *,
    out: Annotated[Path | None, typer.Option(help="Path of the page. [compared.html]")] = None,
    lang: Annotated[str, typer.Option(help="Language of the page: en or es.")] = "en",
) -> None:
    """Compare studies: settings, leaderboards and best models."""
    try:
        from rich.console import Console

        from arboleda.study import compare as compare_studies

        result = compare_studies(folders, progress=True, lang=lang)
        page = result.save(out or result.default_path)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    Console(highlight=False).print(_make_table(result.facts))
    for sentence in result.facts["sentences"]:
        print_line(sentence)
    print_line(f"Page: {page}")


def _make_table(facts: Mapping[str, Any]) -> "Table":
    """Return the leaderboards side by side, with cross-validated and test scores."""
    from rich.table import Table
    from rich.text import Text

    from arboleda._utils.numbers import plain
    from arboleda._utils.text import visible

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
