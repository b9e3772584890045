"""The preparation steps applied to the table before it was split."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from arboleda._numbers import integer
from arboleda.report._texts import text

__all__ = ["describe_recipe"]

# Number of old values listed per new value.
_SHOWN = 12


def describe_recipe(recipe: Mapping[str, Any] | None) -> list[str]:
    """Write a sentence for each step, with the number of remaining rows if it drops rows."""
    return [] if recipe is None else [_write_sentence(step) for step in recipe["steps"]]


def _write_sentence(step: Mapping[str, Any]) -> str:
    rows = {"after": integer(step["rows_after"]), "before": integer(step["rows_before"])}
    names = Markup(", ").join(_mark_up_name(column) for column in step["columns"])
    if step["kind"] == "where":
        return text("recipe.where", condition=_mark_up_name(step["condition"]), **rows)
    if step["kind"] == "merge":
        merged = [
            text("recipe.merged", old=_list_values(old), new=_mark_up_name(new))
            for new, old in step["into"].items()
        ]
        return text("recipe.merge", column=names, merged=Markup("; ").join(merged))
    if step["kind"] == "drop":
        return text("recipe.drop", columns=names)
    return text(f"recipe.{step['kind']}", **rows)


def _list_values(values: list[str]) -> Markup:
    shown = Markup(", ").join(_mark_up_name(value) for value in values[:_SHOWN])
    more = len(values) - _SHOWN
    return shown + text("recipe.more", count=integer(more)) if more > 0 else shown


def _mark_up_name(value: str) -> Markup:
    """Mark up a text of the user, isolated from the surrounding text direction."""
    return Markup('<bdi class="name">{}</bdi>').format(value)
