"""``arboleda compare``: studies beside each other."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, tell

__all__ = ["compare"]


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="STUDY...", help="The folders of two studies or more.")
    ],
    *,
    out: Annotated[Path | None, typer.Option(help="The page. [compared.html]")] = None,
) -> None:
    """Compare studies: what was asked, what came out, and whose best model is better."""
    try:
        from rich.console import Console

        from arboleda.comparisons import compare_studies
        from arboleda.comparisons._terminal import comparison_table

        found = compare_studies(folders, progress=True)
        page = found.save(out or found.default_path)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    Console(highlight=False).print(comparison_table(found.facts))
    for sentence in found.facts["sentences"]:
        tell(sentence)
    tell(f"Page: {page}")
