"""Trials, their fidelity, and the protocol of search strategies."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from arboleda.study.catalogue.model import Range

__all__ = ["FULL", "Batch", "Fidelity", "Search", "SearchContext", "SearchStrategy", "Trial"]

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
