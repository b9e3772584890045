"""Progress of a page's steps: a spinner in a terminal, plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status
from rich.text import Text

from arboleda._visible import visible

__all__ = ["Progress"]


class Progress:
    """Shows the current step on standard error, if ``show``."""

    def __init__(self, show: bool) -> None:
        self._console = Console(stderr=True, highlight=False) if show else None

    def print_line(self, line: str) -> None:
        """Print one line."""
        if self._console is not None:
            self._console.print(Text(visible(line)), soft_wrap=True)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show the step while it runs; plain output has a line for it."""
        if self._console is None:
            yield
        elif self._console.is_terminal:
            with Status(Text(visible(what)), console=self._console):
                yield
        else:
            self.print_line(what)
            yield
