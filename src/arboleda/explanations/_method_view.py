"""The methods of an explanation, in sentences."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, plain

__all__ = ["make_method_view"]


def make_method_view(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List the steps of a page with their methods."""
    return list(
        (_describe_row(facts) if facts["about"] == "row" else _describe_model_page(facts)).items()
    )


def _describe_model(facts: Mapping[str, Any]) -> str:
    model = facts["model"]
    params = ", ".join(f"{key} = {_format_scalar(value)}" for key, value in model["params"].items())
    return (
        f"{model['name']} ({model['engine']}{', ' if params else ''}{params}), rank "
        f"{model['rank']} of {model['n_models']} on the leaderboard of the study, fitted on the "
        f"{integer(facts['study']['n_train'])} training rows."
    )


def _format_scalar(value: Any) -> str:
    if value is None:
        return "none"
    return (
        plain(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
    )


def _describe_row(facts: Mapping[str, Any]) -> dict[str, str]:
    steps = {
        "Model": _describe_model(facts),
        "Row": (
            f"Number {integer(facts['row']['number'])} of {integer(facts['row']['n_rows'])} data "
            "rows of the table, counted from 1."
        ),
    }
    if facts["range"] is not None:
        steps["Sets and intervals"] = _CONFORMAL
    steps["What if"] = (
        "The row itself with one column at quantiles of the training rows, or at their most "
        "frequent categories (individual conditional expectation, Goldstein et al. 2015). "
        "The combinations may include some that no real row has."
    )
    return steps | {"Seed": _describe_seed(facts)}


def _describe_model_page(facts: Mapping[str, Any]) -> dict[str, str]:
    steps = {"Model": _describe_model(facts)}
    if facts["importance"] is not None:
        steps["What drives it"] = (
            "Permutation importance (Breiman 2001; Fisher, Rudin and Dominici 2019) on rows not "
            "used for fitting."
        )
    if facts["surrogate"] is not None:
        steps["Surrogate tree"] = (
            "A tree fitted to the predictions of the model for "
            f"{integer(facts['surrogate']['n_fit'])} training rows and evaluated on "
            f"{integer(facts['surrogate']['n_rows'])} test rows."
        )
    if facts["promise"] is not None:
        steps["Sets and intervals"] = (
            f"{_CONFORMAL} Coverage is estimated by calibrating on each half of the test rows and "
            "evaluating on the other."
        )
    return steps | {"Seed": _describe_seed(facts)}


_CONFORMAL = (
    "Split-conformal prediction (Vovk, Gammerman and Shafer 2005; Lei et al. 2018) calibrated on "
    "test rows, which the model has not seen. The guarantee holds for rows of the same "
    "distribution, not after a distribution shift."
)


def _describe_seed(facts: Mapping[str, Any]) -> str:
    return f"{facts['seed']}; the same study, seed and versions give the same page."
