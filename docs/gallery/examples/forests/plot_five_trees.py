"""
Five trees and their forest
===========================

Each tree of a forest draws its rows with replacement and uses a random column at every node. It
fits its rows without error, including corners and single points, and the corners differ between
trees. Their mean is smoother than any of them. After figure 2.33 of Müller and Guido (2016).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from sklearn.datasets import make_moons

from arboleda import RandomForestClassifier

X, y = make_moons(n_samples=100, noise=0.25, random_state=3)
forest = RandomForestClassifier(5, max_features=1, random_state=0).fit(X, y)

across, up = np.meshgrid(np.linspace(-1.7, 2.7, 300), np.linspace(-1.5, 2.0, 240))
grid = np.column_stack([across.ravel(), up.ravel()])
regions = ListedColormap(["C0", "C1"])
shades = LinearSegmentedColormap.from_list("shades", ["C0", "white", "C1"])


def draw(ax, shares, title, **options):
    """Regions of the share of class 1, and the training rows on them."""
    ax.contourf(across, up, shares.reshape(across.shape), alpha=0.5, **options)
    ax.scatter(*X.T, c=y, cmap=regions, edgecolor="white", linewidth=0.5, s=22)
    ax.set(title=title, xticks=(), yticks=())


fig, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
for number, (ax, tree) in enumerate(zip(axes.flat, forest.estimators_, strict=False)):
    shares = tree.predict_proba(grid)[:, 1]
    draw(ax, shares, f"tree {number + 1}", levels=[-0.1, 0.5, 1.1], cmap=regions)
many = RandomForestClassifier(500, max_features=1, random_state=0).fit(X, y)
shares = forest.predict_proba(grid)[:, 1]
draw(axes.flat[5], shares, "the five of them", levels=np.linspace(-0.1, 1.1, 7), cmap=shades)
plt.show()

# %%
# A single tree predicts 0 or 1; five trees can also predict 0.2. With 500 trees, the boundary is
# stable, and the share of trees that vote for a class shows how far a point is from it.

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
shares = many.predict_proba(grid)[:, 1]
draw(ax, shares, "500 trees", levels=np.linspace(0, 1, 11), cmap=shades)
ax.contour(across, up, shares.reshape(across.shape), levels=[0.5], colors="black", linewidths=1)
plt.show()

# %%
# The gain of averaging trees is visible on other samples of the moons:

X_test, y_test = make_moons(n_samples=5000, noise=0.25, random_state=4)
errors = [1 - tree.score(X_test, y_test) for tree in forest.estimators_]
print(f"test error: single trees {min(errors):.1%} to {max(errors):.1%},", end=" ")
print(f"five together {1 - forest.score(X_test, y_test):.1%},", end=" ")
print(f"500 together {1 - many.score(X_test, y_test):.1%}")
