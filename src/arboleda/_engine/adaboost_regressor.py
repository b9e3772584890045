"""What boosting of regressors leaves to the engine: densities over targets, weighted medians."""

from arboleda._native import RunningMedians, TargetDensity

__all__ = ["RunningMedians", "TargetDensity"]
