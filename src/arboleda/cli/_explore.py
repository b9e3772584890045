"""``arboleda explore``: exploration of a table before modelling."""

from pathlib import Path
from typing import Annotated

import typer

from arboleda.cli._app import CtrlCError, print_line

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
        typer.Option(help="The column to predict later, if any."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder or path (.html) of the page. [TABLE-explored.html]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and maps.")] = 0,
    lang: Annotated[str, typer.Option(help="Language of the page: en or es.")] = "en",
    max_table_size: Annotated[
        str | None,
        typer.Option(
            help="Maximum uncompressed size of the table, as in 2GB. [a quarter of the available "
            "memory]"
        ),
    ] = None,
) -> None:
    """Explore TABLE before modelling: columns, gaps, relations, structure and outliers.

    Models are not compared; use a study for that.
    """
    try:
        from arboleda.study import explore as explore_table
        from arboleda.study.artifacts.files import check_not_source, choose_page_path

        if out is not None:
            check_not_source(out, table)
        result = explore_table(
            table, target, seed=seed, progress=True, max_table_size=max_table_size, lang=lang
        )
        page = result.save(choose_page_path(out, result.default_path))
    except KeyboardInterrupt:
        raise CtrlCError("nothing was written") from None
    print_line(f"Page: {page}")
