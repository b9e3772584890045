r"""
A linear classifier and its likelihood
======================================

The hyperplane :math:`b + w^T x = 0` with b = 1 and w = (1, 2) divides the plane into two halves.
The logistic function converts the distance from it to the probability of class 1. The product over
the rows of the probabilities of the observed classes is the likelihood of the parameters.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.metrics import accuracy_score, log_loss

# %%
# Three rows: two are classified correctly, (0, 0) is not.

X = np.array([[1.0, 1.0], [1.0, -2.0], [0.0, 0.0]])
y = np.array([1, 0, 0])
b, w = 1.0, np.array([1.0, 2.0])

scores = b + X @ w
predictions = (scores >= 0).astype(int)
accuracy = accuracy_score(y, predictions)
print("scores", scores, "classes", predictions, f"accuracy {accuracy:.3f}")

# %%
# The probabilities of the observed classes are 0.982, 0.881 and 0.269; their product, the
# likelihood, is 0.23. Its negative logarithm is the cross-entropy, which logistic regression
# minimises: it is convex, and the accuracy, which jumps, is not.

probabilities = expit(scores)
observed = np.where(y == 1, probabilities, 1 - probabilities)
likelihood = float(observed.prod())
cross_entropy = log_loss(y, probabilities, normalize=False)
print(f"likelihood {' * '.join(f'{p:.3f}' for p in observed)} = {likelihood:.2f}")
print(f"cross-entropy {cross_entropy:.3f} = -log {np.exp(-cross_entropy):.2f}")

side = np.linspace(-3, 3, 201)
grid = np.stack(np.meshgrid(side, side), axis=-1)
fig, ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
surface = ax.contourf(side, side, expit(b + grid @ w), levels=np.linspace(0, 1, 21), cmap="RdBu_r")
ax.contour(side, side, b + grid @ w, levels=[0], colors="k")
for row, label, p in zip(X, y, observed, strict=True):
    ax.plot(*row, "os"[label], color="k", mfc="white", ms=8)
    ax.annotate(f"class {label}: {p:.3f}", row, xytext=(8, 8), textcoords="offset points")
fig.colorbar(surface, label="P(class 1 | x)")
ax.set(xlabel="$x_1$", ylabel="$x_2$")
plt.show()
