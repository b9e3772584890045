"""Decisions from the probabilities of any classifier: misclassification costs and rejection."""

from arboleda.decide._accuracy_coverage import AccuracyCoverageCurve, accuracy_coverage_curve
from arboleda.decide._cost_sensitive_classifier import CostSensitiveClassifier
from arboleda.decide._reject_option_classifier import RejectOptionClassifier

__all__ = [
    "AccuracyCoverageCurve",
    "CostSensitiveClassifier",
    "RejectOptionClassifier",
    "accuracy_coverage_curve",
]
