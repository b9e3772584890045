"""Metrics as tables, and how far probabilities can be trusted: pure functions of outputs."""

from arboleda.metrics._calibration_error import (
    CalibrationError,
    calibration_error,
    expected_calibration_error,
)
from arboleda.metrics._reliability import ReliabilityTable, reliability_table
from arboleda.metrics._tables import (
    ClassificationTable,
    RegressionTable,
    classification_table,
    regression_table,
)

__all__ = [
    "CalibrationError",
    "ClassificationTable",
    "RegressionTable",
    "ReliabilityTable",
    "calibration_error",
    "classification_table",
    "expected_calibration_error",
    "regression_table",
    "reliability_table",
]
