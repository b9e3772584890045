"""Progress of a study in a notebook: one line below the cell, which is updated in place."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from arboleda._utils.numbers import format_duration
from arboleda._utils.text import visible
from arboleda.study.execution.progress import Board, SilentWatcher, format_scores

if TYPE_CHECKING:
    from arboleda.study.execution.job import Job
    from arboleda.study.plan import Plan

__all__ = ["NotebookWatcher", "is_notebook"]

_PAUSE = 0.3  # seconds between updates


def is_notebook() -> bool:
    """Return whether the code runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class NotebookWatcher(SilentWatcher):
    """Shows how many fits are done, the best scores so far, and the time left."""

    def __init__(self) -> None:
        from IPython.display import display

        self._display = display
        self._handle: Any = None
        self._board: Board | None = None
        self._n_done = 0
        self._shown = 0.0

    def begin(self, plan: "Plan", jobs: "list[Job]", n_stored: int, to_come: int = 0) -> None:
        """Show what lies ahead."""
        self._board = Board(plan, jobs, to_come, self.deadline)
        self._started = time.monotonic()
        self._n_expected = len(jobs) + to_come + len(plan.models)
        self._show(f"{len(plan.models)} models, {self._n_expected:,} fits to do")

    def begin_round(self, jobs: "list[Job]", to_come: int = 0) -> None:
        """Make room for the next round."""
        if self._board is not None:
            self._board.begin_round(jobs, to_come)
            remaining = len(jobs) + to_come + len(self._board.plan.models)
            self._n_expected = self._n_done + remaining

    def record_result(self, job: "Job", result: dict[str, Any]) -> None:
        """Show the state if the last update is long enough ago."""
        if self._board is None or job.calibrates:
            return
        self._board.add(job, result)
        self._n_done += 1
        if time.monotonic() - self._shown >= _PAUSE:
            self._show(self._describe(self._board))

    def announce(self, line: str) -> None:
        """Show the line in an output of its own."""
        self._display({"text/plain": visible(line)}, raw=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._board is not None:
            duration = format_duration(time.monotonic() - self._started)
            state = "stopped after" if kind is not None else "done:"
            self._show(f"{state} {self._n_done:,} fits in {duration}")

    def _describe(self, board: Board) -> str:
        parts = [f"{self._n_done:,} of {self._n_expected:,} fits"]
        sign = 1.0 if board.plan.metric.greater_is_better else -1.0
        known = {m.name: s for m in board.plan.models if (s := board.best(m.key))}
        if known:
            name = max(known, key=lambda n: sign * sum(known[n]) / len(known[n]))
            parts.append(f"best so far {name}: {board.plan.metric.label} "
                         f"{format_scores(known[name])}")  # fmt: skip
        left = board.seconds_left()
        if left is not None:
            parts.append(f"about {format_duration(left)} left")
        return "; ".join(parts)

    def _show(self, line: str) -> None:
        self._shown = time.monotonic()
        content = {"text/plain": visible(line)}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
