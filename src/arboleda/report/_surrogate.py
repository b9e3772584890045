"""A small surrogate tree of the best model, with its fidelity."""

from typing import Any

from arboleda._numbers import integer, number_format, percent
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate
from arboleda.report._tree import make_tree_part

__all__ = ["make_surrogate_view"]


def make_surrogate_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the facts have neither a tree nor a reason."""
    result = report.facts.get("surrogate")
    if result is None:
        return None
    name = report.get_name(result["model"])
    if result["skipped"]:
        return {"name": name, "skipped": translate(result["skipped"])}
    values = {key: result[key] for key in ("error", "model_error")}
    write = percent if report.is_classification else number_format(values.values(), bounded=False)
    errors = {key: write(value) for key, value in values.items()}
    kind = "class" if report.is_classification else "value"
    numbers = {"n_leaves": integer(result["n_leaves"]), "fidelity": percent(result["fidelity"])}
    return {
        "name": name,
        "skipped": None,
        "fidelity": text(f"surrogate.fidelity.{kind}", name=name, **numbers),
        "errors": text(f"surrogate.errors.{kind}", **errors),
        **make_tree_part(report, result["tree"], "surrogate"),
    }
