"""Diagnostics of ensembles: diversity, bias and variance, error curves, model comparison.

Each diagnosis is a function in a file of its name, and returns an object with tables and a plot.
"""

from arboleda.diagnose._bias_variance import BiasVariance, bias_variance
from arboleda.diagnose._comparison import Comparison, compare
from arboleda.diagnose._comparison import corrected_t_test as corrected_t_test
from arboleda.diagnose._comparison import holm as holm
from arboleda.diagnose._data_sets import DataSetComparison, compare_over_data_sets
from arboleda.diagnose._diversity import Diversity, diversity
from arboleda.diagnose._error_curves import ErrorCurve, complexity_curve, learning_curve
from arboleda.diagnose._forest_correlation import ForestCorrelation, forest_correlation
from arboleda.diagnose._jury import JuryCurves, jury_accuracy, jury_curves
from arboleda.diagnose._margins import (
    MarginDistribution,
    margin_bound,
    margin_distribution,
    vc_bound,
)

__all__ = [
    "BiasVariance",
    "Comparison",
    "DataSetComparison",
    "Diversity",
    "ErrorCurve",
    "ForestCorrelation",
    "JuryCurves",
    "MarginDistribution",
    "bias_variance",
    "compare",
    "compare_over_data_sets",
    "complexity_curve",
    "diversity",
    "forest_correlation",
    "jury_accuracy",
    "jury_curves",
    "learning_curve",
    "margin_bound",
    "margin_distribution",
    "vc_bound",
]
