"""Progress of a study and of a page: live in a terminal, plain lines elsewhere."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as ProgressBar
from rich.status import Status
from rich.table import Table
from rich.text import Text

from arboleda._utils.numbers import format_duration, format_mean_and_sd, format_number
from arboleda._utils.text import count_noun, visible

if TYPE_CHECKING:
    from arboleda.study.execution.job import Job
    from arboleda.study.plan import Plan

__all__ = [
    "LiveWatcher",
    "PlainWatcher",
    "Progress",
    "SilentWatcher",
    "make_watcher",
]


class SilentWatcher:
    """Shows nothing."""

    deadline: float | None = None

    def begin(self, plan: "Plan", jobs: "list[Job]", n_stored: int, to_come: int = 0) -> None:
        """Show nothing."""

    def begin_round(self, jobs: "list[Job]", to_come: int = 0) -> None:
        """Show nothing."""

    def record_result(self, job: "Job", result: dict[str, Any]) -> None:
        """Show nothing."""

    def announce(self, line: str) -> None:
        """Show nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close nothing."""


class Board:
    """Counts and scores of the jobs done so far, and an estimate of the time left.

    ``deadline``: the end of the time budget, by `time.monotonic`; None without one.
    """

    def __init__(
        self, plan: "Plan", jobs: "list[Job]", to_come: int = 0, deadline: float | None = None
    ) -> None:
        self.plan = plan
        self._deadline = np.inf if deadline is None else deadline
        self.started: float = time.monotonic()
        self.todo: Counter[str] = Counter()
        self.total: Counter[str] = Counter()
        self.begin_round(jobs, to_come)
        self.tests: dict[str, bool] = {model.key: False for model in plan.models}
        self.errors: dict[str, str] = {}
        self._scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._seconds: dict[str, list[float]] = defaultdict(list)

    def begin_round(self, jobs: "list[Job]", to_come: int) -> None:
        """Expect these jobs instead of the remaining ones, and ``to_come`` after them."""
        self.total -= self.todo
        self.todo = Counter(job.model for job in jobs)
        self.total += self.todo
        self.to_come = to_come

    def add(self, job: "Job", result: dict[str, Any]) -> None:
        """Count one result."""
        if result["error"]:
            self.errors[job.model] = result["error"]
        else:
            self._seconds[job.model].append(sum(result["timing"].values()))
        if job.is_test:
            self.tests[job.model] = True
            return
        self.todo[job.model] -= 1
        if job.kind == "apparent":
            return
        score = result["scores"].get(self.plan.metric.key)
        # A low-fidelity score does not count as the candidate's score.
        if score is not None and not job.is_low_fidelity:
            self._scores[job.model][_get_candidate(job)].append(score)

    def scores(self, job: "Job") -> list[float]:
        """Return the fold scores of the job's candidate so far."""
        return self._scores[job.model][_get_candidate(job)]

    def best(self, model: str) -> list[float]:
        """Return the scores of the best complete candidate, or of the best incomplete one."""
        found = list(self._scores[model].values())
        complete = [s for s in found if len(s) == self.plan.n_folds] or found
        sign = 1.0 if self.plan.metric.greater_is_better else -1.0
        return max(complete, key=lambda s: sign * float(np.mean(s)), default=[])

    def seconds_left(self) -> float | None:
        """Estimate the time left at the pace so far, at most the budget's; None without data."""
        done = [s for known in self._seconds.values() for s in known]
        if not done or time.monotonic() == self.started:
            return None
        typical = float(np.mean(done))
        left = sum(
            n * (float(np.mean(self._seconds[m])) if self._seconds[m] else typical)
            for m, n in self.todo.items()
        )
        left += self.to_come * typical
        for model, tested in self.tests.items():
            if not tested:
                left += float(np.mean(self._seconds[model])) if self._seconds[model] else typical
        pace = sum(done) / (time.monotonic() - self.started)
        return max(0.0, min(left / max(pace, 1e-9), self._deadline - time.monotonic()))


def _get_candidate(job: "Job") -> str:
    """Return a key that identifies a candidate, also against itself with more rows."""
    return repr(job.params) + job.extent


