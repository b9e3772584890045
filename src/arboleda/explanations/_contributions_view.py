"""Contributions of columns to a prediction, as rows with bars."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent
from arboleda.explanations._words import format_output, format_value, make_contribution_formatter
from arboleda.report._words import quote_name

__all__ = ["make_contributions_view"]

_MOST = 12


def make_contributions_view(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Collect the section on contributions; None if there are none."""
    result = facts["pushes"]
    if result is None:
        return None
    contributions = [column["push"] for column in result["columns"]]
    write = make_contribution_formatter(contributions, result["unit"])
    longest = max(map(abs, contributions), default=0.0) or 1.0
    usual = {column["name"]: column for column in facts["values"]}
    rest = result["columns"][_MOST:]
    rows = [_make_row(column, usual, write, longest) for column in result["columns"][:_MOST]]
    return {
        "output": result["output"],
        "lead": _write_lead(facts, result),
        "rows": rows,
        "rest": None
        if not rest
        else {
            "n": integer(len(rest)),
            "push": write(sum(column["push"] for column in rest)),
            **_make_bar(sum(column["push"] for column in rest), longest),
        },
        "how": _describe_method(result),
    }


def _make_row(
    column: Mapping[str, Any], usual: Mapping[str, Any], write: Any, longest: float
) -> dict[str, Any]:
    from arboleda.explanations._row_view import format_usual

    return {
        "name": column["name"],
        "value": format_value(column["value"]),
        "condition": column["condition"],
        "usual": format_usual(usual[column["name"]]),
        "push": write(column["push"]),
        **_make_bar(column["push"], longest),
    }


def _make_bar(contribution: float, longest: float) -> dict[str, str]:
    # Each direction takes half of the cell.
    return {
        "side": "for" if contribution >= 0 else "against",
        "width": f"{min(50.0, 50 * abs(contribution) / longest):.1f}",
    }


def _write_lead(facts: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    towards = "a higher value" if result["output"] is None else quote_name(result["output"])
    if result["method"] == "lime":
        if result["output"] is None:
            return "Around this row, each condition raises or lowers the prediction."
        return f"Around this row, each condition makes {towards} more or less likely."
    if result["unit"] == "log_odds":
        return (
            f"Each column multiplies the odds of {towards}; a factor above 1 raises them, a factor "
            "below 1 lowers them."
        )
    if result["unit"] == "score":
        return (
            f"Each column adds to or subtracts from the score of {towards}; the class with the "
            "highest score is predicted."
        )
    base, total = (format_output(facts, result[key]) for key in ("base", "total"))
    start = "the mean" if result["output"] is None else "its share of the rows"
    what = "" if result["output"] is None else f" for {towards}"
    return (
        f"Without information about the row, the prediction is {base}{what}, {start}. The columns "
        f"move it to {total}: each adds or subtracts its contribution."
    )


def _describe_method(result: Mapping[str, Any]) -> str:
    if result["method"] == "shap":
        return (
            "Exact Shapley values of the model's trees (TreeSHAP, Lundberg et al. 2020): the "
            "contributions add up to the prediction. They describe the model, not causes in the "
            "real world."
        )
    text = (
        "LIME (Ribeiro, Singh and Guestrin 2016): a simple model of the prediction around the "
        f"row, fitted to {integer(result['n_samples'])} rows like it"
    )
    text += f"; it explains {percent(max(0.0, result['fidelity']), 0)} of the variance"
    if result["stability"] is not None:
        overlap = percent(result["stability"], 0)
        text += f"; repeated samples select the same columns with an overlap of {overlap}"
    return f"{text}. It describes the model, not causes in the real world."
