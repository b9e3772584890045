"""Shared parts of the commands: the application and the handling of Ctrl-C."""

from typing import Annotated

import typer

import arboleda
from arboleda._utils.text import visible

__all__ = ["CtrlCError", "app", "print_line"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Ensemble learning on tables.",
)


class CtrlCError(Exception):
    """Ctrl-C, as an exception that typer does not handle; its text describes what remains."""


def print_line(line: str, *, err: bool = False) -> None:
    """Print a line with control characters escaped."""
    typer.echo(visible(line), err=err)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"arboleda {arboleda.__version__}")
        raise typer.Exit


@app.callback()
def _set_up(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Ensemble learning on tables."""
