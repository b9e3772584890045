"""Trials, and the strategies that draw them: grid, halving and samplers.

The grid; successive halving: K. Jamieson, A. Talwalkar (2016), "Non-stochastic best arm
identification and hyperparameter optimization", algorithm 1, with the fraction of rows and of
boosting rounds as the resource; and candidates sampled from a search space by Optuna (T. Akiba and
others 2019): random search, and TPE: J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl (2011),
"Algorithms for hyper-parameter optimization", section 4.

A sampler proposes batches of fixed size and receives all scores of one batch before the next, so
its proposals depend neither on the number of processes nor on the order in which fits end. Its
state is in memory; when a study is resumed, the state is rebuilt by replaying the same batches with
the scores in the ledger. Optuna's own storage saves trials but not the state of the sampler's
random generator, so a study resumed from it would draw other candidates.
"""

import json
import math
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from arboleda._utils.errors import StudyError
from arboleda.catalogue.model import Choice, IntegerRange, Range

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler

__all__ = [
    "FULL",
    "Batch",
    "Fidelity",
    "GridStrategy",
    "HalvingStrategy",
    "RandomStrategy",
    "Search",
    "SearchContext",
    "SearchStrategy",
    "TpeStrategy",
    "Trial",
    "named_search",
]

Params = dict[str, Any]


@dataclass(frozen=True)
class Fidelity:
    """The fidelity of a trial.

    The candidate is fitted to a fraction ``share`` of each fold's training rows, with that fraction
    of its rounds or trees if the catalogue defines how, and scored on the first ``folds`` folds;
    None: on all.
    """

    share: float = 1.0
    folds: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether the trial uses all rows and folds; only such candidates can be chosen."""
        return self.share == 1.0 and self.folds is None

    @property
    def label(self) -> str:
        """The suffix of its results' keys in the ledger; empty for all rows."""
        return "" if self.share == 1.0 else f" at {self.share:g}"


FULL = Fidelity()


@dataclass(frozen=True)
class Trial:
    """One candidate at one fidelity."""

    params: Params
    fidelity: Fidelity = FULL


@dataclass(frozen=True)
class Batch:
    """Trials to run now, the most promising first.

    ``to_come`` estimates how many full-fidelity trials follow, for the estimate of the time left.
    """

    trials: tuple[Trial, ...]
    to_come: int = 0


@dataclass(frozen=True)
class SearchContext:
    """What a search needs to know about a model before it begins.

    ``grid`` lists candidates, ``space`` maps parameters to ranges to sample from (or is None), and
    ``rows`` is the number of training rows of a fold.
    """

    grid: tuple[Params, ...]
    space: Mapping[str, Range] | None = None
    rows: int = 0
    seed: int = 0


# A search receives the score of every trial of the previous batch, the larger the better; None for
# a trial that failed or was skipped.
Search = Generator[Batch, tuple[float | None, ...], None]


class SearchStrategy(Protocol):
    """A search strategy: a function from a context to batches of trials.

    Its proposals may depend on the context and on the scores it receives, and on nothing else: a
    resumed study replays them from the start with the stored scores.
    """

    @property
    def text(self) -> str:
        """The strategy's name as the user writes it; see `named_search`."""

    def count_trials(self, context: SearchContext) -> int:
        """Return the maximum number of candidates that it tries at any fidelity."""

    def begin(self, context: SearchContext) -> Search:
        """Start a search."""


# With fewer rows a low-fidelity score is mostly noise: the standard error of a fold's accuracy is
# then about 0.01, as much as the candidates of a grid differ.
MIN_ROWS = 20_000
# With fewer candidates, low-fidelity trials do not pay.
MIN_CANDIDATES = 3
BATCH = 4
# Maximum draws for a batch: if they yield nothing new, the space is nearly exhausted.
DRAWS = 50
# Default number of trials per model.
TRIALS = 30
# A larger number is a typing error: nobody waits for that many trials.
MAX_TRIALS = 10_000
_PATTERN = re.compile(r"(grid|halving)|(random|tpe)(?::(\d+))?", re.I | re.A)


@dataclass(frozen=True)
class GridStrategy:
    """Try every candidate of the grid at full fidelity."""

    @property
    def text(self) -> str:
        """The strategy's name as the user writes it."""
        return "grid"

    def count_trials(self, context: SearchContext) -> int:
        """Return the size of the grid."""
        return len(context.grid)

    def begin(self, context: SearchContext) -> Search:
        """Yield the grid as one batch."""
        yield Batch(tuple(Trial(params) for params in context.grid))


@dataclass(frozen=True)
class HalvingStrategy:
    """Evaluate every candidate of the grid at low fidelity; the best ones at full fidelity.

    A low-fidelity trial is fitted to a fraction ``share`` of the first fold's training rows and
    scored on all rows that the fold holds out. The best ``1 / keep`` of the candidates, at least
    two, are then tried on all folds. Small tables, with fewer than ``min_rows`` rows in a fold, and
    small grids are tried in full at once.
    """

    share: float = 0.25
    keep: int = 3
    min_rows: int = MIN_ROWS

    @property
    def text(self) -> str:
        """The strategy's name as the user writes it."""
        return "halving"

    def count_trials(self, context: SearchContext) -> int:
        """Return the size of the grid, including candidates tried at low fidelity only."""
        return len(context.grid)

    def begin(self, context: SearchContext) -> Search:
        """Yield the low-fidelity trials, then the best ones at full fidelity."""
        grid = context.grid
        if context.rows < self.min_rows or len(grid) < MIN_CANDIDATES:
            yield Batch(tuple(Trial(params) for params in grid))
            return
        n_kept = max(2, math.ceil(len(grid) / self.keep))
        low = Fidelity(share=self.share, folds=1)
        scores = yield Batch(tuple(Trial(params, low) for params in grid), to_come=n_kept)
        seen = [i for i, score in enumerate(scores) if score is not None]
        # The first, simplest candidate wins ties.
        best = sorted(seen, key=lambda i: (-(scores[i] or 0.0), i))[:n_kept]
        if best:
            yield Batch(tuple(Trial(grid[i]) for i in best))


