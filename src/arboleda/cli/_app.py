"""Parts that several commands share: the application, and what Ctrl-C becomes."""

from typing import Annotated

import typer

import arboleda
from arboleda._visible import visible

__all__ = ["CtrlCError", "app", "tell"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Ensemble learning on tables.",
)


class CtrlCError(Exception):
    """Ctrl-C, under a name that typer does not answer itself; its text tells what is left."""


def tell(line: str, *, err: bool = False) -> None:
    """Print a line; control characters of names and labels in it cannot act on the terminal."""
    typer.echo(visible(line), err=err)


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
