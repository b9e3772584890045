r"""
Margins, and the losses of support vector machines
==================================================

The margin of a hyperplane that separates two classes is its distance from the nearest row. A
support vector classifier makes it as large as possible; rows inside it cost the hinge loss. The
support vector regressor ignores errors below :math:`\varepsilon`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import hinge_loss
from sklearn.svm import SVC

X = np.array([[-1.0, -1.0], [-2.0, 1.0], [1.0, 0.0]])
y = np.array([-1, -1, 1])

# %%
# The margin of a separating hyperplane
# -------------------------------------
# The weights w = (1, 0), b = 0 separate the three rows. Their distances
# :math:`|w^T x_i + b| / \|w\|` are 1, 2 and 1, so the margin is 1. Multiplying w and b by a
# constant changes nothing; scaled so that :math:`y_i (w^T x_i + b) = 1` for the nearest rows, the
# margin is :math:`1 / \|w\|`.


def margin(X, y, w, b=0.0):
    """Compute the distance of the nearest row, negative if one is on the wrong side."""
    return np.min(y * (X @ w + b)) / np.linalg.norm(w)


w = np.array([1.0, 0.0])
distances = np.abs(X @ w) / np.linalg.norm(w)
print("distances", distances, "margin", margin(X, y, w))

# %%
# The hard-margin classifier finds a hyperplane that is farther away from all of them: its margin is
# half the distance between the third row and the segment of the other two.

machine = SVC(kernel="linear", C=1e6).fit(X, y)
best_w, best_b = machine.coef_[0], float(machine.intercept_[0])
best_margin = margin(X, y, best_w, best_b)
print(f"largest margin {best_margin:.3f} = 1 / |w| = {1 / np.linalg.norm(best_w):.3f}")

side = np.linspace(-3, 3, 200)
fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.4), layout="constrained", sharey=True)
pairs = {f"w = (1, 0): margin {margin(X, y, w):.2f}": (w, 0.0)}
pairs[f"largest margin: {best_margin:.2f}"] = (best_w, best_b)
for ax, (title, (weights, bias)) in zip(axes, pairs.items(), strict=True):
    grid = np.stack(np.meshgrid(side, side), axis=-1) @ weights + bias
    width = margin(X, y, weights, bias) * np.linalg.norm(weights)
    ax.contour(side, side, grid, levels=[-width, 0, width], colors="k", linestyles=[":", "-", ":"])
    ax.scatter(*X.T, c=np.where(y > 0, "C3", "C0"), s=50, zorder=3)
    ax.set(title=title, xlabel="$x_1$", aspect="equal")
axes[0].set_ylabel("$x_2$")
plt.show()

# %%
# The hinge loss
# --------------
# The weights w = (0.25, -0.5) put the first row on the wrong side, the second exactly on its own
# side's border and the third inside the margin: the losses :math:`[1 - y_i (w^T x_i + b)]_+` are
# 1.25, 0 and 0.75.

scores = X @ np.array([0.25, -0.5])
hinge = np.maximum(0, 1 - y * scores)
print("hinge losses", hinge, "mean", hinge_loss(y, scores))

# %%
# The loss that ignores small errors
# ----------------------------------
# The weights w = (1, 1) predict -2, -1 and 1 where the targets are -1.9, -1 and 2. With
# :math:`\varepsilon = 0.25` the losses :math:`\max(0, |w^T x_i + b - y_i| - \varepsilon)` are 0, 0
# and 0.75.

targets, epsilon = np.array([-1.9, -1.0, 2.0]), 0.25
errors = X @ np.array([1.0, 1.0]) - targets
insensitive = np.maximum(0, np.abs(errors) - epsilon)
print("errors", errors.round(2), "losses", insensitive.round(2))

fig, axes = plt.subplots(1, 2, figsize=(7.5, 3), layout="constrained", sharey=True)
line = np.linspace(-2, 2.5, 300)
axes[0].plot(line, np.maximum(0, 1 - line), color="C2")
axes[0].plot(y * scores, hinge, "o", color="C0")
axes[0].set(xlabel="$y \\, (w^T x + b)$", ylabel="loss", title="hinge")
axes[1].plot(line, np.maximum(0, np.abs(line) - epsilon), color="C2")
axes[1].plot(errors, insensitive, "o", color="C0")
axes[1].set(xlabel="error", title=f"insensitive to errors below {epsilon}")
plt.show()
