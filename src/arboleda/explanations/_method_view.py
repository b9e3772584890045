"""How an explanation was made, in sentences."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, plain

__all__ = ["method_view"]


def method_view(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List the steps of a page, each with what was done."""
    return list((_of_row(facts) if facts["about"] == "row" else _of_model(facts)).items())


def _model(facts: Mapping[str, Any]) -> str:
    model = facts["model"]
    params = ", ".join(f"{key} = {_scalar(value)}" for key, value in model["params"].items())
    return (
        f"{model['name']} ({model['engine']}{', ' if params else ''}{params}), number "
        f"{model['rank']} of {model['n_models']} on the study's leaderboard, learned from the "
        f"{integer(facts['study']['n_train'])} training rows."
    )


def _scalar(value: Any) -> str:
    if value is None:
        return "none"
    return (
        plain(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
    )


def _of_row(facts: Mapping[str, Any]) -> dict[str, str]:
    steps = {
        "Model": _model(facts),
        "Row": (
            f"Number {integer(facts['row']['number'])} of {integer(facts['row']['n_rows'])} data "
            "rows, counted from 1 as they stand in the table."
        ),
    }
    if facts["range"] is not None:
        steps["Sets and intervals"] = _CONFORMAL
    steps["If it were different"] = (
        "The row itself with one column at quantiles of the training rows, or at their most "
        "frequent categories (individual conditional expectation, Goldstein et al. 2015). "
        "Combinations that no real row has may be among them."
    )
    return steps | {"Seed": _seed(facts)}


def _of_model(facts: Mapping[str, Any]) -> dict[str, str]:
    steps = {"Model": _model(facts)}
    if facts["importance"] is not None:
        steps["What drives it"] = (
            "Permutation importance (Breiman 2001; Fisher, Rudin and Dominici 2019) on rows that "
            "took no part in fitting."
        )
    if facts["surrogate"] is not None:
        steps["As one tree"] = (
            f"A tree grown on the model's answers for {integer(facts['surrogate']['n_fit'])} "
            f"training rows and judged on {integer(facts['surrogate']['n_rows'])} test rows."
        )
    if facts["promise"] is not None:
        steps["Sets and intervals"] = (
            f"{_CONFORMAL} One half of the test rows calibrates, the other is judged, and the "
            "other way round."
        )
    return steps | {"Seed": _seed(facts)}


_CONFORMAL = (
    "Split-conformal prediction (Vovk, Gammerman and Shafer 2005; Lei et al. 2018) calibrated on "
    "test rows, which the model has not seen. It holds for rows of the same kind; where the world "
    "has changed since, it does not."
)


def _seed(facts: Mapping[str, Any]) -> str:
    return f"{facts['seed']}; the same study, seed and versions give the same page."
