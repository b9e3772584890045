r"""
A kernel density estimate, kernel by kernel
===========================================

The estimate at a point is the mean of one kernel per row,
:math:`\hat f(x) = \frac{1}{N} \sum_i \phi_\lambda(x - x_i)` with the normal density
:math:`\phi_\lambda` of standard deviation :math:`\lambda`. After figure 6.13 of Hastie, Tibshirani
and Friedman, "The Elements of Statistical Learning" (2009): the systolic blood pressure of South
African men with a coronary heart disease.

The table is read from the folder that the environment variable ``ARBOLEDA_DATA`` names. If it is
missing, simulated values of the same kind are used instead, as reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import norm

from arboleda import KernelDensityClassifier

path = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "saheart" / "SAheart.data"
if path.exists():
    table = pd.read_csv(path)
    pressure, ill = table["sbp"].to_numpy(float), table["chd"].to_numpy() == 1
    print(f"{len(table)} men, {ill.sum()} of them with the disease")
else:
    rng = np.random.default_rng(0)
    ill = np.arange(462) < 160
    pressure = np.round(100 + rng.gamma(3.5, 10, 462) + 7 * ill)
    print("NOT the South African men, whose table is not here, but made-up values")

# %%
# The density of the ill, and the kernels of a few of them. As in the book the kernels are drawn at
# a tenth of their height. The bandwidth is Silverman's rule of thumb.

values = np.sort(pressure[ill])
interquartile_range = np.subtract(*np.percentile(values, [75, 25]))
bandwidth = 0.9 * min(values.std(ddof=1), interquartile_range / 1.34) * len(values) ** -0.2
grid = np.linspace(values.min() - 25, values.max() + 25, 500)


def density(points, rows, bandwidth):
    """Compute the mean of a normal kernel around each row."""
    return norm.pdf(np.subtract.outer(points, rows), scale=bandwidth).mean(axis=1)


estimate = density(grid, values, bandwidth)
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(grid, estimate, color="C2", lw=2)
for value in values[:: len(values) // 20]:
    ax.plot(grid, norm.pdf(grid, value, bandwidth) / 10, color="C0", lw=0.7)
ax.plot(values, np.full(len(values), -0.0006), "|", color="0.3", ms=6)
ax.set(xlabel="systolic blood pressure of the ill", ylabel="density", ylim=(-0.0012, None))
ax.set_title(f"{len(values)} rows, bandwidth {bandwidth:.1f}", fontsize=10)
plt.show()

# %%
# With the density and the share of each class, Bayes' rule gives a classifier. The two densities
# are similar, so the posterior changes slowly; at rare pressures, it reflects the kernels more than
# the patients.

model = KernelDensityClassifier(bandwidth=bandwidth, standardize=False)
model.fit(pressure[:, np.newaxis], ill)
posterior = model.predict_proba(grid[:, np.newaxis])[:, 1]
fig, axes = plt.subplots(2, 1, figsize=(7, 4.6), layout="constrained", sharex=True)
for group, name, colour in ((ill, "ill", "C3"), (~ill, "not ill", "C0")):
    axes[0].plot(grid, density(grid, pressure[group], bandwidth), color=colour, label=name)
axes[0].set(ylabel="density")
axes[0].legend(frameon=False)
axes[1].plot(grid, posterior, color="C3")
axes[1].set(xlabel="systolic blood pressure", ylabel="P(ill | pressure)", ylim=(0, 1))
plt.show()
