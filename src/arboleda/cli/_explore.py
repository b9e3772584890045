"""``arboleda explore``: a page about a table, before modelling."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, tell

__all__ = ["explore"]


def explore(
    table: Annotated[
        str,
        typer.Argument(
            help="A CSV or Parquet file, or a bundled table: breast_cancer, diabetes, digits, "
            "iris, wine."
        ),
    ],
    *,
    target: Annotated[
        str | None,
        typer.Option(help="The column to be predicted later, if there is one."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the page, or the page itself, .html. [TABLE-explored.html, here]"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and maps.")] = 0,
    max_table_size: Annotated[
        str | None,
        typer.Option(
            help="How large the table may be unpacked, as in 2GB. [a quarter of the memory that "
            "is available]"
        ),
    ] = None,
) -> None:
    """Look at TABLE before modelling: columns, gaps, relations, structure and odd rows, on a page.

    No model is compared; that is what a study does.
    """
    try:
        from arboleda.explore import explore as explore_table
        from arboleda.study.artifacts.text_files import page_path, refuse_the_table

        if out is not None:
            refuse_the_table(out, table)
        found = explore_table(
            table, target, seed=seed, progress=True, max_table_size=max_table_size
        )
        page = found.save(page_path(out, found.default_path))
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    tell(f"Page: {page}")
