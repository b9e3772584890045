"""
The test error falls after the training error is zero
=====================================================

Boosted trees can classify every training row correctly and still improve with more rounds.
Schapire, Freund, Bartlett and Lee (1998) explain this by margins: the weighted share of the members
that vote for the right class, minus that for the wrong class with the most votes. More rounds make
the smallest margins larger, and few rows with a small margin bound the test error, whatever the
number of rounds. After figure 1.7 of Schapire and Freund's book "Boosting" (2012): UCI's `Letter
Recognition <https://archive.ics.uci.edu/dataset/59/letter+recognition>`_, 26 classes, 16,000
training rows and 4,000 test rows.

The table is read from the folder that the environment variable ``ARBOLEDA_DATA`` names. If it is
missing, scikit-learn's handwritten digits are used instead, as reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from arboleda import AdaBoostClassifier, DecisionTreeClassifier

file = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "letter_recognition"
file /= "letter-recognition.data.gz"
if file.exists():
    table = pd.read_csv(file, header=None)
    X, y = table.iloc[:, 1:].to_numpy(), table[0].to_numpy()
    n_train = 16_000
    print(f"Letter recognition: {len(X)} pictures of letters")
else:
    X, y = load_digits(return_X_y=True)
    n_train = 1_400
    print(f"NOT letters, which are not here, but digits: {len(X)} pictures")
X_train, y_train, X_test, y_test = X[:n_train], y[:n_train], X[n_train:], y[n_train:]

N_ROUNDS = 100
tree = DecisionTreeClassifier(min_samples_leaf=3)
model = AdaBoostClassifier(tree, algorithm="M1", n_estimators=N_ROUNDS).fit(X_train, y_train)

train = np.array([1 - score for score in model.staged_score(X_train, y_train)])
test = np.array([1 - score for score in model.staged_score(X_test, y_test)])
rounds = np.arange(1, N_ROUNDS + 1)
no_errors = int(np.argmax(train == 0)) + 1
print(f"one tree: {test[0]:.1%} of the test rows wrong")
print(f"training error 0 after {no_errors} rounds: {test[no_errors - 1]:.1%}")
print(f"after {N_ROUNDS} rounds: {test[-1]:.1%}")

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.semilogx(rounds, test, color="C0", label="test rows")
left.semilogx(rounds, train, color="C3", label="training rows")
left.axvline(no_errors, color="grey", ls=":")
left.text(no_errors * 1.1, test[0], "none of the training\nrows wrong any more", va="top")
left.set(xlabel="rounds", ylabel="share of the rows that are wrong", ylim=(0, None))
left.legend(frameon=False, loc="center right")

wanted = sorted({no_errors, 20, N_ROUNDS})
for number, margins in enumerate(model.staged_margins(X_train, y_train), start=1):
    if number in wanted:
        right.ecdf(margins, label=f"{number} rounds")
        print(f"{number:>4} rounds: smallest margin {margins.min():.3f}, ", end="")
        print(f"{(margins <= 0.3).mean():.1%} of the margins up to 0.3")
right.set(xlabel="margin", ylabel="share of the training rows", xlim=(0, 1))
right.legend(frameon=False, loc="upper left")
plt.show()

# %%
# From the round marked in the left figure on, all margins of the training rows are above 0. Later
# rounds raise the smallest margins at the cost of the largest: the curve becomes steeper.
