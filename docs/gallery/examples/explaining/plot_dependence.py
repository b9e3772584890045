"""
Partial dependence, individual curves and accumulated effects
=============================================================

Partial dependence (Friedman 2001) sets a column to the same value in all rows and averages the
predictions. This simple idea is misleading in two cases: if columns are correlated, it predicts
rows that cannot exist, and the mean can hide opposite effects in different rows. Accumulated local
effects (Apley and Zhu 2020) solve the first problem, and curves of single rows (Goldstein et al.
2015) the second.
"""

import matplotlib.pyplot as plt
import numpy as np

from arboleda import DecisionTreeRegressor, HistGradientBoostingRegressor
from arboleda.explain import partial_dependence

# %%
# Two columns are nearly equal, and the target is the sum of a line in one and a parabola in the
# other. A tree of 60 leaves learns it from 300 rows where there are rows. Far from the diagonal
# there are none, and the predictions of the tree are arbitrary; yet partial dependence averages
# over these places. For twenty such tables, each with its own tree, the accumulated effects follow
# the true line, and partial dependence does not.

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
# The effect of a column has one sign where another column is positive, and the opposite sign
# elsewhere. The average effect, which partial dependence shows, is zero. The centred curves of
# single rows separate the two groups.

X = draw.uniform(-1, 1, (1000, 3))
y = 0.2 * X[:, 0] - 5 * X[:, 1] + 10 * X[:, 1] * (X[:, 2] >= 0) + draw.normal(size=1000)
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
found = partial_dependence(model, X, 1, kind="both", centered=True)
found.plot()

# %%
# An interaction of two columns is visible in their joint effect beyond their separate effects:

partial_dependence(model, X, [1, 2], kind="ale", grid_resolution=20).plot()
plt.show()
