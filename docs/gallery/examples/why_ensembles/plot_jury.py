r"""
Juries: many who are right a little more often than not
=======================================================

Condorcet (1785): if each of :math:`L` voters is right with probability :math:`p`, and they err
independently, the majority is right with probability
:math:`\sum_{m>L/2} \binom{L}{m} p^m (1-p)^{L-m}`. With :math:`p > 1/2` that grows to certainty with
the number of voters; with :math:`p < 1/2` it falls to nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_gaussian_quantiles

from arboleda import RandomForestClassifier
from arboleda.diagnose import diversity, jury_accuracy, jury_curves

sizes = np.arange(1, 102, 4)
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained", sharey=True)
jury_curves([0.8, 0.7, 0.6, 0.55, 0.5, 0.4], sizes).plot(left)
left.set_title("independent votes")
left.legend(loc=(0.3, 0.15), ncols=2, frameon=False)
jury_curves(0.6, sizes, correlation=[0, 0.02, 0.05, 0.1, 0.2, 0.5]).plot(right)
right.set_title("voters who err together")
right.set_ylabel("")
plt.show()

print(f"21 voters, p = 0.7: the majority errs in {1 - jury_accuracy(0.7, 21):.3f} of the cases")

# %%
# Models that learned from the same rows are not independent voters. If :math:`c` is the correlation
# of two votes being right, a majority gains little beyond about :math:`1/c` voters: the right
# figure. There :math:`p` varies from case to case, with a beta distribution, which makes the number
# of right votes beta-binomial.
#
# How well does this describe an ensemble? For the trees of a forest, on new rows of a problem with
# a curved boundary, the gain is far smaller than for independent voters, and close to the
# prediction from their mean correlation.

X, y = make_gaussian_quantiles(n_samples=5000, n_features=10, n_classes=2, random_state=0)
train, new = slice(1000), slice(1000, None)
forest = RandomForestClassifier(101, max_features=1, random_state=0).fit(X[train], y[train])
predictions = np.array([tree.predict(X[new]) for tree in forest.estimators_])

means = diversity(predictions, y[new]).summary()
p, c = 1 - means["error"], means["correlation"]
votes = predictions.cumsum(axis=0)[sizes - 1] > sizes[:, np.newaxis] / 2
found = (votes == y[new]).mean(axis=1)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
jury_curves(p, sizes, correlation=[0, c]).plot(ax)
ax.plot(sizes, found, "o-", color="black", ms=4, label="the forest")
ax.legend(
    labels=[f"jury of p = {p:.2f}, independent", f"jury with correlation {c:.3f}", "the forest"],
    frameon=False,
    loc="lower right",
)
plt.show()
