"""
What an answer depends on, and how it is asked
==============================================

Partial dependence (Friedman 2001) gives a column the same value in all rows and takes the mean of
the answers. That is easy to say, and misleads in two ways: where columns are correlated it asks
about rows that do not exist, and a mean can hide that rows react in opposite ways. Accumulated
local effects (Apley and Zhu 2020) mend the first, curves of single rows (Goldstein et al. 2015) the
second.
"""

import matplotlib.pyplot as plt
import numpy as np

from arboleda import DecisionTreeRegressor, HistGradientBoostingRegressor
from arboleda.explain import partial_dependence

# %%
# Two columns that are nearly the same, and a target that is the sum of a line in one and a parabola
# in the other. A tree of 60 leaves learns it from 300 rows without trouble where there are rows.
# Far from the diagonal there is none, and what the tree says there is of no account; yet partial
# dependence takes the mean over just these places. Of twenty such tables, each with its tree, the
# accumulated effects follow the line that is true, and partial dependence does not.

draw = np.random.default_rng(0)
points = np.linspace(0.05, 0.95, 30)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
for _ in range(20):
    first = draw.uniform(0, 1, 300)
    second = first + draw.normal(0, 0.05, 300)
    X = np.column_stack([first, second])
    y = first + second**2 + draw.normal(0, 0.1, 300)
    tree = DecisionTreeRegressor(max_leaf_nodes=60, random_state=0).fit(X, y)
    average = partial_dependence(tree, X, 0, custom_values={0: points})
    axes[0].plot(points, average.average[0] - average.average[0].mean(), color="0.6", lw=0.8)
    effect = partial_dependence(tree, X, 0, kind="ale", grid_resolution=20)
    axes[1].plot(effect.grid[0], effect.average[0], color="0.6", lw=0.8)
for ax, title in zip(axes, ("partial dependence", "accumulated local effects"), strict=True):
    ax.plot([0, 1], [-0.5, 0.5], "k--", lw=1.5, label="the true part")
    ax.set(title=title, xlabel="first column")
axes[0].legend(frameon=False)
axes[0].set_ylabel("effect")
fig.tight_layout()

# %%
# A column whose effect has one sign where another column is positive and the other sign where it is
# not. On average nothing remains, which is what partial dependence says. The curve of each row,
# from where it begins, tells the two kinds apart.

X = draw.uniform(-1, 1, (1000, 3))
y = 0.2 * X[:, 0] - 5 * X[:, 1] + 10 * X[:, 1] * (X[:, 2] >= 0) + draw.normal(size=1000)
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
found = partial_dependence(model, X, 1, kind="both", centered=True)
found.plot()

# %%
# That two columns act together shows in their common effect beyond what each does alone:

partial_dependence(model, X, [1, 2], kind="ale", grid_resolution=20).plot()
plt.show()
