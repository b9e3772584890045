"""The models that a study compares, each with a grid, a search space and a cost estimate.

`model` defines an entry and the types of parameter ranges; `spaces` has search spaces and cost
estimates; `simple_models`, `ensembles`, `boosting`, `kernels`, `selected`, `portfolio` and
`times_and_ranks` list the
entries by family; `entries` collects them and selects those of a study; `families` describes each
in a line. `preparation` transforms the features of each fold in the style that a model needs.
"""

from arboleda.catalogue.entries import ALL, CATALOGUE, CORE, filter_known_words, select_models
from arboleda.catalogue.model import Model, Params, Setting, Size

__all__ = [
    "ALL",
    "CATALOGUE",
    "CORE",
    "Model",
    "Params",
    "Setting",
    "Size",
    "filter_known_words",
    "select_models",
]
