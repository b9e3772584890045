"""
A forest read as one tree, and as eight rules
=============================================

Five hundred trees cannot be read. A single small tree that imitates them can, and its fidelity says
how much of the forest it tells: the share of rows held out on which both say the same class. What
the small tree costs stands beside it: its own error, that of the forest, and that of a tree of the
same size that learned from the truth instead of from the forest.

The table is UCI's `Adult <https://archive.ics.uci.edu/dataset/2/adult>`_ with its own test rows,
read from the folder that the environment variable ``ARBOLEDA_DATA`` names. Where it is not there,
scikit-learn's breast-cancer table stands in, and the page says so here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from arboleda import RandomForestClassifier, explain

file = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "adult" / "adult.csv.gz"
if file.exists():
    X = pd.read_csv(file, na_values="?")
    y, n_test = X.pop("income").to_numpy(), 16_281
    print(f"Adult: {len(X):,} rows, the first {n_test:,} of them for testing")
else:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y, n_test = np.array(["malignant", "benign"])[y], 190
    print(f"NOT Adult, which is not here, but breast cancer: {len(X)} rows")
X_test, y_test, X_train, y_train = X[:n_test], y[:n_test], X[n_test:], y[n_test:]
forest = RandomForestClassifier(100, oob_score=True, min_samples_leaf=5, random_state=0)
forest.fit(X_train, y_train)

# %%
# The forest is asked out of bag: of its own training rows it would say what it was told, and the
# noise of y would be imitated with the rest.

given = {"X_test": X_test, "y_test": y_test, "answers": forest.oob_decision_function_}
tree = explain.surrogate_tree(forest, X_train, y_train, max_leaves=8, **given)
tree.plot()
print(f"a tree of {tree.model.get_n_leaves()} leaves: fidelity {tree.fidelity:.3f}")

# %%
# As rules: the first whose conditions hold speaks. All that stands in the last rule, "otherwise",
# costs a tree many leaves, so that rules say more with less.

rules = explain.surrogate_rules(forest, X_train, y_train, max_rules=8, **given)
print(rules.model)
rules.plot()
plt.show()
