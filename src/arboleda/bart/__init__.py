"""Bayesian additive regression trees."""

from arboleda.bart._bart_classifier import BARTClassifier
from arboleda.bart._bart_regressor import BARTRegressor

__all__ = ["BARTClassifier", "BARTRegressor"]
