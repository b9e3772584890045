"""Contributions of columns to the prediction of a row, as rows with bars."""

from collections.abc import Mapping
from typing import Any

from arboleda._utils.numbers import fixed, integer, percent
from arboleda.facts.explained_row import (
    ColumnContribution,
    ColumnValue,
    ConditionWeight,
    ContributionsFacts,
    LimeFacts,
)
from arboleda.facts.explanation import RowExplanation
from arboleda.reports.explanation.wording import (
    format_output,
    format_usual,
    format_value,
    make_contribution_formatter,
)
from arboleda.reports.fact_messages import translate
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import quote_name

__all__ = ["make_contributions_view", "make_lime_view"]

_MOST_CONTRIBUTIONS = 12


def make_contributions_view(facts: RowExplanation) -> dict[str, Any]:
    """Collect the section on contributions."""
    result = facts.contributions
    return {
        "lead": _write_lead(facts, result),
        "how": _describe_contributions_method(result),
        **_make_table(facts, result),
    }


def make_lime_view(facts: RowExplanation) -> dict[str, Any] | None:
    """Collect the simple model around the row; None if there is none that is faithful."""
    result = facts.lime
    if result is None:
        return None
    return {
        "lead": _write_lime_lead(result),
        "how": _describe_lime(result),
        **_make_table(facts, result),
    }


def _make_table(facts: RowExplanation, result: ContributionsFacts | LimeFacts) -> dict[str, Any]:
    contributions = [column.contribution for column in result.columns]
    write = make_contribution_formatter(contributions, result.unit)
    longest = max(map(abs, contributions), default=0.0) or 1.0
    usual = {column.name: column for column in facts.values}
    rest = result.columns[_MOST_CONTRIBUTIONS:]
    rows = [
        _make_row(column, usual, result.unit, write, longest)
        for column in result.columns[:_MOST_CONTRIBUTIONS]
    ]
    return {
        "output": result.output,
        "rows": rows,
        "rest": None
        if not rest
        else {
            "n": integer(len(rest)),
            "contribution": write(sum(column.contribution for column in rest)),
            **_make_bar(sum(column.contribution for column in rest), longest),
        },
    }


def _make_row(
    column: ColumnContribution | ConditionWeight,
    usual: Mapping[str, ColumnValue],
    unit: str,
    write: Any,
    longest: float,
) -> dict[str, Any]:
    condition = column.condition if isinstance(column, ConditionWeight) else None
    error = column.standard_error if isinstance(column, ColumnContribution) else None
    return {
        "name": column.name,
        "value": format_value(column.value),
        "condition": condition and translate(condition),
        "usual": format_usual(usual[column.name]),
        "contribution": write(column.contribution),
        "error": "" if error is None else _format_error(error, unit, write),
        **_make_bar(column.contribution, longest),
    }


def _format_error(error: float, unit: str, write: Any) -> str:
    """Format a standard error with the decimals of the contributions."""
    return fixed(100 * error, 1) if unit == "probability" else write(error).lstrip("+")


def _make_bar(contribution: float, longest: float) -> dict[str, str]:
    # Each direction takes half of the cell.
    return {
        "side": "for" if contribution >= 0 else "against",
        "width": f"{min(50.0, 50 * abs(contribution) / longest):.1f}",
    }


def _write_lime_lead(result: LimeFacts) -> str:
    if result.output is None:
        return _("Around this row, each condition raises or lowers the prediction.")
    towards = quote_name(result.output)
    return _(
        "Around this row, each condition makes {towards} more or less likely.", towards=towards
    )


def _write_lead(facts: RowExplanation, result: ContributionsFacts) -> str:
    towards = _("a higher value") if result.output is None else quote_name(result.output)
    if result.unit == "log_odds":
        return _(
            "Each column multiplies the odds of {towards}; a factor above 1 raises them, "
            "a factor below 1 lowers them.",
            towards=towards,
        )
    if result.unit == "score":
        return _(
            "Each column adds to or subtracts from the score of {towards}; the class with "
            "the highest score is predicted.",
            towards=towards,
        )
    base, total = (format_output(facts, value) for value in (result.base, result.total))
    what = "" if result.output is None else _(" for {towards}", towards=towards)
    return _(
        "Without information about the row, the prediction is {base}{what}, the mean over {n_rows} "
        "training rows. The columns move it to {total}: each adds or subtracts its contribution.",
        base=base,
        what=what,
        n_rows=integer(result.n_background),
        total=total,
    )


def _describe_contributions_method(result: ContributionsFacts) -> str:
    n_rows = integer(result.n_background)
    if result.method == "shap":
        return _(
            "Exact Shapley values of the model's trees (TreeSHAP, Lundberg et al. 2020), relative "
            "to {n_rows} training rows: the contributions add up to the prediction. They describe "
            "the model, not causes in the real world.",
            n_rows=n_rows,
        )
    return _(
        "Shapley values, sampled over {n_orders} orders of the columns (Štrumbelj and Kononenko "
        "2014), relative to {n_rows} training rows; ± is the standard error of the sampling. The "
        "contributions add up to the prediction. They describe the model, not causes in the real "
        "world.",
        n_orders=integer(result.n_orders),
        n_rows=n_rows,
    )


def _describe_lime(result: LimeFacts) -> str:
    text = _(
        "LIME (Ribeiro, Singh and Guestrin 2016): a simple model of the prediction around "
        "the row, fitted to {n_samples} rows like it",
        n_samples=integer(result.n_samples),
    )
    text += _(
        "; it explains {fidelity} of the variance",
        fidelity=percent(max(0.0, result.fidelity), 0),
    )
    if result.stability is not None:
        overlap = percent(result.stability, 0)
        text += _(
            "; repeated samples select the same columns with an overlap of {overlap}",
            overlap=overlap,
        )
    return text + ". " + _("It describes the model, not causes in the real world.")
