"""Engine classes for AdaBoost regressors: densities over targets, weighted medians."""

from arboleda._native import RunningMedians, TargetDensity

__all__ = ["RunningMedians", "TargetDensity"]
