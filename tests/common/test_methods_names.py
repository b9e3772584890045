"""Every name in the list of methods can be imported, or is an attribute of a listed class."""

from importlib import import_module
from typing import Any

import pytest

import arboleda

# The names of the tables of methods, by their sections: classes and functions, or members of such.
NAMES = """
DecisionTreeClassifier DecisionTreeRegressor
DecisionTreeClassifier.cost_complexity_pruning_path
DecisionTreeRegressor.cost_complexity_pruning_path
PrunedTreeClassifier PrunedTreeRegressor
export_text export_graphviz plot_tree DecisionTreeClassifier.to_svg DecisionTreeClassifier.rules
BootstrapSplit bootstrap_error metrics.classification_table metrics.regression_table
diagnostics.bias_variance diagnostics.complexity_curve diagnostics.learning_curve
diagnostics.compare
VotingClassifier VotingRegressor BayesianModelAveragingClassifier BayesianModelAveragingRegressor
StackingClassifier StackingRegressor EnsembleSelectionClassifier EnsembleSelectionRegressor
DynamicSelectionClassifier DynamicSelectionRegressor diagnostics.diversity diagnostics.jury_accuracy
BaggingClassifier BaggingRegressor RandomSubspaceClassifier RandomSubspaceRegressor
ClassSwitchingClassifier RandomForestClassifier RandomForestRegressor ExtraTreesClassifier
ExtraTreesRegressor RandomForestClassifier.oob_curve BaggingClassifier.oob_curve
RandomForestClassifier.feature_importances_ RandomForestClassifier.relative_importance
RandomForestClassifier.oob_permutation_importance RandomForestClassifier.neighbor_weights
RandomForestClassifier.proximity RandomForestRegressor.predict_quantiles
diagnostics.forest_correlation SchapireBoostingClassifier AdaBoostClassifier AdaBoostRegressor
AdaBoostClassifier.margins AdaBoostClassifier.training_error_bound_
AdaBoostRegressor.training_error_bound_ AdaBoostClassifier.staged_predict
AdaBoostClassifier.staged_score AdaBoostClassifier.best_iteration_ GradientBoostingClassifier
GradientBoostingRegressor HistGradientBoostingClassifier HistGradientBoostingRegressor
BoostingClassifier BoostingRegressor BoostingRegressor.predict_interval
HistGradientBoostingClassifier.shape_functions HistGradientBoostingRegressor.staged_predict
HistGradientBoostingRegressor.staged_score HistGradientBoostingRanker
DistributionalBoostingRegressor metrics.distribution_table
metrics.ranking_table explain.importance explain.plot_importance explain.lime
explain.shap_values explain.partial_dependence plot.decision_regions explain.surrogate_tree
explain.surrogate_rules explain.prediction_interval explain.prediction_set CostSensitiveClassifier
RejectOptionClassifier MixedNaiveBayes BayesianNetworkClassifier RegularizedDiscriminantAnalysis
DiagonalLDA NearestShrunkenCentroids KernelDensityClassifier MRMRSelector JMISelector ForestSelector
Study
""".split()
# Parameters of the tables, by the class that has them.
PARAMETERS = {
    "DecisionTreeClassifier": "criterion max_depth max_leaf_nodes min_samples_split"
    " min_samples_leaf min_weight_fraction_leaf min_impurity_decrease ccp_alpha"
    " categorical_features",
    "PrunedTreeClassifier": "rule pruning validation_fraction",
    "VotingClassifier": "rule reject",
    "StackingClassifier": "weights passthrough",
    "DynamicSelectionClassifier": "method",
    "BaggingClassifier": "max_features max_samples oob_score",
    "ClassSwitchingClassifier": "p",
    "SchapireBoostingClassifier": "depth",
    "AdaBoostClassifier": "algorithm estimator on_degenerate n_iter_no_change validation_fraction",
    "AdaBoostRegressor": "algorithm estimator",
    "HistGradientBoostingRegressor": "loss monotonic_cst interaction_cst max_leaf_nodes",
    "CostSensitiveClassifier": "cost_matrix",
}


def named(name: str) -> Any:
    """What a name stands for, imported as a user would."""
    owner, _, member = name.partition(".")
    if not member:
        return getattr(arboleda, owner)
    if owner[0].islower():
        return getattr(import_module(f"arboleda.{owner}"), member)
    return getattr(getattr(arboleda, owner), member)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_can_be_imported(name: str) -> None:
    found = named(name)
    owner, _, member = name.partition(".")
    if not member:
        assert owner in arboleda.__all__
    assert callable(found) or isinstance(found, property)


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_each_parameter_exists(name: str) -> None:
    assert set(PARAMETERS[name].split()) <= set(named(name)._get_param_names())
