"""
Three reasons for ensembles
===========================

Why should many models be better than one? Dietterich (2000), "Ensemble methods in machine
learning", gives three reasons, drawn there as points in a space of hypotheses. Here the points are
real: classifiers of a square whose borders can be seen, above, and their places in that space,
below. The triangle in the middle is the truth, the distance from it is the error on new points, and
the direction shows in what way a classifier errs: those that err on the same points lie in the same
direction. Dots are members, the square is their vote; half of the members lie inside the circle.

- **Statistical**: few rows leave many hypotheses that fit all of them. Any one may be far off;
  their vote is in the middle. - **Computational**: the search for the best hypothesis ends in a
  local optimum, and in another one if it begins elsewhere. A vote of several searches is better
  than nearly all of them. - **Representational**: no hypothesis of the family is near the truth,
  but combinations are. Many straight borders make a round one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neural_network import MLPClassifier

from arboleda import GradientBoostingClassifier

axis = np.linspace(-1, 1, 81)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def statistical(seed=0):
    """Lines drawn at random that are right on all of 16 rows."""

    def truth(points):
        return points @ [0.5, 1] > 0.1

    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(16, 2))
    angles, offsets = rng.uniform(0, 2 * np.pi, 20_000), rng.uniform(-1.4, 1.4, 20_000)
    normals = np.stack([np.cos(angles), np.sin(angles)])
    fits = ((X @ normals > offsets) == truth(X)[:, np.newaxis]).all(axis=0).nonzero()[0][:40]
    predictions = (grid @ normals[:, fits] > offsets[fits]).T
    return X, truth, predictions, np.mean(predictions, axis=0) > 0.5


def computational():
    """Networks of three hidden units that began with other weights."""

    def truth(points):
        return points[:, 1] > 0.6 * np.sin(5 * points[:, 0])

    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    chances = []
    for seed in range(40):
        network = MLPClassifier(
            3, activation="tanh", solver="lbfgs", max_iter=2000, random_state=seed
        )
        network.fit(X, truth(X))
        chances.append(network.predict_proba(grid)[:, 1])
    return X, truth, np.array(chances) > 0.5, np.mean(chances, axis=0) > 0.5


def representational():
    """Trees with one split, and their weighted sum."""

    def truth(points):
        return (points**2).sum(axis=1) < 0.6

    X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    boosted = GradientBoostingClassifier(n_estimators=150, max_depth=1, learning_rate=0.5)
    boosted.fit(X, truth(X))
    predictions = [tree.predict(grid) > 0 for tree in boosted.estimators_[:, 0]]
    return X, truth, predictions, boosted.predict(grid)


# %%
# Each classifier is represented by its predictions on the grid. Its errors form a list of 0 and 1;
# the share of 1 is its distance from the truth, and the first two principal components of the lists
# are its direction.


def places(wrong):
    centred = wrong - wrong[:-1].mean(axis=0)
    directions = np.linalg.svd(centred[:-1], full_matrices=False)[2][:2]
    flat = centred @ directions.T
    length = np.linalg.norm(flat, axis=1, keepdims=True)
    return wrong.mean(axis=1, keepdims=True) * flat / np.where(length > 0, length, 1)


fig, axes = plt.subplots(2, 3, figsize=(10, 7), layout="constrained")
for (above, below), reason in zip(
    axes.T, (statistical, computational, representational), strict=True
):
    X, truth, members, vote = reason()
    square = (len(axis), len(axis))
    for outputs in members:
        above.contour(axis, axis, np.reshape(outputs, square), [0.5], colors="C0", linewidths=0.4)
    above.contour(axis, axis, np.reshape(vote, square), [0.5], colors="C2", linewidths=2.5)
    above.contour(axis, axis, np.reshape(truth(grid), square), [0.5], colors="C3", linestyles="--")
    few = X[:200]
    above.scatter(*few.T, c=np.where(truth(few), "black", "white"), s=8, ec="black", lw=0.5)
    above.set(title=reason.__name__, xticks=[], yticks=[], aspect="equal")

    wrong = (np.array([*members, vote]) != truth(grid)).astype(float)
    at, errors = places(wrong), wrong.mean(axis=1)
    reach = 1.1 * errors.max()
    below.scatter(*at[:-1].T, s=14, color="C0", label="members")
    below.plot(*at[-1], "s", ms=9, color="C2", mec="black", label="their vote")
    below.plot(0, 0, "^", ms=9, color="C3", mec="black", label="truth")
    median = np.median(errors[:-1])
    below.add_patch(plt.Circle((0, 0), median, fill=False, color="0.7", lw=0.8))
    below.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[], aspect="equal")
    print(
        f"{reason.__name__}: the vote errs on {errors[-1]:.1%} of the points, the median member on"
    )
    print(f"    {median:.1%}, {np.mean(errors[:-1] <= errors[-1]):.0%} of the members are as good")
axes[1, 0].legend(loc="upper left", frameon=False, fontsize=8)
plt.show()

# %%
# Other rows leave other lines. The mean distance from the truth, over many draws of the 16 rows, of
# a line that fits them all, and of the vote of 40 such lines:

gains = []
for seed in range(100):
    _, truth, members, vote = statistical(seed)
    gains.append([np.mean(members != truth(grid)), np.mean(vote != truth(grid))])
alone, together = np.mean(gains, axis=0)
print(f"a line errs on {alone:.1%} of the points, the vote on {together:.1%}")
