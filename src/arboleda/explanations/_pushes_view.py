"""Which columns push a prediction which way, as rows with bars."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent
from arboleda.explanations._words import output_text, push_writer, value_text
from arboleda.report._words import quoted

__all__ = ["pushes_view"]

_MOST = 12


def pushes_view(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Collect the section on pushes; None where there are none."""
    found = facts["pushes"]
    if found is None:
        return None
    pushes = [column["push"] for column in found["columns"]]
    write = push_writer(pushes, found["unit"])
    longest = max(map(abs, pushes), default=0.0) or 1.0
    usual = {column["name"]: column for column in facts["values"]}
    rest = found["columns"][_MOST:]
    rows = [_row(column, usual, write, longest) for column in found["columns"][:_MOST]]
    return {
        "output": found["output"],
        "lead": _lead(facts, found),
        "rows": rows,
        "rest": None
        if not rest
        else {
            "n": integer(len(rest)),
            "push": write(sum(column["push"] for column in rest)),
            **_bar(sum(column["push"] for column in rest), longest),
        },
        "how": _how(found),
    }


def _row(
    column: Mapping[str, Any], usual: Mapping[str, Any], write: Any, longest: float
) -> dict[str, Any]:
    from arboleda.explanations._row_view import usual_text

    return {
        "name": column["name"],
        "value": value_text(column["value"]),
        "condition": column["condition"],
        "usual": usual_text(usual[column["name"]]),
        "push": write(column["push"]),
        **_bar(column["push"], longest),
    }


def _bar(push: float, longest: float) -> dict[str, str]:
    # Half of the cell is for each way.
    return {
        "side": "for" if push >= 0 else "against",
        "width": f"{min(50.0, 50 * abs(push) / longest):.1f}",
    }


def _lead(facts: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    towards = "a higher value" if found["output"] is None else quoted(found["output"])
    if found["method"] == "lime":
        return f"Around this row, each condition pushes towards {towards} or away from it."
    if found["unit"] == "log_odds":
        return (
            f"Each column multiplies the odds of {towards}: above 1 it pushes towards it, below 1 "
            "away from it."
        )
    if found["unit"] == "score":
        return (
            f"Each column adds to the score of {towards} or takes from it; the class with the "
            "highest score is said."
        )
    base, total = (output_text(facts, found[key]) for key in ("base", "total"))
    start = "the mean" if found["output"] is None else "its usual share"
    what = "" if found["output"] is None else f" for {towards}"
    return (
        f"Without knowing the row the model would say {base}{what}, {start}. What it sees in the "
        f"columns moves that to {total}: each column adds or takes away."
    )


def _how(found: Mapping[str, Any]) -> str:
    if found["method"] == "shap":
        return (
            "Exact Shapley values of the model's trees (TreeSHAP, Lundberg et al. 2020): the "
            "pushes add up to the prediction. What the model does with the columns is told here, "
            "not what causes what in the world."
        )
    text = (
        "LIME (Ribeiro, Singh and Guestrin 2016): a simple model of how the prediction varies "
        f"around the row, from {integer(found['n_samples'])} rows like it"
    )
    text += f"; it tells {percent(max(0.0, found['fidelity']), 0)} of that variation"
    if found["stability"] is not None:
        text += f"; repeated draws pick the same columns to {percent(found['stability'], 0)}"
    return f"{text}. What the model does is told here, not what causes what in the world."
