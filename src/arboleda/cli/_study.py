"""``arboleda study``: from a table to a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arboleda.cli._app import CtrlCError, print_line
from arboleda.study.errors import StudyError

if TYPE_CHECKING:
    from arboleda.study import StudyResult

__all__ = ["study"]


def study(
    table: Annotated[
        str | None,
        typer.Argument(
            help="A CSV or Parquet file, or a bundled table: breast_cancer, diabetes, digits, "
            "iris, wine.",
            show_default=False,
        ),
    ] = None,
    *,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with these options, such as study.toml in the folder of a study; "
            "options of the command line take precedence."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output folder. [studies/TABLE-TARGET]")] = None,
    task: Annotated[
        str | None,
        typer.Option(help="classification or regression. [inferred from the target]"),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Metric for choosing models: accuracy, balanced_accuracy, f1_macro, mcc, roc_auc, "
            "log_loss, cost (see --cost-matrix); rmse, mae, r2. [accuracy; rmse]"
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            help="Models to try, separated by commas: core (textbook models), all, or keys such as "
            "cart,svm; an invalid key lists all keys. [core]"
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Default models and search effort: quick, thesis or best. [quick]"),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            help="Search strategy: grid, halving, random:N or tpe:N (N trials per model). [set by "
            "the preset]"
        ),
    ] = None,
    cv: Annotated[
        str | None,
        typer.Option(
            help="Cross-validation: 5 (folds), 5x3 (5 folds, 3 repeats), group:5, time:5, loo "
            "(leave one out) or bootstrap:50 (.632+). [5]"
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column of groups; rows of one group stay on the same side of every split."
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="Column of dates or numbers: train on earlier rows, test on the latest."),
    ] = None,
    test_size: Annotated[
        float | None, typer.Option(help="Share of rows held out for the test. [0.2]")
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="Separate test file with the columns of TABLE.")
    ] = None,
    time_budget: Annotated[
        str | None,
        typer.Option(help="Time limit of the study, as in 90, 15m or 1h30m. [no limit]"),
    ] = None,
    cost_matrix: Annotated[
        str | None,
        typer.Option(
            help="Costs of predictions by true and predicted class: JSON such as "
            "'{\"bad\": {\"good\": 5}}' or '[[0, 5], [1, 0]]' (classes in sorted order), or a "
            "JSON file. [1 for errors, 0 for correct predictions]"
        ),
    ] = None,
    reject_cost: Annotated[
        float | None,
        typer.Option(
            help="Cost of leaving a row undecided; rows with a higher expected cost are left."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Also report scores per group of these columns, separated by commas."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="Use only rows that satisfy this condition, as in 'age >= 17 and country in US, "
            "Canada' or 'age is not missing'; may be repeated, all conditions must hold."
        ),
    ] = None,
    drop_missing: Annotated[
        bool | None, typer.Option(help="Drop rows with any missing value.")
    ] = None,
    drop_duplicates: Annotated[
        bool | None, typer.Option(help="Drop rows that repeat an earlier row in all columns.")
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            help="Merge several values into one, as in 'education: 11th, 12th -> dropout'; may be "
            "repeated; also applied to new data."
        ),
    ] = None,
    drop: Annotated[
        str | None, typer.Option(help="Columns to exclude, separated by commas.")
    ] = None,
    lang: Annotated[
        str | None, typer.Option(help="Language of the report: en, or es for Spanish. [en]")
    ] = None,
    member_time: Annotated[
        str | None, typer.Option(help="Time limit of a single fit, as in 60s or 10m.")
    ] = None,
    member_memory: Annotated[
        str | None, typer.Option(help="Memory limit of a single fit, as in 2GB.")
    ] = None,
    max_table_size: Annotated[
        str | None,
        typer.Option(
            help="Maximum uncompressed size of the table, as in 2GB. [a quarter of the available "
            "memory]"
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the split, the folds and the models. [0]")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Number of processes. [one per core; 1 for small tables]")
    ] = None,
) -> None:
    """Study TABLE: describe it, tune and compare models, test the best of each, write a report.

    To resume an interrupted study, run the same command again.
    """
    options = {name: value for name, value in locals().items() if name != "config"}
    # A repeatable option that is not given is an empty list.
    options |= {name: options[name] or None for name in ("where", "merge")}
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