@dataclass(frozen=True)
class RandomStrategy:
    """Try the grid's first candidate, then independent random draws from the space."""

    trials: int

    @property
    def text(self) -> str:
        """The strategy's name as the user writes it."""
        return f"random:{self.trials}"

    def count_trials(self, context: SearchContext) -> int:
        """Return the number of trials."""
        return _count_draws(context, self.trials)

    def begin(self, context: SearchContext) -> Search:
        """Yield batches of sampled candidates; for a model without a space, its grid."""
        from optuna.samplers import RandomSampler

        return _draw_candidates(context, self.trials, RandomSampler(seed=context.seed))


@dataclass(frozen=True)
class TpeStrategy:
    """Try candidates with the tree-structured Parzen estimator.

    The first candidate of the grid comes first, then some random ones, then those of the estimator.
    """

    trials: int

    @property
    def text(self) -> str:
        """The strategy's name as the user writes it."""
        return f"tpe:{self.trials}"

    def count_trials(self, context: SearchContext) -> int:
        """Return the number of trials."""
        return _count_draws(context, self.trials)

    def begin(self, context: SearchContext) -> Search:
        """Yield batches of sampled candidates; for a model without a space, its grid."""
        from optuna.samplers import TPESampler

        sampler = TPESampler(
            seed=context.seed, n_startup_trials=min(10, self.trials // 3), constant_liar=True
        )
        return _draw_candidates(context, self.trials, sampler)


def named_search(text: str) -> SearchStrategy:
    """Return the search strategy of a name.

    Parameters
    ----------
    text : str
        ``grid``, ``halving``, ``random:N`` or ``tpe:N`` (N trials per model); the number may be
        omitted.

    Returns
    -------
    SearchStrategy

    Raises
    ------
    StudyError
        If there is no such search, or its number of trials is out of range.

    Examples
    --------
    >>> named_search("tpe")
    TpeStrategy(trials=30)
    """
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        raise StudyError(
            f"There is no search {text[:60]!r}; choose grid, halving, random:{TRIALS} or "
            f"tpe:{TRIALS}."
        )
    whole, drawn, digits = match.groups()
    if whole:
        return GridStrategy() if whole.lower() == "grid" else HalvingStrategy()
    digits = digits or str(TRIALS)
    if len(digits) > 6 or not 1 <= int(digits) <= MAX_TRIALS:
        raise StudyError(
            f"The search {text[:60]!r} draws {digits[:20]} candidates; choose from 1 to "
            f"{MAX_TRIALS:,}."
        )
    return (RandomStrategy if drawn.lower() == "random" else TpeStrategy)(int(digits))


def _count_draws(context: SearchContext, n_trials: int) -> int:
    return n_trials if context.space else len(context.grid)


def _draw_candidates(context: SearchContext, n_trials: int, sampler: "BaseSampler") -> Search:
    if not context.space:
        yield from HalvingStrategy().begin(context)
        return
    import optuna

    ranges = {name: _make_distribution(range_) for name, range_ in context.space.items()}
    with _silence_optuna():
        study = optuna.create_study(direction="maximize", sampler=sampler)
    done = 0
    for first in context.grid[:1]:
        if _can_be_drawn(first, context.space):
            study.enqueue_trial(first)
        else:
            # It is tried as well, but is not reported to the sampler.
            yield Batch((Trial(first),), n_trials - 1)
            done = 1
    known: dict[str, float | None] = {}
    while done < n_trials:
        # A repeated candidate is reported with its known score, and another one is drawn.
        proposed: dict[str, list[Any]] = {}
        for _ in range(DRAWS):
            if len(proposed) == min(BATCH, n_trials - done):
                break
            with _silence_optuna():
                trial = study.ask(ranges)
            name = json.dumps(trial.params, sort_keys=True)
            if name in known:
                _report_score(study, trial, known[name])
            else:
                proposed.setdefault(name, []).append(trial)
        if not proposed:
            return
        done += len(proposed)
        batch = tuple(Trial(trials[0].params) for trials in proposed.values())
        scores = yield Batch(batch, n_trials - done)
        for (name, trials), score in zip(proposed.items(), scores, strict=True):
            known[name] = score
            for trial in trials:
                _report_score(study, trial, score)


def _report_score(study: "Study", trial: Any, score: float | None) -> None:
    from optuna.trial import TrialState

    with _silence_optuna():
        study.tell(trial, score, state=TrialState.FAIL if score is None else None)


def _can_be_drawn(params: Mapping[str, Any], space: Mapping[str, Range]) -> bool:
    return params.keys() == space.keys() and all(params[name] in space[name] for name in space)


def _make_distribution(range_: Range) -> "BaseDistribution":
    from optuna import distributions

    if isinstance(range_, Choice):
        return distributions.CategoricalDistribution(range_.values)
    if isinstance(range_, IntegerRange):
        return distributions.IntDistribution(range_.low, range_.high, log=range_.log)
    return distributions.FloatDistribution(range_.low, range_.high, log=range_.log)


@contextmanager
def _silence_optuna() -> Iterator[None]:
    """Silence Optuna's log messages about its trials."""
    from optuna import logging

    before: Any = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        logging.set_verbosity(before)
