"""
Importance with its uncertainty, beside a column's twin
=======================================================

A column that says what another says too seems to be worth little when it alone is shuffled: the
model reads the other one. Here a forest predicts from ``size``, and once more with a copy of it,
``size, measured again``. Bars are standard errors, of other held-out rows and other shuffles.
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
# The order of impurity has the same fault, and no groups to see it by. Shuffled together, the two
# are worth what the one was worth alone.
