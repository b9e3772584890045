"""Tables of metrics, of rankings and distributions too; ROC and precision-recall curves.

The values are those of scikit-learn where it has the metric; this package adds tables, curves for
each class and confidence intervals.
"""

from arboleda._utils.concordance import concordance_index
from arboleda.metrics._calibration_error import (
    CalibrationError,
    calibration_error,
    expected_calibration_error,
)
from arboleda.metrics._censoring import CensoringCurve as CensoringCurve
from arboleda.metrics._censoring import kaplan_meier as kaplan_meier
from arboleda.metrics._class_curves import (
    PrecisionRecallCurve,
    PrecisionRecallCurves,
    RocCurve,
    RocCurves,
)
from arboleda.metrics._concordance import uno_concordance_index
from arboleda.metrics._curves import precision_recall_curves, roc_curves
from arboleda.metrics._distributions import DistributionTable, distribution_table
from arboleda.metrics._ranking import RankingTable, ranking_table
from arboleda.metrics._read import read_probabilities as read_probabilities
from arboleda.metrics._reliability import ReliabilityTable, reliability_table
from arboleda.metrics._survival_curves import (
    DCalibration,
    cumulative_dynamic_auc,
    d_calibration,
    integrated_survival_brier_score,
    survival_brier_score,
)
from arboleda.metrics._survival_curves import compute_area as compute_area
from arboleda.metrics._survival_table import SurvivalTable, survival_table
from arboleda.metrics._tables import (
    ClassificationTable,
    RegressionTable,
    classification_table,
    regression_table,
)

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
__all__ = [
    "CalibrationError",
    "ClassificationTable",
    "DCalibration",
    "DistributionTable",
    "PrecisionRecallCurve",
    "PrecisionRecallCurves",
    "RankingTable",
    "RegressionTable",
    "ReliabilityTable",
    "RocCurve",
    "RocCurves",
    "SurvivalTable",
    "calibration_error",
    "classification_table",
    "concordance_index",
    "cumulative_dynamic_auc",
    "d_calibration",
    "distribution_table",
    "expected_calibration_error",
    "integrated_survival_brier_score",
    "precision_recall_curves",
    "ranking_table",
    "regression_table",
    "reliability_table",
    "roc_curves",
    "survival_brier_score",
    "survival_table",
    "uno_concordance_index",
]
