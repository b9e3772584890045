"""
Reading a tree
==============

A tree is the model that can be read: as a drawing, a figure, a text and a list of rules. Here they
are, on two tables that everybody knows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris

from arboleda import DecisionTreeClassifier, export_text, plot_tree

# %%
# The drawing
# -----------
# ``to_svg()`` draws the tree from the root at the left to the leaves at the right, so that a deep
# tree with thirty features stays readable. A box holds a question or an answer, its number of
# training rows and a bar with the shares of the classes; the upper branch is "yes". Branches are
# as wide as their share of the rows, and the way that most rows take is dark. A leaf is tinted in
# the colour of its class, the stronger the purer.

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
# ``rules()`` gives one rule for each leaf, with the questions about one column merged into one
# condition. Every flower meets exactly one rule. The support of a rule is its share of the
# training rows, the confidence the share of its class among them, and the lift how many times
# more frequent the class is there than in the whole table.

rules = tree.rules(class_names=iris.target_names)
print(rules)

# %%
# They are objects, and become a table:

best = max(rules, key=lambda rule: rule.support * rule.confidence)
print(best.prediction, best.n_samples, [str(condition) for condition in best.conditions])
rules.to_frame().drop(columns=["impurity", "leaf"]).round(3)
