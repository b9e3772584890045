r"""
Three impurities of a node with two classes
===========================================

With a share :math:`p` of the positive class, the Gini index is :math:`2p(1-p)`, the entropy
:math:`-p\log_2 p - (1-p)\log_2(1-p)` and the misclassification rate :math:`\min(p, 1-p)`
(Hastie, Tibshirani and Friedman 2009, figure 9.3). The dots are what the
engine reports for the root of a tree.
"""

import matplotlib.pyplot as plt
import numpy as np

from arboleda import DecisionTreeClassifier

p = np.linspace(0, 1, 201)
with np.errstate(divide="ignore", invalid="ignore"):
    entropy = np.nan_to_num(-p * np.log2(p) - (1 - p) * np.log2(1 - p))
curves = {"entropy": entropy, "gini": 2 * p * (1 - p), "misclassification": np.minimum(p, 1 - p)}


def root_impurity(criterion, share):
    """Grow nothing but a root: the only feature is constant, so no split exists."""
    y = np.arange(40) < 40 * share
    return DecisionTreeClassifier(criterion=criterion).fit(np.zeros((40, 1)), y).tree_.impurity[0]


dots = np.linspace(0.05, 0.95, 19)
for colour, (criterion, curve) in zip(["C0", "C2", "C1"], curves.items(), strict=True):
    plt.plot(p, curve, color=colour, label=criterion)
    plt.plot(dots, [root_impurity(criterion, share) for share in dots], "o", color=colour, ms=4)
plt.xlabel("share p of the positive class")
plt.ylabel("impurity")
plt.legend(frameon=False)
plt.show()

# %%
# Why grow trees with Gini or entropy if the number of errors matters? Take 400 rows of each class
# and two splits, one into (300, 100) and (100, 300), the other into (200, 400) and (200, 0). Both
# misclassify a quarter of the rows, but the second has a pure node, and only the two curved
# measures reward that.

splits = {"A": [(300, 100), (100, 300)], "B": [(200, 400), (200, 0)]}


def weighted_impurity(criterion, children):
    """Mean impurity of the children, weighted by their rows."""
    impurities = []
    for counts in children:
        y = np.repeat([0, 1], counts)
        root = DecisionTreeClassifier(criterion=criterion).fit(np.zeros((len(y), 1)), y)
        impurities.append(root.tree_.impurity[0])
    return np.average(impurities, weights=[sum(counts) for counts in children])


print(f"{'':18s}split A  split B")
for criterion in curves:
    values = [weighted_impurity(criterion, children) for children in splits.values()]
    print(f"{criterion:18s}{values[0]:7.3f}{values[1]:9.3f}")
