"""Successive halving: a cheap first look at all candidates, the best of them at full fidelity.

K. Jamieson, A. Talwalkar (2016), "Non-stochastic best arm identification and hyperparameter
optimization", algorithm 1, with a share of the rows and of the rounds as the resource.
"""

import math
from dataclasses import dataclass

from arboleda.study.search.trial import Batch, Fidelity, Search, SearchContext, Trial

__all__ = ["Halving"]

# With fewer rows a look says less than chance does: the standard error of a fold's accuracy is
# then about a hundredth, as much as candidates of a grid differ by.
MIN_ROWS = 20_000
# Fewer candidates are not worth a look.
MIN_CANDIDATES = 3


@dataclass(frozen=True)
class Halving:
    """Look at every candidate of the grid once, cheaply; the best part of them goes on.

    A look learns from ``share`` of the first fold's rows and is scored on all that the fold holds
    out. The best ``1 / keep`` of the candidates, at least two, are then tried on all folds. Small
    tables, whose folds have fewer than ``min_rows``, and small grids are tried at once: there a
    look costs more than it saves, or says nothing.
    """

    share: float = 0.25
    keep: int = 3
    min_rows: int = MIN_ROWS

    @property
    def text(self) -> str:
        """The strategy as it is asked for."""
        return "halving"

    def n_tried(self, context: SearchContext) -> int:
        """All of the grid, most of them by a look where that pays."""
        return len(context.grid)

    def begin(self, context: SearchContext) -> Search:
        """The looks, and then those that go on."""
        grid = context.grid
        if context.rows < self.min_rows or len(grid) < MIN_CANDIDATES:
            yield Batch(tuple(Trial(params) for params in grid))
            return
        n_kept = max(2, math.ceil(len(grid) / self.keep))
        look = Fidelity(share=self.share, folds=1)
        scores = yield Batch(tuple(Trial(params, look) for params in grid), to_come=n_kept)
        seen = [i for i, score in enumerate(scores) if score is not None]
        # Of equals the first, the simplest.
        best = sorted(seen, key=lambda i: (-(scores[i] or 0.0), i))[:n_kept]
        if best:
            yield Batch(tuple(Trial(grid[i]) for i in best))
