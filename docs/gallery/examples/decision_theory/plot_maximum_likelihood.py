r"""
Maximum likelihood, and how it overfits
=======================================

The principle of maximum likelihood chooses the parameters under which the observed data are most
probable. With much data it finds the truth; with little data it believes what it has seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import xlogy
from scipy.stats import norm

# %%
# The number game
# ---------------
# Numbers from 1 to 100 were drawn from one of two uniform distributions: over the even numbers or
# over the powers of two. The sample is 16, 8, 2, 64. It is possible under both, but
# :math:`(1/6)^4 = 7.7 \cdot 10^{-4}` is much more than :math:`(1/50)^4 = 1.6 \cdot 10^{-7}`: the
# smaller set that holds all numbers is the likelier one.

sample = (16, 8, 2, 64)
supports = {"powers of two": {2, 4, 8, 16, 32, 64}, "even numbers": set(range(2, 101, 2))}


def likelihood(support, numbers):
    """Compute the probability of independent draws from a uniform distribution over a set."""
    return len(support) ** -float(len(numbers)) if support.issuperset(numbers) else 0.0


for name, support in supports.items():
    print(f"p(sample | {name}) = {likelihood(support, sample):.1e}")

# %%
# A coin
# ------
# The likelihood of :math:`N_1` heads among N tosses is :math:`p^{N_1} (1 - p)^{N - N_1}`; its
# maximum lies at :math:`p = N_1 / N`, and becomes sharper as N grows.

p = np.linspace(0, 1, 501)


def log_likelihood(heads, tosses, p):
    """Compute the log-likelihood of a coin's probability p of heads."""
    return xlogy(heads, p) + xlogy(tosses - heads, 1 - p)


fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for heads, tosses in ((7, 10), (28, 40), (112, 160)):
    curve = log_likelihood(heads, tosses, p)
    ax.plot(p, np.exp(curve - curve.max()), label=f"{heads} heads of {tosses}")
ax.axvline(0.7, color="0.6", ls=":", lw=1)
ax.set(xlabel="probability of heads", ylabel="likelihood, largest = 1")
ax.legend(frameon=False)
plt.show()

# %%
# A normal distribution
# ---------------------
# The maximum is reached by the mean of the sample and by its variance with the divisor N. A single
# value shows how this overfits: the mean is that value, the variance is 0, its own likelihood is
# infinite and that of every other value is 0. The variance is too small for all small samples, on
# average by the factor :math:`(N - 1) / N`.


def maximum_likelihood(values):
    """Estimate mean and variance of a normal distribution."""
    return np.mean(values), np.mean((values - np.mean(values)) ** 2)


rng = np.random.default_rng(15)
values = rng.normal(8, 2, size=300)
print("one value: mean {:.2f}, variance {:.2f}".format(*maximum_likelihood(values[:1])))

grid = np.linspace(0, 16, 400)
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(grid, norm.pdf(grid, 8, 2), "--", color="0.4", label="the truth")
for number, n_rows in enumerate((2, 5, 300)):
    mean, variance = maximum_likelihood(values[:n_rows])
    label = f"N = {n_rows}: mean {mean:.2f}, variance {variance:.2f}"
    ax.plot(grid, norm.pdf(grid, mean, np.sqrt(variance)), color=f"C{number}", label=label)
    if n_rows < 10:
        ax.plot(values[:n_rows], np.zeros(n_rows), "o", color=f"C{number}", ms=4)
ax.set(xlabel="x", ylabel="density", ylim=(-0.01, None))
ax.legend(frameon=False, fontsize=8, loc="upper right")
plt.show()
