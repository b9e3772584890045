"""
Importance with its uncertainty, for correlated columns
=======================================================

A column that is redundant with another one seems unimportant if only it is permuted, because the
model uses the other one. Here, a forest predicts from ``size``, and again with a noisy copy,
``size, measured again``. Bars are standard errors over other held-out rows and other permutations.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from arboleda import RandomForestRegressor, explain, plot

random = np.random.default_rng(0)
table = pd.DataFrame(random.normal(size=(1200, 3)), columns=["size", "age", "noise"])
y = 2 * table["size"] + table["age"] + random.normal(size=1200)
twins = table.assign(**{"size, measured again": table["size"] + 0.1 * random.normal(size=1200)})

fig, axes = plt.subplots(1, 3, figsize=(11, 3), layout="constrained", sharex=True)
titles = ["alone", "beside its twin", "shuffled together with it"]
for ax, title, X in zip(axes, titles, [table, twins, twins], strict=True):
    forest = RandomForestRegressor(50, max_features=1, random_state=0).fit(X[:800], y[:800])
    groups = {"both sizes": ["size", "size, measured again"]} if "together" in title else None
    found = explain.importance(forest, X[800:], y[800:], groups=groups, random_state=0)
    plot.importance(found, ax)
    ax.set_title(title)
plt.show()

# %%
# The ranking by impurity has the same problem, without groups to detect it. Permuted together, the
# two columns are as important as the single one was.
