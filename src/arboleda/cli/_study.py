"""``arboleda study``: from a table to a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arboleda.cli._app import CtrlCError, print_line
from arboleda.cli._study_options import accept_study_options
from arboleda.study.errors import StudyError

if TYPE_CHECKING:
    from arboleda.study import StudyResult

__all__ = ["study"]


@accept_study_options
def study(
    table: Annotated[
        str | None,
        typer.Argument(
            help="A CSV or Parquet file, or a bundled table: breast_cancer, diabetes, digits, "
            "iris, wine.",
            metavar="TABLE",
            show_default=False,
        ),
    ] = None,
    *,
    target: Annotated[
        str | None, typer.Option(help="The column to predict.", metavar="COLUMN")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML file with these options, such as study.toml in the folder of a study; "
            "options of the command line take precedence.",
        ),
    ] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option("--out", help="Output folder. [studies/TABLE-TARGET]", metavar="FOLDER"),
    ] = None,
    **options: Any,
) -> None:
    """Study TABLE: describe it, tune and compare models, test the best of each, write a report.

    To resume an interrupted study, run the same command again.
    """
    options |= {"table": table, "target": target, "output_dir": output_dir}
    # A repeatable option that is not given is an empty list.
    options = {name: None if value == [] else value for name, value in options.items()}
    if config is None:
        _check_required(table, target)
    try:
        # Ctrl-C may also arrive while modules are loading.
        from arboleda.study import Study

        requested = Study(**options) if config is None else Study.from_config(config, **options)
        result = requested.run(progress=True)
    except KeyboardInterrupt:
        kept = "finished work is saved, run the same command to resume"
        raise CtrlCError(kept) from None
    except MemoryError:
        raise StudyError(
            "Out of memory: use fewer rows or columns, fewer processes (--jobs 1), or a computer "
            "with more memory. Finished work is saved; the same command resumes the study."
        ) from None
    _print_leaderboard(result)


def _check_required(table: str | None, target: str | None) -> None:
    if table is None:
        raise StudyError(
            "Missing argument TABLE; pass a table, or --config with a file that names one."
        )
    if target is None:
        raise StudyError(
            "Missing option '--target'; pass the column to predict, or --config with a file that "
            "names one."
        )


def _print_leaderboard(result: "StudyResult") -> None:
    from rich.console import Console

    from arboleda.study.results.leaderboard import (
        caveats,
        failures,
        leaderboard_table,
        preparation,
    )

    console = Console(highlight=False)
    console.print(leaderboard_table(result.facts, width=console.width))
    prepared = preparation(result.facts)
    if prepared is not None:
        typer.echo(prepared)
    for caution in result.facts["cautions"]:
        print_line(f"Caution: {caution['text']}")
    for line in (*caveats(result.facts), *failures(result.facts)):
        print_line(line)
    print_line(f"Report: {result.report}")
