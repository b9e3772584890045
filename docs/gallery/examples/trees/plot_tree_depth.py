"""
How deep should a tree be?
==========================

A tree that grows until its leaves are pure fits its training rows without error and is not the best
on new ones. On the breast-cancer table, with a quarter of the rows held out (stratified,
``random_state=42``), depth 4 is slightly worse on the training rows and better on the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from arboleda import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=42)

depths = np.arange(1, 9)
trees = [DecisionTreeClassifier(max_depth=depth).fit(X_train, y_train) for depth in depths]
plt.plot(depths, [tree.score(X_train, y_train) for tree in trees], "o-", label="training rows")
plt.plot(depths, [tree.score(X_test, y_test) for tree in trees], "o-", label="test rows")
plt.xlabel("max_depth")
plt.ylabel("accuracy")
plt.legend(frameon=False)
plt.show()

# %%
# The numbers of a full tree and of one of depth 4:

for name, depth in {"full tree": None, "depth 4": 4}.items():
    tree = DecisionTreeClassifier(max_depth=depth).fit(X_train, y_train)
    train, test = tree.score(X_train, y_train), tree.score(X_test, y_test)
    print(f"{name:10s} train {train:.3f}  test {test:.3f}  leaves {tree.get_n_leaves()}")

# %%
# The features of the tree of depth 4, by the share of the impurity that each removes:

tree = DecisionTreeClassifier(max_depth=4).fit(X_train, y_train)
order = np.argsort(tree.feature_importances_)[-8:]
plt.figure()
plt.barh(X.columns[order], tree.feature_importances_[order])
plt.xlabel("importance")
plt.tight_layout()
plt.show()
