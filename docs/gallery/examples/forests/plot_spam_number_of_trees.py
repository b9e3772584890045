"""
Bagging, a random forest and boosting by the number of trees
============================================================

Bagging and forests average trees, so more trees never hurt: the error falls and then stays
constant. Boosting adds small trees that correct the others: it starts worse and catches up. After
figure 15.1 of Hastie, Tibshirani and Friedman (2009): a spam filter with 1,536 test e-mails, which
are used for nothing else. (One e-mail is 0.065 % of them.)

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

from arboleda import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier

file = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "spambase" / "spam_esl.csv.gz"
if file.exists():
    X = pd.read_csv(file)
    is_test, y = (X.pop("test") == 1).to_numpy(), X.pop("spam").to_numpy()
    print(f"Spambase: {len(X)} mails, {is_test.sum()} of them for testing")
else:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    is_test, y = np.arange(len(y)) % 3 == 2, y.to_numpy()
    print(f"NOT the spam table, which is not here, but breast cancer: {len(X)} rows")
X = X.to_numpy()
X_train, y_train, X_test, y_test = X[~is_test], y[~is_test], X[is_test], y[is_test]

N_TREES = 500


def errors_of_votes(trees):
    """Test error of the mean vote of the first 1, 2, .. trees."""
    votes = np.cumsum([tree.predict_proba(X_test) for tree in trees], axis=0)
    return (votes.argmax(axis=2) != y_test).mean(axis=1)


bagging = BaggingClassifier(n_estimators=N_TREES, random_state=0).fit(X_train, y_train)
forest = RandomForestClassifier(N_TREES, random_state=0).fit(X_train, y_train)
boosting = GradientBoostingClassifier(
    n_estimators=N_TREES, max_leaf_nodes=5, max_depth=None, learning_rate=0.1, random_state=0
).fit(X_train, y_train)

curves = {
    "bagging": errors_of_votes(bagging.estimators_),
    "random forest": errors_of_votes(forest.estimators_),
    "boosting, trees of 5 leaves": np.array(
        [(label != y_test).mean() for label in boosting.staged_predict(X_test)]
    ),
}
for (name, errors), colour in zip(curves.items(), ["C1", "C0", "C2"], strict=True):
    plt.plot(np.arange(1, N_TREES + 1), errors, color=colour, lw=1, label=name)
    print(f"{name}: {errors[-1]:.2%} with {N_TREES} trees, at best {errors.min():.2%}")
if file.exists():
    plt.ylim(0.035, 0.075)
plt.xlabel("trees")
plt.ylabel("test error")
plt.legend(frameon=False)
plt.show()

# %%
# The rows that a tree did not draw can replace test rows: the out-of-bag error needs no held-out
# rows, and shows when there are enough trees.

scored = RandomForestClassifier(N_TREES, oob_score=True, random_state=0).fit(X_train, y_train)
curve = scored.oob_curve()
plt.plot(curve.n_estimators, curve.error, color="C3", lw=1, label="out of bag")
plt.plot(np.arange(1, N_TREES + 1), curves["random forest"], color="C0", lw=1, label="test rows")
if file.exists():
    plt.ylim(0.035, 0.075)
plt.xlabel("trees")
plt.ylabel("error of the random forest")
plt.legend(frameon=False)
plt.show()
