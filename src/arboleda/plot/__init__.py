"""Plots of explanations and models, in one plain style that remains legible in greyscale.

One file for each kind of plot; ``_style`` has the colours and axes, and ``_fit`` places texts.
Nothing is computed here that a table of results does not hold.
"""

from arboleda.plot._bars import for_against, importance
from arboleda.plot._curves import coverage, precision_recall, reliability, roc
from arboleda.plot._decision_regions import decision_regions
from arboleda.plot._dependence import dependence
from arboleda.plot._intervals import intervals
from arboleda.plot._shap import shap_summary, shap_waterfall
from arboleda.plot._surrogate import fidelity_curve, rule_list, surrogate

__all__ = [
    "coverage",
    "decision_regions",
    "dependence",
    "fidelity_curve",
    "for_against",
    "importance",
    "intervals",
    "precision_recall",
    "reliability",
    "roc",
    "rule_list",
    "shap_summary",
    "shap_waterfall",
    "surrogate",
]