class PlainWatcher(SilentWatcher):
    """One line per finished candidate and per tested model."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def begin(self, plan: "Plan", jobs: "list[Job]", n_stored: int, to_come: int = 0) -> None:
        """Show what lies ahead."""
        self._board = Board(plan, jobs, to_come, self.deadline)
        for line in _describe_start(plan, jobs, n_stored):
            self._print(line)

    def begin_round(self, jobs: "list[Job]", to_come: int = 0) -> None:
        """Show the next round."""
        self._board.begin_round(jobs, to_come)
        if jobs:
            self._print(f"The next round has {len(jobs):,} fits{_format_time_left(self._board)}.")

    def record_result(self, job: "Job", result: dict[str, Any]) -> None:
        """Show a candidate whose folds are complete, and tests."""
        board = self._board
        name = _get_model_names(board.plan)[job.model]
        if job.calibrates:
            if job.is_test:
                self._print(f"{name}: methods of calibration tried")
            return
        board.add(job, result)
        if result["error"]:
            self._print(f"{name}: failed ({result['error']})")
        elif job.is_test:
            score = result["scores"][board.plan.metric.key]
            self._print(f"{name}: test {board.plan.metric.label} {format_number(score)}")
        elif len(board.scores(job)) == board.plan.n_folds:
            params = ", ".join(f"{k}={v}" for k, v in job.params.items())
            what = f"{name} ({params})" if params else name
            self._print(f"{what}: {format_scores(board.scores(job))}{_format_time_left(board)}")

    def announce(self, line: str) -> None:
        """Print the line."""
        self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(Text(visible(line)), soft_wrap=True)


class LiveWatcher(SilentWatcher):
    """A table of the models that fills as scores come, a bar and the time left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = ProgressBar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
        )
        self._live = Live(console=console, refresh_per_second=4, transient=True)

    def begin(self, plan: "Plan", jobs: "list[Job]", n_stored: int, to_come: int = 0) -> None:
        """Show what lies ahead."""
        self._board = Board(plan, jobs, to_come, self.deadline)
        for line in _describe_start(plan, jobs, n_stored):
            self._console.print(Text(visible(line)))
        total = len(jobs) + to_come + len(plan.models)
        self._task: TaskID = self._bar.add_task("fits", total=total, left="")
        self._live.start()
        self._live.update(self._draw())

    def begin_round(self, jobs: "list[Job]", to_come: int = 0) -> None:
        """Make room for the next round."""
        self._board.begin_round(jobs, to_come)
        done = sum(self._board.total.values()) - sum(self._board.todo.values())
        total = done + len(jobs) + to_come + len(self._board.plan.models)
        self._bar.update(self._task, total=total)

    def record_result(self, job: "Job", result: dict[str, Any]) -> None:
        """Show the result."""
        if job.calibrates:
            return
        self._board.add(job, result)
        self._bar.update(self._task, advance=1, left=_format_time_left(self._board).strip("; "))
        self._live.update(self._draw())

    def announce(self, line: str) -> None:
        """Print the line above the table."""
        self._console.print(Text(visible(line)))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()

    def _draw(self) -> Group:
        board = self._board
        table = Table("Model", "Folds", f"{board.plan.metric.label} of the folds", "")
        for model in board.plan.models:
            done = board.total[model.key] - board.todo[model.key]
            scores = board.best(model.key)
            state = "tested" if board.tests[model.key] else ""
            state = "failed" if model.key in board.errors and not scores else state
            table.add_row(
                Text(model.name),
                f"{done}/{board.total[model.key]}",
                format_scores(scores) if scores else "",
                state,
            )
        return Group(table, self._bar)


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


def make_watcher(show: bool | None) -> SilentWatcher:
    """Return the watcher that suits a notebook or standard error, or the silent one.

    ``show`` None: the silent one unless this is a notebook or a terminal.
    """
    from arboleda.study.execution.notebook_progress import NotebookWatcher, is_notebook

    console = Console(stderr=True, highlight=False)
    in_notebook = is_notebook()
    if show is None:
        show = in_notebook or sys.stderr.isatty()
    if not show:
        return SilentWatcher()
    if in_notebook:
        return NotebookWatcher()
    return LiveWatcher(console) if console.is_terminal else PlainWatcher(console)


def format_scores(scores: list[float]) -> str:
    """Format mean and standard deviation of the scores so far."""
    mean = float(np.mean(scores))
    return (
        format_mean_and_sd(mean, float(np.std(scores, ddof=1)))
        if len(scores) > 1
        else format_number(mean)
    )


def _format_time_left(board: Board) -> str:
    left = board.seconds_left()
    return "" if left is None else f"; about {format_duration(left)} left"


def _get_model_names(plan: "Plan") -> dict[str, str]:
    return {model.key: model.name for model in plan.models}


def _describe_start(plan: "Plan", jobs: "list[Job]", n_stored: int) -> list[str]:
    from arboleda.tables.column_plan import write_column_lines

    table, features = plan.table, plan.features
    size = f"{count_noun(table.n_rows, 'row')}, {count_noun(len(table.columns), 'column')}"
    lines = [
        f"{table.name}: {size}, target {plan.target.name}",
        f"The task is {plan.target.why}.",
    ]
    lines += ["What becomes of each column:", *write_column_lines(plan.table.columns, plan.roles)]
    lines.append(
        f"{count_noun(len(plan.split.train), 'row')} to learn from, {len(plan.split.test):,} to "
        f"test on; {count_noun(len(features.names), 'feature')}; "
        f"{count_noun(len(plan.models), 'model')}, {count_noun(len(jobs), 'fit')} to do"
        + (f", {n_stored:,} already done." if n_stored else ".")
    )
    return lines
