r"""
What ensembles do to bias and variance
======================================

The expected squared error of a model is noise + bias\ :sup:`2` + variance, over the draws of its
training set (Geman, Bienenstock and Doursat 1992). In a simulation all three can be seen, here with
Friedman's function of five columns among ten, noise of variance 1, and 40 training sets of 200
rows. Bagging takes most of the variance of a whole tree at little cost in bias; a forest takes more
of it and pays with bias; boosting begins with small trees, which are mostly bias, and adds them up
until little is left.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from arboleda import (
    BaggingRegressor,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from arboleda.diagnose import bias_variance

N_SETS, SET_SIZE, N_POINTS = 40, 200, 1000
X, truth = make_friedman1(N_SETS * SET_SIZE + N_POINTS, random_state=0)
y = truth + np.random.default_rng(0).normal(size=len(truth))
train, points = slice(-N_POINTS), slice(-N_POINTS, None)


def decompose(models):
    return bias_variance(
        models,
        X[train],
        y[train],
        X[points],
        y[points],
        truth=truth[points],
        n_sets=N_SETS,
        set_size=SET_SIZE,
        bootstrap=False,
        random_state=0,
    )


found = decompose(
    [
        ("line", LinearRegression()),
        ("10 nearest neighbours", KNeighborsRegressor(10)),
        ("tree of depth 2", DecisionTreeRegressor(max_depth=2)),
        ("whole tree", DecisionTreeRegressor()),
        ("100 bagged trees", BaggingRegressor(n_estimators=100)),
        ("forest of 100, m = 3", RandomForestRegressor(100, max_features=3)),
        ("boosting, 200 of depth 2", GradientBoostingRegressor(n_estimators=200, max_depth=2)),
    ]
)
found.plot(plt.figure(figsize=(8, 4), layout="constrained").add_subplot())
plt.show()

found.to_frame().round(2)

# %%
# The number of trees is not a measure of complexity for a forest: more trees only lower its
# variance. For boosting it is one: with every round, bias falls and variance rises.

numbers = [1, 3, 10, 30, 100, 300]
forests = decompose([(str(n), RandomForestRegressor(n, max_features=3)) for n in numbers])
boosted = decompose(
    [
        (str(n), GradientBoostingRegressor(n_estimators=n, max_depth=4, learning_rate=0.2))
        for n in numbers
    ]
)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, result, name in zip(axes, (forests, boosted), ("forest", "boosting"), strict=True):
    means = result.to_frame()
    for part, colour in {"bias": "C0", "variance": "C1", "error": "black"}.items():
        ax.plot(numbers, means[part], "o-", ms=4, color=colour, label=part)
    ax.axhline(means["noise"].mean(), color="0.6", ls=":", label="noise")
    ax.set(title=name, xlabel="trees", xscale="log")
    ax.xaxis.set_major_formatter("{x:g}")
axes[0].set(ylabel="squared error", ylim=(0, None))
axes[0].legend([*axes[0].get_legend_handles_labels()[0]], ["bias²", "variance", "error", "noise"])
plt.show()
