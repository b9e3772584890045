"""
Heart disease: the training error falls, the test error does not
================================================================

With few and noisy rows, boosting can overfit: the training error continues to fall while the test
error begins to rise. After figure 1.5 of Schapire and Freund's book "Boosting" (2012): stumps on
the 303 patients of Cleveland, means over 30 splits into halves.

The table is UCI's `Heart Disease <https://archive.ics.uci.edu/dataset/45/heart+disease>`_, read
from the folder that the environment variable ``ARBOLEDA_DATA`` names. If it is missing,
scikit-learn's breast-cancer table is used instead, as reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from arboleda import AdaBoostClassifier, DecisionTreeClassifier

folder = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "heart_cleveland"
if folder.exists():
    names = (folder / "columns.txt").read_text().split()
    X = pd.read_csv(folder / "processed.cleveland.data", names=names, na_values="?")
    y = np.where(X.pop(names[-1]) > 0, "sick", "healthy")
    # Numbers that stand for kinds; missing values stay missing.
    for name in ("cp", "restecg", "thal"):
        X[name] = X[name].astype("category")
    print(f"Heart disease: {len(X)} patients, {(y == 'sick').sum()} of them sick")
else:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[::2], np.array(["sick", "healthy"])[y[::2]]
    print(f"NOT heart disease, which is not here, but breast cancer: {len(X)} rows")

N_ROUNDS, N_DIVISIONS = 300, 30


def errors(division):
    """Training and test error after each round, of one division into halves."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=division
    )
    model = AdaBoostClassifier(algorithm="discrete", n_estimators=N_ROUNDS).fit(X_train, y_train)
    return [
        [np.mean(predicted != y_train) for predicted in model.staged_predict(X_train)],
        [np.mean(predicted != y_test) for predicted in model.staged_predict(X_test)],
    ]


train, test = np.mean([errors(division) for division in range(N_DIVISIONS)], axis=0)
rounds = np.arange(1, N_ROUNDS + 1)
best = test.argmin()
print(f"test error {test[0]:.1%} after 1 round, {test[best]:.1%} after {best + 1} rounds, ", end="")
print(f"{test[-1]:.1%} after {N_ROUNDS}; training error {train[-1]:.1%}")

fig, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.semilogx(rounds, test, color="C0", label="test rows")
axes.semilogx(rounds, train, color="C3", label="training rows")
axes.plot(rounds[best], test[best], "o", color="C0")
axes.set(xlabel="rounds", ylabel="share of the rows that are wrong", ylim=(0, None))
axes.legend(frameon=False)
plt.show()

# %%
# Table 1.2 of the book lists the first six rules of AdaBoost on this table: thallium scan (thal)
# normal (3), number of vessels coloured by fluoroscopy (ca) above 0, chest pain (cp) asymptomatic
# (4), ST depression (oldpeak) at least 0.75, cholesterol (chol) at least 228.5, and resting
# electrocardiogram (restecg) normal (0). All six come out, in this order, with stumps that minimise
# the misclassification rate, as the book's do.

stump = DecisionTreeClassifier(max_depth=1, criterion="misclassification")
model = AdaBoostClassifier(stump, algorithm="discrete", n_estimators=6).fit(X, y)
first_rules = [
    [str(rule).split(" (")[0] for rule in member.rules(order="leaf")]
    for member in model.estimators_
]
for number, rules in enumerate(first_rules, start=1):
    print(f"round {number}", *rules, sep="\n  ")
