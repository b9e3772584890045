"""
Too simple, too flexible, too few rows
======================================

As a model becomes more flexible, its training error keeps falling; the error on other rows falls,
and then rises again. For k nearest neighbours, the flexibility is N / k, roughly the number of
neighbourhoods. After figure 2.4 of Hastie, Tibshirani and Friedman (2009): two classes, each a
mixture of ten bumps in the plane.

A learning curve shows the benefit of more rows. If the two errors have met, a more flexible model
may help; if they are apart, more rows or a less flexible model help. A single neighbour memorises
its rows, so its two errors never meet.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from arboleda.diagnose import complexity_curve, learning_curve

rng = np.random.default_rng(1)
N = 1000
centres = np.array([rng.normal(mean, 1, size=(10, 2)) for mean in ([1, 0], [0, 1])])
y = rng.integers(2, size=N)
X = rng.normal(centres[y, rng.integers(10, size=N)], np.sqrt(1 / 5))

fig, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharey=True, layout="constrained")
flexible = complexity_curve(
    KNeighborsClassifier(),
    X[:200],
    y[:200],
    param_name="n_neighbors",
    param_range=[1, 3, 5, 7, 11, 15, 21, 35, 55, 85, 125, 179],
    complexity=lambda k, n: n / k,
    cv=10,
)
flexible.plot(axes[0])
axes[0].set(title="200 rows", xlabel="N / k")
for ax, k in zip(axes[1:], (1, 35), strict=True):
    rows = learning_curve(
        KNeighborsClassifier(k),
        X,
        y,
        train_sizes=[50, 100, 200, 400, 900],
        cv=10,
        random_state=0,
    )
    rows.plot(ax)
    ax.set(title=f"k = {k}", ylabel="")
    ax.get_legend().remove()
plt.show()

print(f"least error with {flexible.values[flexible.best]} neighbours")
flexible.to_frame().round(3)
