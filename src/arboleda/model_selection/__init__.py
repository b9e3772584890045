"""Model selection: grid search with shared fits, and bootstrap estimates of the error."""

from arboleda.model_selection._bootstrap import (
    BootstrapError,
    BootstrapSplit,
    bootstrap_error,
    bootstrap_estimates,
)
from arboleda.model_selection._grid_search import GridSearch

__all__ = [
    "BootstrapError",
    "BootstrapSplit",
    "GridSearch",
    "bootstrap_error",
    "bootstrap_estimates",
]
