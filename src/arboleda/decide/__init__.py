"""Decisions from the probabilities of any classifier: misclassification costs and rejection.

``_cost_sensitive_classifier`` and ``_reject_option_classifier`` hold the estimators, on the base
class in ``_posterior_classifier``; ``_costs`` reads costs, ``_posterior_weights`` tunes thresholds
on them, and ``_accuracy_coverage`` has the curve of accuracy over coverage.
"""

from arboleda.decide._accuracy_coverage import AccuracyCoverageCurve, accuracy_coverage_curve
from arboleda.decide._cost_sensitive_classifier import CostSensitiveClassifier
from arboleda.decide._costs import best_decisions as best_decisions
from arboleda.decide._costs import expected_costs as expected_costs
from arboleda.decide._reject_option_classifier import RejectOptionClassifier

__all__ = [
    "AccuracyCoverageCurve",
    "CostSensitiveClassifier",
    "RejectOptionClassifier",
    "accuracy_coverage_curve",
]
