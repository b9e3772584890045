"""The models a study compares: one entry each, with a small grid and what keeps it affordable."""

from arboleda.study.catalogue.entries import ALL, CATALOGUE, CORE, models_for
from arboleda.study.catalogue.model import Model, Params, Setting, Size

__all__ = ["ALL", "CATALOGUE", "CORE", "Model", "Params", "Setting", "Size", "models_for"]
