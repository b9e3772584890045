"""The command ``arboleda``: parsing, dispatch and output only.

One module for each subcommand, such as ``_study``; ``_app`` is the application, and ``_run`` turns
errors into one sentence and an exit code. What a command does is in `arboleda.study`.
"""

import sys
from collections.abc import Sequence

__all__ = ["main"]

_EXTRA_PACKAGES = ("typer", "click", "rich", "pyarrow", "pydantic", "jinja2")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors become one sentence on standard error and an exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments of the command; by default, those of the process.

    Raises
    ------
    SystemExit
        Always: 0 on success, 2 if the input or the folder cannot be used, 130 on Ctrl-C.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # Ctrl-C may also arrive while modules are loading.
        from arboleda.cli._run import run
    except KeyboardInterrupt:
        sys.stderr.write("arboleda: interrupted.\n")
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA_PACKAGES:
            raise
        sys.exit("arboleda: error: the command needs more packages: pip install 'arboleda[study]'")
    sys.exit(run(words))
