"""
AdaBoost on ten points, round by round
======================================

The example of Schapire and Freund's book "Boosting" (2012), figures 1.1 and 1.2: ten points, three
rounds of stumps. The size of a point is its weight; points that the stump of the round
misclassifies are circled, and get a larger weight in the next round. (In round 2 two stumps have
the same error. The book takes the other one first; the numbers e, a and Z are the same.)
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from arboleda import AdaBoostClassifier, DecisionTreeClassifier

X = np.array(
    [(3.4, 7), (5.4, 8.6), (7, 7.4), (1.1, 3.6), (1.5, 1.6), (2.7, 2.4), (4.5, 4), (8.6, 8.4),
     (6.2, 1.8), (8.8, 3.4)]
)  # fmt: skip
y = np.array([1, 1, 1, 1, 1, -1, -1, -1, -1, -1])

stump = DecisionTreeClassifier(max_depth=1, criterion="misclassification")
model = AdaBoostClassifier(stump, algorithm="discrete", n_estimators=3).fit(X, y)

# %%
# The weights are those of the definition: divided by Z after they were multiplied by exp(a) where
# the stump is wrong and by exp(-a) where it is right.

weights = [np.full(10, 0.1)]
for stump, a, Z in zip(
    model.estimators_, model.estimator_weights_, model.normalizers_, strict=True
):
    weights.append(weights[-1] * np.exp(-a * y * stump.predict(X)) / Z)

for number in range(3):
    error, a, Z = (
        values[number]
        for values in (model.estimator_errors_, model.estimator_weights_, model.normalizers_)
    )
    print(f"round {number + 1}: e = {error:.2f}, a = {a:.2f}, Z = {Z:.2f}, weights", end=" ")
    print(" ".join(f"{weight:.2f}" for weight in weights[number]))
print("wrong in the end:", (model.predict(X) != y).sum())

grid = np.stack(np.meshgrid(np.linspace(0, 10, 301), np.linspace(0, 10, 301)), axis=-1)
SHADES = ListedColormap(["#f7d9c4", "#c6dbef"])


def draw(axes, predictions, title):
    """Two regions, and what is above them."""
    axes.pcolormesh(
        *np.moveaxis(grid, -1, 0), predictions.reshape(301, 301), cmap=SHADES, alpha=0.8
    )
    axes.set(title=title, xticks=[], yticks=[], aspect="equal")


def points(axes, weight):
    """Pluses and minuses, of the size of their weights."""
    for label, colour in ((1, "C0"), (-1, "C3")):
        of_class = y == label
        for x, w in zip(X[of_class], weight[of_class], strict=True):
            sign = "+" if label == 1 else "\N{MINUS SIGN}"
            axes.text(*x, sign, color=colour, size=6 + 150 * w, ha="center", va="center")


fig, axes = plt.subplots(3, 2, figsize=(6, 9), layout="constrained")
for number, (left, right) in enumerate(axes):
    stump = model.estimators_[number]
    a, error = model.estimator_weights_[number], model.estimator_errors_[number]
    left.set(xlim=(0, 10), ylim=(0, 10), xticks=[], yticks=[], aspect="equal")
    left.set_title(f"weights in round {number + 1}")
    points(left, weights[number])
    draw(right, stump.predict(grid.reshape(-1, 2)), f"e = {error:.2f}, a = {a:.2f}")
    points(right, np.full(10, 0.08))
    wrong = X[stump.predict(X) != y]
    right.plot(*wrong.T, "o", mfc="none", mec="black", ms=18)
plt.show()

# %%
# The sign of the weighted sum separates all ten points, although no stump does.

fig, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained")
for number in range(3):
    predictions = model.estimators_[number].predict(grid.reshape(-1, 2))
    sign = " +" if number < 2 else " ="
    draw(axes[number], predictions, f"{model.estimator_weights_[number]:.2f} h{number + 1}{sign}")
draw(axes[3], model.predict(grid.reshape(-1, 2)), "their sign")
points(axes[3], np.full(10, 0.08))
plt.show()
