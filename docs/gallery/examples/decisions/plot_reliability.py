"""
Can the probabilities be trusted? Before and after calibration
==============================================================

Of the mails said to be spam with probability 0.8, eight of ten should be. Naive Bayes is far too
sure: nearly all its probabilities lie at 0 or 1. AdaBoost is the other way round. Sigmoid
calibration bends the scale by a curve of two parameters, isotonic by any that rises; both learn
from mails held out. Beside the expected calibration error (ECE) stands how large it would be by
chance if the model were calibrated: so small an error means nothing.

The table is UCI's `Spambase <https://archive.ics.uci.edu/dataset/94/spambase>`_, divided as Hastie,
Tibshirani and Friedman (2009) do, read from the folder that the environment variable
``ARBOLEDA_DATA`` names. Where it is not there, scikit-learn's breast-cancer table stands in, and
the page says so here:
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
