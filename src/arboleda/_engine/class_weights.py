"""Weights of classes as a user gives them: by label, in a dict."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["check_class_weights"]


def check_class_weights(weights: Any, parameter: str = "class_weight") -> None:
    """Refuse a dict whose values are no weights; other settings, as "balanced", name none.

    Parameters
    ----------
    weights : dict or other
        Weight of each class, by its label.
    parameter : str
        What messages call it.

    Raises
    ------
    ValueError
        If a weight is no number, not finite or negative. The message names the class.

    Examples
    --------
    >>> check_class_weights({"ham": 1.0, "spam": 3})
    """
    if not isinstance(weights, dict):
        return
    for label, weight in weights.items():
        if not 0.0 <= _number(weight) < math.inf:
            raise ValueError(
                f"{parameter} gives the class {label!r} the weight {weight!r}: give every class a "
                "finite number that is not negative, as 2.0"
            )


def _number(weight: Any) -> float:
    """Value of a number of any type; NaN of anything else."""
    try:
        return math.nan if isinstance(weight, str | bytes) else float(weight)
    except (TypeError, ValueError, OverflowError):
        return math.nan
