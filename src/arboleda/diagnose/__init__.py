"""Why an ensemble is as good as it is."""

from arboleda.diagnose._forest_correlation import ForestCorrelation, forest_correlation

__all__ = ["ForestCorrelation", "forest_correlation"]
