r"""
Why a forest draws columns: the correlation of its trees
========================================================

The mean of :math:`L` trees whose answers have the variance :math:`\sigma^2` and the correlation
:math:`\rho` has the variance :math:`\rho\sigma^2 + \frac{1-\rho}{L}\sigma^2`. More trees remove the
second part, nothing but less correlation the first. A random forest gets it by looking, at each
node, only at :math:`m` columns drawn at random: the fewer, the less alike are the trees. After
figures 15.9 and 15.10 of Hastie, Tibshirani and Friedman (2009): 50 columns, each with the same
small part in the target, and training sets of 100 rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from arboleda import RandomForestRegressor
from arboleda.diagnose import forest_correlation

rng = np.random.default_rng(0)
N_SETS, N_ROWS, N_POINTS, N_COLUMNS = 40, 100, 200, 50
X = rng.normal(size=(N_SETS * N_ROWS + N_POINTS, N_COLUMNS))
truth = X.sum(axis=1) / np.sqrt(N_COLUMNS)
y = truth + rng.normal(size=len(X))
train, points = slice(N_SETS * N_ROWS), slice(N_SETS * N_ROWS, None)

# %%
# The variance of a tree, and the correlation of the trees, can only be estimated over several
# training sets, here 40 without common rows.

found = forest_correlation(
    RandomForestRegressor(50, min_samples_leaf=5),
    X[train],
    y[train],
    X[points],
    max_features=[1, 2, 4, 7, 13, 25, 40, 50],
    n_sets=N_SETS,
    set_size=N_ROWS,
    random_state=0,
)
found.plot(plt.figure(figsize=(7, 4)).add_subplot())
plt.show()

# %%
# Fewer columns do not increase the variance of a single tree: with few columns per node, there is
# less to overfit, and here the trees vary less too. The variance of the forest is the part that the
# trees have in common, which is small. The cost of fewer columns is bias: with one column, the
# trees hardly follow the target. The best m minimises the sum of variance and squared bias; for a
# given table, only a search can find it.

means = found.to_frame()
m = means.max_features
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(m, means.variance, "o-", color="C1")
left.set(title=r"a tree: $\sigma^2$", ylabel="variance, mean over the points")
right.plot(m, means.forest_variance, "o-", color="C0", label="50 trees")
right.plot(m, means.between, "o--", color="C2", label=r"infinitely many: $\rho\sigma^2$")
right.set(title="the forest")
right.legend(frameon=False)
for ax in (left, right):
    ax.set(xlabel="columns drawn at a node (max_features)")
    ax.set_ylim(bottom=0)
plt.show()

means.round(3)
