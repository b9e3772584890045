"""Classification and regression trees."""

from arboleda.tree._decision_tree_classifier import DecisionTreeClassifier
from arboleda.tree._decision_tree_regressor import DecisionTreeRegressor

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor"]
