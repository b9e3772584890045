"""How the table was prepared before it was divided, step by step."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from arboleda._numbers import integer
from arboleda.report._texts import text

__all__ = ["recipe_steps"]

# A new value lists so many of those that became it.
_SHOWN = 12


def recipe_steps(recipe: Mapping[str, Any] | None) -> list[str]:
    """Write a sentence for each step, with the rows that stay where some may go."""
    return [] if recipe is None else [_sentence(step) for step in recipe["steps"]]


def _sentence(step: Mapping[str, Any]) -> str:
    rows = {"after": integer(step["rows_after"]), "before": integer(step["rows_before"])}
    names = Markup(", ").join(_name(column) for column in step["columns"])
    if step["kind"] == "where":
        return text("recipe.where", condition=_name(step["condition"]), **rows)
    if step["kind"] == "merge":
        merged = [
            text("recipe.merged", old=_listed(old), new=_name(new))
            for new, old in step["into"].items()
        ]
        return text("recipe.merge", column=names, merged=Markup("; ").join(merged))
    if step["kind"] == "drop":
        return text("recipe.drop", columns=names)
    return text(f"recipe.{step['kind']}", **rows)


def _listed(values: list[str]) -> Markup:
    shown = Markup(", ").join(_name(value) for value in values[:_SHOWN])
    more = len(values) - _SHOWN
    return shown + text("recipe.more", count=integer(more)) if more > 0 else shown


def _name(value: str) -> Markup:
    """Set a text of the user apart, whatever way it is written in."""
    return Markup('<bdi class="name">{}</bdi>').format(value)
