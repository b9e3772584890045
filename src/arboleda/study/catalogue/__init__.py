"""The models that a study compares, each with a grid, a search space and a cost estimate.

`model` defines an entry and the types of parameter ranges; `spaces` has search spaces and cost
estimates; `simple_models`, `ensembles`, `boosting`, `kernels`, `selected` and `portfolio` list the
entries by family; `entries` collects them and selects those of a study.⟦

``model`` defines an entry, ``entries`` lists all of them, and the other modules hold the entries of
one family each; ``spaces`` has their search spaces and costs, ``portfolio`` the configurations of
preset "best". docs/how_to_add_a_study_model.md shows how to add one.
⟧⟦⟧⟦
⟧
"""

from arboleda.study.catalogue.entries import ALL, CATALOGUE, CORE, filter_known_words, select_models
from arboleda.study.catalogue.model import Model, Params, Setting, Size

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
