"""The search for each model's best candidate.

``trial`` has the words (trial, fidelity, batch, strategy), ``strategies`` the grid, halving and
samplers, ``outcome`` the results of candidates, ``model_search`` runs the searches in rounds, and
``row_caps`` decides how many rows the fits may have in the time.
"""

from arboleda.study.search.strategies import (
    GridStrategy,
    HalvingStrategy,
    RandomStrategy,
    TpeStrategy,
    named_search,
)
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
