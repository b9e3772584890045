"""
Between linear and quadratic: the square of regularised discriminant analysis
=============================================================================

Quadratic discriminant analysis estimates a covariance for each class, linear discriminant analysis
one for all classes, and the nearest-mean classifier a sphere. Friedman (1989) made them corners of
a square: alpha shrinks each covariance towards the common one, gamma towards a sphere. Three
simulations similar to his, with 40 training rows of two classes in 20 columns: the position of the
smallest error in the square depends on the shape of the classes, and cross-validation finds it.
"""

import matplotlib.pyplot as plt
import numpy as np

from arboleda import RegularizedDiscriminantAnalysis

N_TRAIN, N_TEST, N_COLUMNS = 40, 4000, 20


def spheres(random, y):
    """Equal spheres that differ in their means."""
    X = random.normal(size=(y.size, N_COLUMNS))
    X[y == 1, :4] += 1.2
    return X


def common_ellipse(random, y):
    """One long ellipse for both; the means differ across it."""
    X = random.normal(size=(y.size, N_COLUMNS)) + 4.0 * random.normal(size=(y.size, 1))
    X[:, ::2] += 1.2 * y[:, np.newaxis] * np.where(np.arange(10) % 2, 1, -1)
    return X


def own_spheres(random, y):
    """The same mean; the second class is wider."""
    return random.normal(size=(y.size, N_COLUMNS)) * (1.0 + 0.8 * y[:, np.newaxis])


# %%
# The number in a cell is the error of five-fold cross-validation on the training rows; the frame
# marks the chosen pair. Below, the errors on 4,000 new rows.

figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), constrained_layout=True)
for ax, simulate in zip(axes, (spheres, common_ellipse, own_spheres), strict=True):
    random = np.random.default_rng(7)
    y_train, y_test = np.arange(N_TRAIN) % 2, np.arange(N_TEST) % 2
    X_train, X_test = simulate(random, y_train), simulate(random, y_test)
    model = RegularizedDiscriminantAnalysis(random_state=0).fit(X_train, y_train)
    model.plane_.plot(ax)
    ax.set_title(simulate.__name__.replace("_", " "))
    errors = {"chosen": 1 - model.score(X_test, y_test)}
    for name, alpha in (("linear", 1.0), ("quadratic", 0.0)):
        corner = RegularizedDiscriminantAnalysis(alpha, 0.0).fit(X_train, y_train)
        errors[name] = 1 - corner.score(X_test, y_test)
    line = ", ".join(f"{name} {error:.1%}" for name, error in errors.items())
    print(f"{simulate.__name__.replace('_', ' '):<15} {line}")
plt.show()

# %%
# With 20 rows per class in 20 columns, the covariance of a class is singular: the quadratic corner
# is no better than guessing. Equal spheres are best separated at the right, where the covariance is
# hardly estimated at all; a common ellipse needs the common covariance, at the upper left; classes
# that differ only in width need separate covariances, for which a sphere is enough, at the lower
# right.
