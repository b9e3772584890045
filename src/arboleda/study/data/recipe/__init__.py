"""What is done to a study's table before it is divided: rows dropped, values merged."""

from arboleda.study.data.recipe.apply import PreparedTable, Step, apply_recipe
from arboleda.study.data.recipe.conditions import Condition, parse_condition
from arboleda.study.data.recipe.merges import Merges, checked_merges, parse_merges
from arboleda.study.data.recipe.recipe import Recipe

__all__ = [
    "Condition",
    "Merges",
    "PreparedTable",
    "Recipe",
    "Step",
    "apply_recipe",
    "checked_merges",
    "parse_condition",
    "parse_merges",
]
