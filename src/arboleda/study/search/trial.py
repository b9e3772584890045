"""What a search proposes and what it is told: trials, and how closely each is looked at."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from arboleda.study.catalogue.space import Range

__all__ = ["FULL", "Batch", "Fidelity", "Search", "SearchContext", "SearchStrategy", "Trial"]

Params = dict[str, Any]


@dataclass(frozen=True)
class Fidelity:
    """How closely a candidate is looked at.

    It learns from a ``share`` of each fold's rows, with that share of its rounds or trees where
    the catalogue tells how, and is scored on the first ``folds`` of them; None: on all.
    """

    share: float = 1.0
    folds: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether nothing is cut short; only such candidates may be chosen."""
        return self.share == 1.0 and self.folds is None

    @property
    def label(self) -> str:
        """What tells its results from others in the ledger: nothing at full share."""
        return "" if self.share == 1.0 else f" at {self.share:g}"


FULL = Fidelity()


@dataclass(frozen=True)
class Trial:
    """One candidate at one stage."""

    params: Params
    fidelity: Fidelity = FULL


@dataclass(frozen=True)
class Batch:
    """Trials to do now, the most promising first.

    ``to_come`` is about how many trials at full fidelity follow later: for the time left.
    """

    trials: tuple[Trial, ...]
    to_come: int = 0


@dataclass(frozen=True)
class SearchContext:
    """What a search knows of a model before it begins.

    ``grid`` lists candidates, ``space`` tells ranges to draw others from (None: there are none),
    ``rows`` is what one fold learns from.
    """

    grid: tuple[Params, ...]
    space: Mapping[str, Range] | None = None
    rows: int = 0
    seed: int = 0


# It is sent the score of every trial of the batch before, the larger the better; None: it failed,
# or was left out.
Search = Generator[Batch, tuple[float | None, ...], None]


class SearchStrategy(Protocol):
    """A strategy: from a question to the batches of trials that answer it.

    What it proposes may depend on the question and on the scores it is sent, and on nothing else:
    a study that goes on repeats it from the start, with the scores it has kept.
    """

    @property
    def text(self) -> str:
        """The strategy as it is asked for, see `named_search`."""

    def n_tried(self, context: SearchContext) -> int:
        """How many candidates it tries, closely or not, at most."""

    def begin(self, context: SearchContext) -> Search:
        """Start a search."""
