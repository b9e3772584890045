"""Candidates drawn from a space by Optuna: at random, or where good ones were found before.

J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl (2011), "Algorithms for hyper-parameter optimization",
section 4 (TPE); T. Akiba and others (2019), "Optuna".

A sampler is asked for a batch of fixed size at a time and is told all scores of one batch before
the next, so that what it proposes depends neither on the number of processes nor on which fit ends
first. Its state is in memory, and is rebuilt by the same questions and answers from the ledger when
a study goes on: Optuna's own storage keeps trials but not the state of the sampler's generator, so
that a study taken up from it would draw others.
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
# So many draws at most for a batch: where they bring nothing new, there is little more to try.
DRAWS = 50


@dataclass(frozen=True)
class Random:
    """Try the grid's first, then candidates drawn from the space, independently: so many in all."""

    trials: int

    @property
    def text(self) -> str:
        """The strategy as it is asked for."""
        return f"random:{self.trials}"

    def n_tried(self, context: SearchContext) -> int:
        """All that are drawn."""
        return _n_tried(context, self.trials)

    def begin(self, context: SearchContext) -> Search:
        """Batches of drawn candidates; a model without a space has its grid tried."""
        from optuna.samplers import RandomSampler

        return _drawn(context, self.trials, RandomSampler(seed=context.seed))


@dataclass(frozen=True)
class Tpe:
    """Try so many candidates, more of them where those before were good.

    The first candidate of the grid is tried first, then some at random, then those of a
    tree-structured Parzen estimator.
    """

    trials: int

    @property
    def text(self) -> str:
        """The strategy as it is asked for."""
        return f"tpe:{self.trials}"

    def n_tried(self, context: SearchContext) -> int:
        """All that are drawn."""
        return _n_tried(context, self.trials)

    def begin(self, context: SearchContext) -> Search:
        """Batches of drawn candidates; a model without a space has its grid tried."""
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
            # It is tried all the same; the sampler hears nothing of it.
            yield Batch((Trial(first),), n_trials - 1)
            done = 1
    known: dict[str, float | None] = {}
    while done < n_trials:
        # A candidate that is drawn again is told its score, and another is drawn in its place.
        asked: dict[str, list[Any]] = {}
        for _ in range(DRAWS):
            if len(asked) == min(BATCH, n_trials - done):
                break
            with _quiet():
                trial = study.ask(ranges)
            name = json.dumps(trial.params, sort_keys=True)
            if name in known:
                _tell(study, trial, known[name])
            else:
                asked.setdefault(name, []).append(trial)
        if not asked:
            return
        done += len(asked)
        batch = tuple(Trial(trials[0].params) for trials in asked.values())
        scores = yield Batch(batch, n_trials - done)
        for (name, trials), score in zip(asked.items(), scores, strict=True):
            known[name] = score
            for trial in trials:
                _tell(study, trial, score)


def _tell(study: "Study", trial: Any, score: float | None) -> None:
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
    """Keep what Optuna would tell of its trials to itself."""
    from optuna import logging

    before: Any = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        logging.set_verbosity(before)
