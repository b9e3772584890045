"""The models a study compares: one entry each, with a small grid and what keeps it affordable.

``model`` defines an entry, ``entries`` lists all of them, and the other modules hold the entries of
one family each; ``spaces`` has their search spaces and costs, ``portfolio`` the configurations of
preset "best". docs/how_to_add_a_study_model.md shows how to add one.
"""

from arboleda.study.catalogue.entries import ALL, CATALOGUE, CORE, known_words, models_for
from arboleda.study.catalogue.model import Model, Params, Setting, Size

__all__ = [
    "ALL",
    "CATALOGUE",
    "CORE",
    "Model",
    "Params",
    "Setting",
    "Size",
    "known_words",
    "models_for",
]
