"""``arboleda study``: from a table to a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arboleda.cli._app import CtrlCError, tell
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
            help="A TOML file of these options, as study.toml in a study's folder; what is given "
            "here goes before it."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files. [studies/TABLE-TARGET]")
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="classification or regression. [decided from the target, and told]"),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="What models are chosen by: accuracy, balanced_accuracy, f1_macro, mcc, roc_auc, "
            "log_loss, cost (by --cost-matrix); rmse, mae, r2. [accuracy; rmse]"
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            help="Which models to try, separated by commas: core (the textbook's), all, or keys "
            "such as cart,svm; a wrong one lists them. [core]"
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Which models are tried where none are named, and how hard each is tuned: quick, "
            "thesis or best. [quick]"
        ),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            help="How candidates are proposed: grid, halving, random:30 or tpe:30 (so many drawn "
            "for each model). [as the preset does]"
        ),
    ] = None,
    cv: Annotated[
        str | None,
        typer.Option(
            help="Cross-validation: 5 folds, 5x3 (three times five), group:5, time:5, loo (leave "
            "one out) or bootstrap:50 (.632+). [5]"
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(help="A column whose equal values stay on one side of every split."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="A column of dates or numbers: learn from earlier rows, test on the latest."
        ),
    ] = None,
    test_size: Annotated[
        float | None, typer.Option(help="Share of the rows held out for the test. [0.2]")
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="A file of its own for the test, with TABLE's columns.")
    ] = None,
    time_budget: Annotated[
        str | None,
        typer.Option(help="How long the study may take, as in 90, 15m or 1h30m. [no limit]"),
    ] = None,
    cost_matrix: Annotated[
        str | None,
        typer.Option(
            help="Costs of wrong answers by true and predicted class: JSON such as "
            "'{\"bad\": {\"good\": 5}}' or '[[0, 5], [1, 0]]' (classes in sorted order), or a file "
            "of it. [1 each, right ones 0]"
        ),
    ] = None,
    reject_cost: Annotated[
        float | None,
        typer.Option(help="What it costs to leave a row undecided; rows that cost more are left."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Columns, separated by commas, for whose values scores are told apart."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="Use only rows that satisfy this, as in 'age >= 17 and country in US, Canada' or "
            "'age is not missing'; may be given several times: all must hold."
        ),
    ] = None,
    drop_missing: Annotated[
        bool | None, typer.Option(help="Drop rows with a missing value in any column.")
    ] = None,
    drop_duplicates: Annotated[
        bool | None, typer.Option(help="Drop rows that repeat an earlier row in all columns.")
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            help="Make one value of several, as in 'education: 11th, 12th -> dropout'; may be "
            "given several times, new data are merged alike."
        ),
    ] = None,
    drop: Annotated[
        str | None, typer.Option(help="Columns not to use, separated by commas.")
    ] = None,
    lang: Annotated[
        str | None, typer.Option(help="What the report speaks: en, or es for Spanish. [en]")
    ] = None,
    member_time: Annotated[
        str | None, typer.Option(help="How long a single fit may take, as in 60s or 10m.")
    ] = None,
    member_memory: Annotated[
        str | None, typer.Option(help="How much memory a single fit may take, as in 2GB.")
    ] = None,
    max_table_size: Annotated[
        str | None,
        typer.Option(
            help="How large the table may be unpacked, as in 2GB. [a quarter of the memory that "
            "is available]"
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

    A killed study goes on where it was when the same command is run again.
    """
    asked = {name: value for name, value in locals().items() if name != "config"}
    # An option that may be given several times is an empty list where it is not given.
    asked |= {name: asked[name] or None for name in ("where", "merge")}
    if config is None:
        _refuse_without(table, target)
    try:
        # Loading takes a second, in which Ctrl-C is as likely as later.
        from arboleda.study import Study

        wanted = Study(**asked) if config is None else Study.from_config(config, **asked)
        result = wanted.run(progress=True)
    except KeyboardInterrupt:
        kept = "what is done is kept, run the same command to go on"
        raise CtrlCError(kept) from None
    except MemoryError:
        raise StudyError(
            "There is not memory enough: take fewer rows or columns, fewer processes (--jobs 1), "
            "or a computer with more. What is done is kept; the same command goes on."
        ) from None
    _print_leaderboard(result)


def _refuse_without(table: str | None, target: str | None) -> None:
    if table is None:
        raise StudyError(
            "Missing argument TABLE; name a table, or a file with --config that names one."
        )
    if target is None:
        raise StudyError(
            "Missing option '--target'; name the column to predict, or a file with --config that "
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
        tell(f"Caution: {caution['text']}")
    for line in (*caveats(result.facts), *failures(result.facts)):
        tell(line)
    tell(f"Report: {result.report}")
