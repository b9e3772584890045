"""Candidates sampled from a search space by Optuna: random search and TPE.

J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl (2011), "Algorithms for hyper-parameter optimization",
section 4 (TPE); T. Akiba and others (2019), "Optuna".

A sampler proposes batches of fixed size and receives all scores of one batch before the next, so
its proposals depend neither on the number of processes nor on the order in which fits end. Its
state is in memory; when a study is resumed, the state is rebuilt by replaying the same batches with
the scores in the ledger. Optuna's own storage saves trials but not the state of the sampler's
random generator, so a study resumed from it would draw other candidates.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arboleda.study.catalogue.space import Choice, Range, Whole
from arboleda.study.search.halving import Halving
from arboleda.study.search.trial import Batch, Search, SearchContext, Trial

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler

__all__ = ["Random", "Tpe"]

BATCH = 4
# Maximum draws for a batch: if they yield nothing new, the space is nearly exhausted.
DRAWS = 50


@dataclass(frozen=True)
class Random:
    """Try the grid's first candidate, then independent random draws from the space."""

    trials: int

    @property
    def text(self) -> str:
        """The strategy's name as the user writes it."""
        return f"random:{self.trials}"

    def n_tried(self, context: SearchContext) -> int:
        """Return the number of trials."""
        return _n_tried(context, self.trials)

    def begin(self, context: SearchContext) -> Search:
        """Yield batches of sampled candidates; for a model without a space, its grid."""
        from optuna.samplers import RandomSampler

        return _drawn(context, self.trials, RandomSampler(seed=context.seed))


@dataclass(frozen=True)
class Tpe:
    """Try candidates with the tree-structured Parzen estimator.

    The first candidate of the grid comes first, then some random ones, then those of the estimator.
    """

    trials: int

    @property
    def text(self) -> str:
        """The strategy's name as the user writes it."""
        return f"tpe:{self.trials}"

    def n_tried(self, context: SearchContext) -> int:
        """Return the number of trials."""
        return _n_tried(context, self.trials)

    def begin(self, context: SearchContext) -> Search:
        """Yield batches of sampled candidates; for a model without a space, its grid."""
        from optuna.samplers import TPESampler

        sampler = TPESampler(
            seed=context.seed, n_startup_trials=min(10, self.trials // 3), constant_liar=True
        )
        return _drawn(context, self.trials, sampler)


def _n_tried(context: SearchContext, n_trials: int) -> int:
    return n_trials if context.space else len(context.grid)


def _drawn(context: SearchContext, n_trials: int, sampler: "BaseSampler") -> Search:
    if not context.space:
        yield from Halving().begin(context)
        return
    import optuna

    ranges = {name: _distribution(range_) for name, range_ in context.space.items()}
    with _quiet():
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
            with _quiet():
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

    with _quiet():
        study.tell(trial, score, state=TrialState.FAIL if score is None else None)


def _can_be_drawn(params: Mapping[str, Any], space: Mapping[str, Range]) -> bool:
    return params.keys() == space.keys() and all(params[name] in space[name] for name in space)


def _distribution(range_: Range) -> "BaseDistribution":
    from optuna import distributions

    if isinstance(range_, Choice):
        return distributions.CategoricalDistribution(range_.values)
    if isinstance(range_, Whole):
        return distributions.IntDistribution(range_.low, range_.high, log=range_.log)
    return distributions.FloatDistribution(range_.low, range_.high, log=range_.log)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Optuna's log messages about its trials."""
    from optuna import logging

    before: Any = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        logging.set_verbosity(before)
