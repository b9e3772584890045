"""``arboleda explain``: what drives the best model of a study, on a page."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, tell

__all__ = ["explain"]


def explain(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="The folder of a study.")],
    *,
    row: Annotated[
        int | None,
        typer.Option(
            help="A row of the study's table, its data rows counted from 1. [the whole model]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The page. [STUDY/explained.html, STUDY/explained-row-N.html]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and shufflings.")] = 0,
) -> None:
    """Explain the best model of STUDY in plain words, or what it says of one row, on a page."""
    try:
        from arboleda.explanations import explain_study

        found = explain_study(folder, row, seed=seed, progress=True)
        page = found.save(out or found.default_path)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    tell(f"Page: {page}")
