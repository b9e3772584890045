"""Classification and regression trees.

``_decision_tree_estimators`` and ``_pruned_tree_estimators`` hold the estimators, with their base
classes in ``_decision_tree`` and ``_pruned_tree``. ``_tree_view``, ``_rules``, ``_export`` and
``_plot_tree`` show a fitted tree as lists, rules, text and drawings. ``_sharded_fit`` fits a tree
to a table in shards.
"""

from arboleda.tree._decision_tree import DecisionTree as DecisionTree
from arboleda.tree._decision_tree_estimators import DecisionTreeClassifier, DecisionTreeRegressor
from arboleda.tree._export import export_graphviz, export_text
from arboleda.tree._plot_tree import plot_tree
from arboleda.tree._pruned_tree_estimators import PrunedTreeClassifier, PrunedTreeRegressor
from arboleda.tree._pruning_curve import PruningCurve
from arboleda.tree._rules import Condition, Rule, Rules
from arboleda.tree._rules import find_node_conditions as find_node_conditions
from arboleda.tree._rules import join_conditions as join_conditions
from arboleda.tree._sharded_fit import check_shard_support as check_shard_support
from arboleda.tree._sharded_fit import fit_shard as fit_shard
from arboleda.tree._tree_view import TreeView as TreeView
from arboleda.tree._tree_view import view_tree as view_tree

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
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
