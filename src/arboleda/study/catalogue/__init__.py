"""The models a study compares: one entry each, with a small grid and what keeps it affordable."""

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
