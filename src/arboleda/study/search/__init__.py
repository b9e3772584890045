"""Search strategies for candidates: one file each, a generator of batches of trials."""

from arboleda.study.search.drawn import Random, Tpe
from arboleda.study.search.grid import Grid
from arboleda.study.search.halving import Halving
from arboleda.study.search.named import named_search
from arboleda.study.search.trial import (
    FULL,
    Batch,
    Fidelity,
    Search,
    SearchContext,
    SearchStrategy,
    Trial,
)

__all__ = [
    "FULL",
    "Batch",
    "Fidelity",
    "Grid",
    "Halving",
    "Random",
    "Search",
    "SearchContext",
    "SearchStrategy",
    "Tpe",
    "Trial",
    "named_search",
]
