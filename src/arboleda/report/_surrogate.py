"""The best model in one small tree, and how far the tree is to be believed."""

from typing import Any

from arboleda._numbers import integer, number_format, percent
from arboleda.report._about import About
from arboleda.report._texts import text, told
from arboleda.report._tree import tree_part

__all__ = ["surrogate_view"]


def surrogate_view(about: About) -> dict[str, Any] | None:
    """Collect the section; None where nothing was computed, nor a reason given."""
    found = about.facts.get("surrogate")
    if found is None:
        return None
    name = about.name(found["model"])
    if found["skipped"]:
        return {"name": name, "skipped": told(found["skipped"])}
    values = {key: found[key] for key in ("error", "model_error")}
    write = percent if about.classes else number_format(values.values(), bounded=False)
    errors = {key: write(value) for key, value in values.items()}
    kind = "class" if about.classes else "value"
    numbers = {"n_leaves": integer(found["n_leaves"]), "fidelity": percent(found["fidelity"])}
    return {
        "name": name,
        "skipped": None,
        "fidelity": text(f"surrogate.fidelity.{kind}", name=name, **numbers),
        "errors": text(f"surrogate.errors.{kind}", **errors),
        **tree_part(about, found["tree"], "surrogate"),
    }
