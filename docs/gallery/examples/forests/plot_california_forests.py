"""
Forests with two or six columns per node, and boosting
======================================================

The error of a forest levels off after a few hundred trees, at a level that depends on the number of
columns drawn at a node (m); boosting continues to improve and overtakes it. After figure 15.3 of
Hastie, Tibshirani and Friedman (2009), with the median house values of 20,640 districts of
California: of the eight columns m = 2 and m = 6 are drawn, and boosting adds trees of depth 4 and
6.

The table is read from the folder that the environment variable ``ARBOLEDA_DATA`` names. If it is
missing, scikit-learn's diabetes table is used instead, as reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from arboleda import HistGradientBoostingRegressor, RandomForestRegressor

file = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "california_housing" / "cal_housing.csv.gz"
if file.exists():
    X = pd.read_csv(file)
    y = X.pop("medianHouseValue").to_numpy() / 100_000
    households = X["households"]
    X = X.assign(  # the book's columns are means over the people and households of a district
        totalRooms=X["totalRooms"] / households,
        totalBedrooms=X["totalBedrooms"] / households,
        households=X["population"] / households,
    )
    unit = "100,000 dollars"
    print(f"California housing: {len(X)} districts, half of them for testing")
else:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    y, unit = y.to_numpy(), "progression"
    print(f"NOT California housing, which is not here, but diabetes: {len(X)} rows")
is_test = np.random.default_rng(0).random(len(y)) < 0.5
X_train, y_train, X_test, y_test = X[~is_test], y[~is_test], X[is_test], y[is_test]

N_TREES = 300
numbers = np.arange(1, N_TREES + 1)


def absolute_errors(stages):
    """Mean absolute test error of answers after 1, 2, .. trees."""
    return np.array([np.abs(predicted - y_test).mean() for predicted in stages])


fig, ax = plt.subplots(figsize=(7, 4.5))
for m, colour in {2: "C0", 6: "C1"}.items():
    forest = RandomForestRegressor(N_TREES, max_features=m, random_state=0).fit(X_train, y_train)
    trees = np.cumsum([tree.predict(X_test) for tree in forest.estimators_], axis=0)
    errors = absolute_errors(trees / numbers[:, np.newaxis])
    ax.plot(numbers, errors, color=colour, lw=1.2, label=f"random forest, m = {m}")
    print(f"random forest, m = {m}: {errors[-1]:.4f}")
for depth, colour in {4: "C2", 6: "C3"}.items():
    boosting = HistGradientBoostingRegressor(
        max_iter=N_TREES, max_depth=depth, learning_rate=0.1, early_stopping=False
    ).fit(X_train, y_train)
    errors = absolute_errors(boosting.staged_predict(X_test))
    ax.plot(numbers, errors, color=colour, lw=1.2, label=f"boosting, depth {depth}")
    print(f"boosting, depth {depth}: {errors[-1]:.4f}")
ax.set(xlabel="trees", ylabel=f"mean absolute test error, {unit}")
if file.exists():
    ax.set_ylim(0.29, 0.45)
ax.legend(frameon=False)
plt.show()
