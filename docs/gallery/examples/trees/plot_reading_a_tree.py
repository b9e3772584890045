"""
Reading a tree
==============

Trees are interpretable models: they can be shown as a drawing, a figure, a text and a list of
rules, here for two well-known tables.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris

from arboleda import DecisionTreeClassifier, export_text, plot_tree

# %%
# The drawing
# -----------
# ``to_svg()`` draws the tree from the root at the left to the leaves at the right, so that a deep
# tree with thirty features remains readable. A box shows a condition or a prediction, the number of
# training rows and a bar with the shares of the classes; the upper branch is taken if the condition
# holds. The width of a branch is its share of the rows, and the path of most rows is dark. A leaf
# has the colour of its class, stronger if it is purer.

cancer = load_breast_cancer(as_frame=True)
deep = DecisionTreeClassifier(max_depth=6).fit(cancer.data, cancer.target)
deep.to_svg(class_names=cancer.target_names)

# %%
# matplotlib
# ----------
# ``plot_tree`` draws the usual picture, with scikit-learn's parameters and text.

iris = load_iris(as_frame=True)
tree = DecisionTreeClassifier(max_depth=3).fit(iris.data, iris.target)
plt.figure(figsize=(8, 5))
plot_tree(tree, filled=True, rounded=True, impurity=False, class_names=iris.target_names)
plt.tight_layout()
plt.show()

# %%
# Text
# ----
# ``export_text`` writes a line for each branch and each leaf.

print(export_text(tree, class_names=iris.target_names))

# %%
# Rules
# -----
# ``rules()`` returns one rule for each leaf, with one merged condition per column. Every flower
# satisfies exactly one rule. The support of a rule is its share of the training rows, the
# confidence the share of its class among them, and the lift how many times more frequent the class
# is there than in the whole table.

rules = tree.rules(class_names=iris.target_names)
print(rules)

# %%
# Rules are objects, and can be converted to a table:

best = max(rules, key=lambda rule: rule.support * rule.confidence)
print(best.prediction, best.n_samples, [str(condition) for condition in best.conditions])
rules.to_frame().drop(columns=["impurity", "leaf"]).round(3)
