"""``arboleda compare``: comparison of studies."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, print_line

__all__ = ["compare"]


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="STUDY...", help="Folders of at least two studies.")
    ],
    *,
    out: Annotated[Path | None, typer.Option(help="Path of the page. [compared.html]")] = None,
) -> None:
    """Compare studies: settings, leaderboards and best models."""
    try:
        from rich.console import Console

        from arboleda.comparisons import compare_studies
        from arboleda.comparisons._terminal import make_comparison_table

        result = compare_studies(folders, progress=True)
        page = result.save(out or result.default_path)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    Console(highlight=False).print(make_comparison_table(result.facts))
    for sentence in result.facts["sentences"]:
        print_line(sentence)
    print_line(f"Page: {page}")
