"""Classification and regression trees."""

from arboleda.tree._decision_tree_classifier import DecisionTreeClassifier
from arboleda.tree._decision_tree_regressor import DecisionTreeRegressor
from arboleda.tree._export_graphviz import export_graphviz
from arboleda.tree._export_text import export_text
from arboleda.tree._plot_tree import plot_tree
from arboleda.tree._pruned_tree_classifier import PrunedTreeClassifier
from arboleda.tree._pruned_tree_regressor import PrunedTreeRegressor
from arboleda.tree._pruning_curve import PruningCurve
from arboleda.tree._rules import Condition, Rule, Rules
from arboleda.tree._view import TreeView as TreeView
from arboleda.tree._view import view_tree as view_tree

__all__ = [
    "Condition",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "PrunedTreeClassifier",
    "PrunedTreeRegressor",
    "PruningCurve",
    "Rule",
    "Rules",
    "export_graphviz",
    "export_text",
    "plot_tree",
]
