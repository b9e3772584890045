"""Running one command line: its exit code, and one sentence for whatever went wrong."""

import io
import os
import sys
import warnings

import typer

from arboleda.cli._app import CtrlCError, app, tell
from arboleda.cli._compare import compare
from arboleda.cli._explain import explain
from arboleda.cli._explore import explore
from arboleda.cli._export import export
from arboleda.cli._predict import predict
from arboleda.cli._study import study
from arboleda.study.errors import StudyError

__all__ = ["run"]

# In the order in which help lists them.
COMMANDS = (study, explore, predict, export, explain, compare)

# Exit codes: 2 for what the user can mend, 130 for Ctrl-C, as shells have it.
_USER_ERROR, _INTERRUPTED = 2, 130

# Errors of usage, which typer exports only by the name of one of them.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__base__  # type: ignore[assignment]

for command in COMMANDS:
    app.command()(command)


def run(arguments: list[str]) -> int:
    """Run the command line and give its exit code; errors become one sentence."""
    _take_any_text()
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _tell_warning
                code = app(arguments, standalone_mode=False)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as stop:
        code = stop.code
    except _UsageError as error:
        return _show(error)
    except typer.Abort:
        return _interrupted()
    except StudyError as error:
        return _fail(str(error))
    except CtrlCError as interruption:
        return _interrupted(f"; {interruption}")
    except MemoryError:
        return _fail(
            "There is not memory enough for this; take fewer rows or columns, or a computer with "
            "more."
        )
    except OSError as error:
        _silence_output()
        return _fail(f"The output cannot be written: {error.strerror or error}.")
    if code == _INTERRUPTED:
        return _interrupted()
    return code if isinstance(code, int) else 0


def _tell_warning(message: Warning | str, *_: object, **__: object) -> None:
    """One line for the user, without the place in the code."""
    tell(f"arboleda: warning: {' '.join(str(message).split())}", err=True)


def _show(error: typer.BadParameter) -> int:
    """Tell what is wrong with the words of the command line, with how they are used."""
    text = io.StringIO()
    error.show(text)
    for line in text.getvalue().removesuffix("\n").split("\n"):
        tell(line, err=True)
    return error.exit_code


def _take_any_text() -> None:
    """Let characters that the terminal's encoding lacks become question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(sentence: str) -> int:
    tell(f"arboleda: error: {' '.join(sentence.split())}", err=True)
    return _USER_ERROR


def _interrupted(left: str = "") -> int:
    tell(f"arboleda: interrupted{left}.", err=True)
    return _INTERRUPTED


def _silence_output() -> None:
    """Give standard output a way to go, or the interpreter's last flush fails again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
