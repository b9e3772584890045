"""
Importances by impurity and by permutation
==========================================

Two measures of the importance of a column in a forest. By impurity: the decrease of the Gini index
by splits on the column, over all trees. By permutation: the increase of the error on the out-of-bag
rows of a tree when the column is permuted among them. After figure 15.5 of Hastie, Tibshirani and
Friedman (2009), with the most important column scaled to 100 in both.

The table is UCI's `Spambase <https://archive.ics.uci.edu/dataset/94/spambase>`_. It is read from
the folder that the environment variable ``ARBOLEDA_DATA`` names. If it is missing, scikit-learn's
breast-cancer table is used instead, as reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from arboleda import RandomForestClassifier

file = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "spambase" / "spam_esl.csv.gz"
if file.exists():
    X = pd.read_csv(file).drop(columns="test")
    y = X.pop("spam")
    X = X.rename(columns=lambda name: name.rpartition("_freq_")[2].removeprefix("capital_"))
    print(f"Spambase: {len(X)} mails")
else:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    print(f"NOT the spam table, which is not here, but breast cancer: {len(X)} rows")

forest = RandomForestClassifier(300, random_state=0).fit(X, y)
permuted = forest.oob_permutation_importance(X, y)
importances = {
    "by impurity (Gini)": forest.relative_importance(),
    "by permutation, out of bag": 100 * permuted.mean / permuted.mean.max(),
}

N_SHOWN = 25
fig, axes = plt.subplots(1, 2, figsize=(9, 6), layout="constrained")
for ax, (name, importance), colour in zip(axes, importances.items(), ["C0", "C1"], strict=True):
    order = np.argsort(importance)[-N_SHOWN:]
    ax.barh(X.columns[order], importance[order], color=colour, height=0.7)
    ax.set(title=name, xlabel="importance, the largest being 100")
    ax.tick_params("y", labelsize=8)
    ax.margins(y=0.01)
plt.show()

# %%
# The two measures agree on the important columns. Their order differs for correlated columns: the
# error hardly increases when one of them is permuted, because the others replace it, while its
# splits lower the impurity as before.

first, second = importances.values()
both = len(set(np.argsort(first)[-10:]) & set(np.argsort(second)[-10:]))
print(f"of the ten most important columns by impurity, {both} are so by permutation too")
