"""The command ``arboleda``: it parses, calls and prints, and nothing else."""

import sys
from collections.abc import Sequence

__all__ = ["main"]

_OF_THE_EXTRA = ("typer", "click", "rich", "pyarrow", "jinja2")


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
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # Loading takes a moment, in which Ctrl-C is as likely as later.
        from arboleda.cli._run import run
    except KeyboardInterrupt:
        sys.stderr.write("arboleda: interrupted.\n")
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name not in _OF_THE_EXTRA:
            raise
        sys.exit("arboleda: error: the command needs more packages: pip install 'arboleda[study]'")
    sys.exit(run(words))
