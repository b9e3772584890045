"""Regressors that are tuned to targets of unit size."""

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.preprocessing import StandardScaler

__all__ = ["scaled_target"]


def scaled_target(regressor: Any) -> Any:
    """The regressor, learning the standardised target and answering in the target's own units."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())
