"""The command ``arboleda``: it parses, calls and prints, and nothing else."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import arboleda

try:
    import typer
except ModuleNotFoundError:
    sys.exit("arboleda: error: the command needs more packages: pip install 'arboleda[study]'")

if TYPE_CHECKING:
    from arboleda.study import StudyResult

__all__ = ["main"]

# Exit codes: 2 for what the user can mend, 130 for Ctrl-C, as shells have it.
_USER_ERROR, _INTERRUPTED = 2, 130


class _CtrlCError(Exception):
    """Ctrl-C, under a name that typer does not answer itself; its text tells what is left."""


app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Ensemble learning on tables.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"arboleda {arboleda.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell the version.")
    ] = False,
) -> None:
    """Ensemble learning on tables."""


@app.command()
def study(
    table: Annotated[
        str,
        typer.Argument(
            help="A CSV or Parquet file, or a bundled table: breast_cancer, diabetes, digits, "
            "iris, wine."
        ),
    ],
    *,
    target: Annotated[str, typer.Option(help="The column to predict.")],
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
            "log_loss; rmse, mae, r2. [accuracy; rmse]"
        ),
    ] = None,
    models: Annotated[
        str,
        typer.Option(
            help="Which models to try, separated by commas: core (the textbook's), all, or keys "
            "such as cart,svm; a wrong one lists them."
        ),
    ] = "core",
    seed: Annotated[int, typer.Option(help="Seed of the split, the folds and the models.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Number of processes. [one per core; 1 for small tables]")
    ] = None,
) -> None:
    """Study TABLE: describe it, tune and compare models, test the best of each, write a report.

    A killed study goes on where it was when the same command is run again.
    """
    try:
        # Loading takes a second, in which Ctrl-C is as likely as later.
        from arboleda.study import Study

        wanted = Study(
            table,
            target=target,
            out=out,
            task=task,
            metric=metric,
            models=models,
            seed=seed,
            jobs=jobs,
        )
        result = wanted.run(progress=True)
    except KeyboardInterrupt:
        kept = "what is done is kept, run the same command to go on"
        raise _CtrlCError(kept) from None
    _print_leaderboard(result)


@app.command()
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
    out: Annotated[Path | None, typer.Option(help="The page. [TABLE-explored.html]")] = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and maps.")] = 0,
) -> None:
    """Look at TABLE before modelling: columns, gaps, relations, structure and odd rows, on a page.

    No model is compared; that is what a study does.
    """
    try:
        from arboleda.explore import explore as explore_table
        from arboleda.study.pages import refuse_the_table

        if out is not None:
            refuse_the_table(out, table)
        found = explore_table(table, target, seed=seed, progress=True)
        page = found.save(out or found.default_path)
    except KeyboardInterrupt:
        raise _CtrlCError("nothing was written") from None
    typer.echo(f"Page: {page}")


@app.command()
def predict(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="The folder of a study.")],
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="A CSV or Parquet file with the study's columns."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file, .csv or .parquet. [TABLE-predicted.csv]"),
    ] = None,
) -> None:
    """Predict the target of each row of TABLE by the best model of STUDY, with probabilities."""
    try:
        from arboleda.study.predictions import predict_table

        found = predict_table(folder, table, out, progress=True)
    except KeyboardInterrupt:
        raise _CtrlCError("nothing was written") from None
    for note in found.notes:
        typer.echo(note, err=True)
    typer.echo(f"Predictions: {found.path} ({found.n_rows:,} rows, by {found.name})")


@app.command()
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
        raise _CtrlCError("nothing was written") from None
    typer.echo(f"Page: {page}")


def _print_leaderboard(result: "StudyResult") -> None:
    from rich.console import Console

    from arboleda.study.leaderboard import failures, leaderboard_table

    console = Console(highlight=False)
    console.print(leaderboard_table(result.facts, width=console.width))
    for line in failures(result.facts):
        typer.echo(line)
    typer.echo(f"Report: {result.report}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors become one sentence on standard error and an exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the command's name; by default those of the process.

    Raises
    ------
    SystemExit
        Always: 0 if all went well, 2 if the input or the folder cannot be used, 130 on Ctrl-C.
    """
    sys.exit(_run(list(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: list[str]) -> int:
    _take_any_text()
    try:
        from arboleda.study.errors import StudyError
    except KeyboardInterrupt:
        return _interrupted()
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _tell_warning
                app(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            return _interrupted()
        return stop.code if isinstance(stop.code, int) else 0
    except StudyError as error:
        return _fail(str(error))
    except _CtrlCError as interruption:
        return _interrupted(f"; {interruption}")
    except OSError as error:
        _silence_output()
        return _fail(f"The output cannot be written: {error.strerror or error}.")
    return 0


def _tell_warning(message: Warning | str, *_: object, **__: object) -> None:
    """One line for the user, without the place in the code."""
    typer.echo(f"arboleda: warning: {' '.join(str(message).split())}", err=True)


def _take_any_text() -> None:
    """Let characters that the terminal's encoding lacks become question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(sentence: str) -> int:
    typer.echo(f"arboleda: error: {' '.join(sentence.split())}", err=True)
    return _USER_ERROR


def _interrupted(left: str = "") -> int:
    typer.echo(f"arboleda: interrupted{left}.", err=True)
    return _INTERRUPTED


def _silence_output() -> None:
    """Give standard output a way to go, or the interpreter's last flush fails again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
