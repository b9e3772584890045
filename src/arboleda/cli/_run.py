"""Execution of one command line: exit codes and one-sentence errors."""

import io
import os
import sys
import warnings
from typing import Any

import typer

from arboleda._utils.errors import StudyError
from arboleda.cli._app import CtrlCError, app, print_line
from arboleda.cli._commands import compare, explain, explore, export, page, predict
from arboleda.cli._models import models
from arboleda.cli._study import GroupedCommand, study
from arboleda.study.config.other_names import find_name

__all__ = ["run"]

# In the order of the help text.
COMMANDS = (study, explore, predict, page, export, explain, compare, models)

# Exit codes: 2 for errors of the user, 130 for Ctrl-C, as in shells.
_USER_ERROR, _INTERRUPTED = 2, 130

# The base class of usage errors, which typer does not export.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__base__  # type: ignore[assignment]

for command in COMMANDS:
    app.command(cls=GroupedCommand)(command)


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code; errors become one sentence."""
    _replace_unencodable()
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _print_warning
                code = app(arguments, standalone_mode=False)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as stop:
        code = stop.code
    except _UsageError as error:
        return _report_usage_error(error)
    except typer.Abort:
        return _report_interruption()
    except StudyError as error:
        return _report_error(str(error))
    except CtrlCError as interruption:
        return _report_interruption(f"; {interruption}")
    except MemoryError:
        return _report_error(
            "Out of memory; use fewer rows or columns, or a computer with more memory."
        )
    except OSError as error:
        _silence_output()
        return _report_error(f"The output cannot be written: {error.strerror or error}.")
    if code == _INTERRUPTED:
        return _report_interruption()
    return code if isinstance(code, int) else 0


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line, without its location in the code."""
    print_line(f"arboleda: warning: {' '.join(str(message).split())}", err=True)


def _report_usage_error(error: typer.BadParameter) -> int:
    """Print a usage error with the usage of the command."""
    _name_option(error)
    text = io.StringIO()
    error.show(text)
    for line in text.getvalue().removesuffix("\n").split("\n"):
        print_line(line, err=True)
    return error.exit_code


def _name_option(error: Any) -> None:
    """Add the option of the command to the error on one that another library calls differently."""
    given = getattr(error, "option_name", None)
    if given is None or error.ctx is None:
        return
    ours = find_name(given.lstrip("-").replace("-", "_"))
    flag = next((p.opts[0] for p in error.ctx.command.params if p.name == ours), None)
    if flag is not None:
        error.message, error.possibilities = f"{error.message}; here it is {flag}", None


def _replace_unencodable() -> None:
    """Replace characters that the terminal cannot encode by question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _report_error(sentence: str) -> int:
    print_line(f"arboleda: error: {' '.join(sentence.split())}", err=True)
    return _USER_ERROR


def _report_interruption(remains: str = "") -> int:
    print_line(f"arboleda: interrupted{remains}.", err=True)
    return _INTERRUPTED


def _silence_output() -> None:
    """Redirect standard output to the null device, to let the final flush succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
