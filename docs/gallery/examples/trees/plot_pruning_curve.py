"""
How large should a tree be? The one-standard-error rule
=======================================================

A large tree is grown and pruned along the sequence of its best pruned trees; ten-fold
cross-validation chooses the size. The curve falls steeply and then is flat over a wide range; the
smallest tree within one standard error of the minimum is chosen. After figures 9.4 and 9.5 of
Hastie, Tibshirani and Friedman (2009), who prune a spam filter to 17 leaves with a test error of
9.3 %: 4,601 e-mails with 57 frequencies of words and characters, of which 1,536 are test rows.

The table is UCI's `Spambase <https://archive.ics.uci.edu/dataset/94/spambase>`_ with the book's own
division. It is read from the folder that the environment variable ``ARBOLEDA_DATA`` names. If it is
missing, scikit-learn's breast-cancer table is used instead, as reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from arboleda import DecisionTreeClassifier, PrunedTreeClassifier, plot_tree

file = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "spambase" / "spam_esl.csv.gz"
if file.exists():
    frame = pd.read_csv(file)
    is_test = frame.pop("test") == 1
    y = frame.pop("spam").map({0: "email", 1: "spam"})
    X = frame.rename(columns=lambda name: name.rpartition("_freq_")[2].removeprefix("capital_"))
    print(f"Spambase: {len(X)} mails, {is_test.sum()} of them for testing")
else:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    is_test = pd.Series(np.arange(len(y)) % 3 == 2)
    print(
        f"NOT the spam table, which is not here, but breast cancer: {len(X)} rows, a third to test"
    )
X_train, y_train, X_test, y_test = X[~is_test], y[~is_test], X[is_test], y[is_test]

# %%
# The book grows the tree with entropy; nodes of fewer than 20 rows are not split and leaves have at
# least 7 rows, the defaults of rpart.

growing = {"criterion": "entropy", "min_samples_split": 20, "min_samples_leaf": 7}
tree = PrunedTreeClassifier(**growing, random_state=0).fit(X_train, y_train)
curve = tree.pruning_curve_
print(f"from {curve.n_leaves[0]} leaves to {tree.get_n_leaves()},", end=" ")
print(f"test error {1 - tree.score(X_test, y_test):.1%}")

# %%
# The test rows are not used for the choice. Their error is shown for comparison, by pruning a tree
# at every penalty of the curve.

test_error = [
    1
    - DecisionTreeClassifier(**growing, ccp_alpha=alpha).fit(X_train, y_train).score(X_test, y_test)
    for alpha in curve.alpha
]
ax = curve.plot(plt.figure(figsize=(7, 4.5)).add_subplot())
ax.plot(curve.n_leaves, test_error, color="C2", lw=1, label="test rows")
ax.set_ylabel("share misclassified")
ax.legend(frameon=False)
plt.show()

# %%
# Where the curve is flat, chance decides which of its trees is within the standard error: other
# folds give another size, and almost the same test error.

for seed in range(1, 6):
    other = PrunedTreeClassifier(**growing, random_state=seed).fit(X_train, y_train)
    print(f"{other.get_n_leaves()} leaves, test error {1 - other.score(X_test, y_test):.1%}")

# %%
# The chosen tree, as in figure 9.5:

ax = plt.figure(figsize=(14, 8)).add_subplot()
plot_tree(tree, class_names=tree.classes_, filled=True, impurity=False, label="none", ax=ax)
plt.show()
