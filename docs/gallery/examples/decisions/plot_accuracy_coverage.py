"""
Accuracy over coverage: leaving unclear rows undecided
=======================================================

A filter that may leave e-mails undecided makes fewer errors on the others. Each curve begins at the
most confident predictions of a model and ends at all e-mails; the higher it is, the better the
model's probabilities separate clear from unclear cases, whatever its accuracy on all. The points
are the thresholds that ``RejectOptionClassifier(target_accuracy=0.98)`` chose on rows held out in
training.

The table is UCI's `Spambase <https://archive.ics.uci.edu/dataset/94/spambase>`_, divided as Hastie,
Tibshirani and Friedman (2009) do, read from the folder that the environment variable
``ARBOLEDA_DATA`` names. If it is missing, scikit-learn's breast-cancer table is used instead, as
reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import DecisionTreeClassifier, RandomForestClassifier, RejectOptionClassifier
from arboleda.decide import accuracy_coverage_curve

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

models = {
    "random forest": RandomForestClassifier(300, random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "tree of 30 leaves": DecisionTreeClassifier(max_leaf_nodes=30, random_state=0),
    "naive Bayes": GaussianNB(),
}
ax = plt.figure(figsize=(7, 4.5)).add_subplot()
for number, (name, model) in enumerate(models.items()):
    wary = RejectOptionClassifier(model, target_accuracy=0.98)
    try:
        wary.fit(X_train, y_train)
    except ValueError as error:  # a model whose surest rows are wrong too often
        print(f"{name}: {error}")
        wary = RejectOptionClassifier(model, threshold=0.5).fit(X_train, y_train)
        predicted = None
    else:
        predicted = wary.predict(X_test)
    curve = accuracy_coverage_curve(y_test, wary.predict_proba(X_test))
    curve.plot(ax, label=f"{name}: {curve.area:.4f}")
    if predicted is None:
        continue
    decided = ~wary.reject(X_test)
    right = np.mean(predicted[decided] == y_test[decided])
    ax.plot(decided.mean(), right, "o", ms=7, color=f"C{number}", zorder=3)
    print(f"{name}: decides {decided.mean():.1%} of the mails, {right:.2%} of them rightly")
ax.axhline(0.98, color="0.6", lw=0.8, ls="--", zorder=0)
ax.set_ylim(0.8, 1.002)
ax.legend(title="area under risk over coverage", frameon=False, loc="lower center")
plt.show()
