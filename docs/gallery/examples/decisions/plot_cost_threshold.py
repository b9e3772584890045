"""
What a threshold costs
======================

Losing a regular e-mail is worse than reading a spam, say ten times as bad. With correct
probabilities, an e-mail should then be classified as spam if P(spam) > 10/11, not 1/2. The
probabilities of naive Bayes are far too confident, because it treats correlated words as
independent evidence. The rule of minimum expected cost then fails, and there are two remedies:
learn the threshold from its costs on held-out e-mails (``method="threshold"``), or calibrate the
probabilities first.

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
from sklearn.naive_bayes import GaussianNB

from arboleda import CostSensitiveClassifier

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

COSTS = {(0, 1): 10.0, (1, 0): 1.0}  # (truth, prediction): a good mail lost, a spam let through


def costs_of_thresholds(p):
    """Share of the mails called spam, and mean cost, as the threshold falls from 1 to 0."""
    odds = np.diff(np.log(np.maximum(p, 1e-300)))[:, 0]  # keeps apart what would round to 1
    spam = y_test[np.argsort(-odds)] == 1
    lost = np.append(0, np.cumsum(~spam))
    let_through = spam.sum() - np.append(0, np.cumsum(spam))
    return np.arange(len(p) + 1) / len(p), (10.0 * lost + let_through) / len(p)


# %%
# The threshold of each rule, and its cost on the test e-mails:

figure, panels = plt.subplots(1, 2, figsize=(9, 5.2), sharey=True)
for ax, calibration in zip(panels, [None, "isotonic"], strict=True):
    options = {"cost_matrix": COSTS, "calibration": calibration}
    rules = {
        "1/2": CostSensitiveClassifier(GaussianNB(), calibration=calibration),
        "10/11, of least expected cost": CostSensitiveClassifier(GaussianNB(), **options),
        "tuned on mails held out": CostSensitiveClassifier(
            GaussianNB(), **options, method="threshold"
        ),
    }
    name = "naive Bayes" + (f", {calibration} calibration" if calibration else "")
    for (rule, model), mark in zip(rules.items(), ["s", "^", "o"], strict=True):
        predicted = model.fit(X_train, y_train).predict(X_test)
        cost = np.mean(10.0 * (predicted > y_test) + (predicted < y_test))
        ax.plot(
            predicted.mean(), cost, mark, ms=8, clip_on=False, zorder=3, label=f"{rule}: {cost:.2f}"
        )
        print(f"{name}: threshold {rule}: mean cost {cost:.3f}")
    shares, costs = costs_of_thresholds(model.predict_proba(X_test))
    ax.plot(shares, costs, color="0.4", lw=1.2, label="any threshold")
    ax.set_title(name)
    ax.set_xlabel("share of mails called spam")
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 3.0)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13))
panels[0].set_ylabel("mean cost of a mail")
figure.tight_layout()
plt.show()
