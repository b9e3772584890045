"""A pytest plugin that replaces scikit-learn's classes by ours and records the outcomes.

Loaded with ``-p tests.parity.sklearn_suites_plugin`` before scikit-learn's own tests are imported,
so that ``from sklearn.ensemble import RandomForestClassifier`` in them gives ours. The outcome of
every test is written as JSON to the file that ``ARBOLEDA_SUITE_OUTCOMES`` names.
"""

import json
import os
from pathlib import Path
from typing import Any

import sklearn.ensemble
import sklearn.tree

import arboleda

ENSEMBLES = (
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
)
TREES = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "export_graphviz",
    "export_text",
    "plot_tree",
)

for module, names in ((sklearn.ensemble, ENSEMBLES), (sklearn.tree, TREES)):
    for name in names:
        setattr(module, name, getattr(arboleda, name))

outcomes: dict[str, str] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the worst outcome of a test's set-up, call and tear-down."""
    test = report.nodeid.split("::", 1)[1]
    if report.outcome == "failed" or report.when == "call" or report.skipped:
        outcomes[test] = "failed" if outcomes.get(test) == "failed" else report.outcome


def pytest_sessionfinish() -> None:
    """Write the outcomes."""
    Path(os.environ["ARBOLEDA_SUITE_OUTCOMES"]).write_text(json.dumps(outcomes), "utf-8")
