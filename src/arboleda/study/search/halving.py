"""Successive halving: all candidates at low fidelity, the best of them at full fidelity.

K. Jamieson, A. Talwalkar (2016), "Non-stochastic best arm identification and hyperparameter
optimization", algorithm 1, with the fraction of rows and of boosting rounds as the resource.
"""

import math
from dataclasses import dataclass

from arboleda.study.search.trial import Batch, Fidelity, Search, SearchContext, Trial

__all__ = ["Halving"]

# With fewer rows a low-fidelity score is mostly noise: the standard error of a fold's accuracy is
# then about 0.01, as much as the candidates of a grid differ.
MIN_ROWS = 20_000
# With fewer candidates, low-fidelity trials do not pay.
MIN_CANDIDATES = 3


@dataclass(frozen=True)
class Halving:
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

    def n_tried(self, context: SearchContext) -> int:
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
