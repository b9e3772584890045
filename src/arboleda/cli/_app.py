"""Shared parts of the commands: the application and the handling of Ctrl-C."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import arboleda
from arboleda._utils.text import visible

__all__ = ["CtrlCError", "app", "print_line", "without_collection"]


class FullHelpGroup(TyperGroup):
    """A group whose help has the whole first sentence of each command."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in the order in which they were added."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            text = (command and command.help) or ""
            rows.append((name, " ".join(text.split("\n\n")[0].split())))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    cls=FullHelpGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 120},
    help="Ensemble learning on tables.",
)


class CtrlCError(Exception):
    """Ctrl-C, as an exception that typer does not handle; its text describes what remains."""


@contextmanager
def without_collection() -> Iterator[None]:
    """Load modules without the garbage collector, which takes a tenth of the time in vain."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


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
