"""``arboleda explain``: explanation of the best model of a study."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, print_line

__all__ = ["explain"]


def explain(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="Folder of a study.")],
    *,
    row: Annotated[
        int | None,
        typer.Option(
            help="Number of a data row of the table, from 1. [explain the model as a whole]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Path of the page. [STUDY/explained.html, STUDY/explained-row-N.html]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and shuffles.")] = 0,
    lang: Annotated[
        str | None, typer.Option(help="Language of the page: en or es. [that of the study]")
    ] = None,
) -> None:
    """Explain the best model of STUDY, or its prediction for one row, on a page."""
    try:
        from arboleda.study import explain as explain_study

        result = explain_study(folder, row, seed=seed, progress=True, lang=lang)
        page = result.save(out or result.default_path)
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    print_line(f"Page: {page}")
