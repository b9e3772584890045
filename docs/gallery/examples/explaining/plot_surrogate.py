"""
A forest approximated by one tree, and by eight rules
=====================================================

Five hundred trees cannot be read, but a single small tree that approximates them can. Its fidelity
measures the approximation: the share of held-out rows on which both predict the same class. The
page also shows the error of the small tree, that of the forest, and that of a tree of the same size
that learned from the true classes instead of from the forest.

The table is UCI's `Adult <https://archive.ics.uci.edu/dataset/2/adult>`_ with its own test rows,
read from the folder that the environment variable ``ARBOLEDA_DATA`` names. If it is missing,
scikit-learn's breast-cancer table is used instead, as reported here:
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
# The forest's out-of-bag predictions are used: on its own training rows, a forest reproduces the
# targets, and the surrogate would learn the noise of y as well.

options = {"X_test": X_test, "y_test": y_test, "answers": forest.oob_decision_function_}
tree = explain.surrogate_tree(forest, X_train, y_train, max_leaves=8, **options)
tree.plot()
print(f"a tree of {tree.model.get_n_leaves()} leaves: fidelity {tree.fidelity:.3f}")

# %%
# As rules, of which the first that applies gives the prediction. The last rule, "otherwise", would
# take many leaves in a tree, so rules have a higher fidelity at the same size.

rules = explain.surrogate_rules(forest, X_train, y_train, max_rules=8, **options)
print(rules.model)
rules.plot()
plt.show()
