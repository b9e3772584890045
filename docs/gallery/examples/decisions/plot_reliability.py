"""
Reliability of probabilities, before and after calibration
==============================================================

Of the e-mails with a predicted spam probability of 0.8, eight of ten should be spam. Naive Bayes is
overconfident: nearly all its probabilities are close to 0 or 1. AdaBoost is underconfident. Sigmoid
calibration transforms the scores by a curve with two parameters, isotonic calibration by any
increasing curve; both learn from held-out e-mails. The figure shows the expected calibration error
(ECE) and the value that a calibrated model would have by chance: an error of that size is not
significant.

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
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from arboleda import AdaBoostClassifier
from arboleda.metrics import calibration_error, reliability_table

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

models = {"naive Bayes": GaussianNB(), "AdaBoost": AdaBoostClassifier(n_estimators=200)}
figure, panels = plt.subplots(2, 3, figsize=(10, 7.4), sharex=True, sharey=True)
for row, (name, model) in zip(panels, models.items(), strict=True):
    for ax, method in zip(row, [None, "sigmoid", "isotonic"], strict=True):
        calibrated = CalibratedClassifierCV(model, method=method) if method else model
        p = calibrated.fit(X_train, y_train).predict_proba(X_test)
        error = calibration_error(y_test, p, of="classes", n_resamples=300, random_state=0)
        reliability_table(y_test, p, pos_label=1).plot(ax)
        ax.get_legend().remove()
        chance = f"ECE {error.value:.3f}, by chance {error.expected_by_chance:.3f}"
        ax.set_title(f"{name}{', ' + method if method else ''}\n{chance}", fontsize="medium")
        ax.set(xlabel="", ylabel="")
        interval = f"{error.low:.3f} to {error.high:.3f}"
        print(f"{name}, calibration {method}: ECE {error.value:.3f}, 95 % interval {interval}")
figure.supxlabel("mean probability of spam")
figure.supylabel("share that is spam")
figure.tight_layout()
plt.show()
