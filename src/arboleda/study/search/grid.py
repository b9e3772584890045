"""Every candidate of the grid, on all folds."""

from dataclasses import dataclass

from arboleda.study.search.trial import Batch, Search, SearchContext, Trial

__all__ = ["Grid"]


@dataclass(frozen=True)
class Grid:
    """Try every candidate of the grid at full fidelity."""

    @property
    def text(self) -> str:
        """The strategy's name as the user writes it."""
        return "grid"

    def n_tried(self, context: SearchContext) -> int:
        """Return the size of the grid."""
        return len(context.grid)

    def begin(self, context: SearchContext) -> Search:
        """Yield the grid as one batch."""
        yield Batch(tuple(Trial(params) for params in context.grid))
