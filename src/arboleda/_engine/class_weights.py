"""Validation of class weights."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["check_class_weights"]


def check_class_weights(weights: Any, parameter: str = "class_weight") -> None:
    """Check the values of a dict of class weights; other settings are ignored.

    Parameters
    ----------
    weights : dict or other
        Weight of each class, by its label.
    parameter : str
        Name of the parameter in messages.

    Raises
    ------
    ValueError
        If a weight is not a number, not finite or negative. The message names the class.

    Examples
    --------
    >>> check_class_weights({"ham": 1.0, "spam": 3})
    """
    if not isinstance(weights, dict):
        return
    for label, weight in weights.items():
        if not 0.0 <= _number(weight) < math.inf:
            raise ValueError(
                f"{parameter} gives the class {label!r} the weight {weight!r}: weights must be "
                "finite, non-negative numbers, such as 2.0"
            )


def _number(weight: Any) -> float:
    """Return the value of a number of any type; NaN for anything else."""
    try:
        return math.nan if isinstance(weight, str | bytes) else float(weight)
    except (TypeError, ValueError, OverflowError):
        return math.nan
