"""Choosing parameters: searches that share what their candidates have in common."""

from arboleda.model_selection._grid_search import GridSearch

__all__ = ["GridSearch"]
