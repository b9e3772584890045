r"""
Deciding under uncertainty: the textbook's numbers
==================================================

Maximum likelihood, the maximum of the posterior, the choice between two models, and what to do with
a probability once it is there: worked by hand, and drawn.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import betaln, expit
from scipy.stats import norm
from sklearn.linear_model import LinearRegression

# %%
# A line by maximum likelihood
# ----------------------------
# With normal errors the likeliest line is that of least squares. Through the points (0, 4), (1, 6),
# (2, 4), (3, 6), (4, 8) it has the slope 0.8 and the intercept 4, and leaves a mean squared error
# of 0.96.

x, t = np.arange(5.0), np.array([4.0, 6.0, 4.0, 6.0, 8.0])
line = LinearRegression().fit(x[:, np.newaxis], t)
slope, intercept = float(line.coef_[0]), float(line.intercept_)
squared_error = float(np.mean((t - line.predict(x[:, np.newaxis])) ** 2))
print(f"w = {slope:.2f}, b = {intercept:.2f}, mean squared error {squared_error:.2f}")

fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.plot(x, intercept + slope * x, color="C2")
ax.vlines(x, t, intercept + slope * x, color="C3", lw=1)
ax.plot(x, t, "o", color="C0")
ax.set(xlabel="x", ylabel="t")
plt.show()

# %%
# A mean with a prior
# -------------------
# Numbers are normal with a known variance :math:`s^2`, their mean is expected near 5:
# :math:`\mu \sim N(5, 1)`. The most probable mean after N of them,
#
# .. math:: \mu_{MAP} = \frac{N}{N + s^2} \bar x + \frac{s^2}{N + s^2} 5,
#
# moves from the prior's to that of the data; the factor :math:`N / (N + s^2)` says how far.


def shrinkage(n_rows, variance):
    return n_rows / (n_rows + variance)


def map_mean(values, variance, prior_mean=5.0):
    share = shrinkage(len(values), variance)
    return share * np.mean(values) + (1 - share) * prior_mean


variance = 4.0
numbers = np.random.default_rng(1).normal(8.0, np.sqrt(variance), size=64)
grid = np.linspace(2, 10, 400)
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(grid, norm.pdf(grid, 5, 1), "--", color="0.4", label="prior N(5, 1)")
for number, n_rows in enumerate((1, 4, 16, 64)):
    mean = map_mean(numbers[:n_rows], variance)
    spread = np.sqrt(variance / (n_rows + variance))
    label = f"N = {n_rows}, shrinkage {shrinkage(n_rows, variance):.2f}"
    ax.plot(grid, norm.pdf(grid, mean, spread), color=f"C{number}", label=label)
ax.set(xlabel=r"$\mu$", ylabel="density", ylim=(0, None))
ax.legend(frameon=False, fontsize=8)
plt.show()

# %%
# Which of two models
# -------------------
# A coin fell heads m times of N. Is it fair, or has it a bias of which nothing is known? Under the
# first model the sequence has the probability :math:`2^{-N}`, under the second
# :math:`\int_0^1 \theta^m (1 - \theta)^{N - m} d\theta = B(m + 1, N - m + 1)`. The second can
# explain every sequence, so it explains none very well: near the half, the fair coin wins.


def probability_of_bias(heads, tosses, prior=0.5):
    """Posterior probability that the coin is biased."""
    log_odds = betaln(heads + 1, tosses - heads + 1) + tosses * np.log(2)
    return expit(log_odds + np.log(prior / (1 - prior)))


fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for tosses in (10, 40, 160):
    heads = np.arange(tosses + 1)
    ax.plot(heads / tosses, probability_of_bias(heads, tosses), ".-", label=f"{tosses} tosses")
ax.axhline(0.5, color="0.7", lw=0.8)
ax.set(xlabel="share of heads", ylabel="probability of a bias")
ax.legend(frameon=False)
plt.show()

# %%
# To decide or not to decide
# --------------------------
# With the posterior :math:`P(1 | x) = 1 / (1 + e^{-wx})`, whoever wants to be right with a
# probability of 0.9 at least answers only where :math:`|wx| \geq \log 9 = 2.197`.

wx = np.linspace(-6, 6, 1201)
surest = np.maximum(expit(wx), 1 - expit(wx))
rejected = wx[surest < 0.9]
border = float(np.log(9))
print(f"rejected: {rejected.min():.2f} to {rejected.max():.2f}; log 9 = {border:.3f}")

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(wx, expit(wx), label="P(1 | x)")
ax.plot(wx, 1 - expit(wx), label="P(0 | x)")
ax.axvspan(-border, border, color="0.9", label="rejected")
ax.axhline(0.9, color="0.5", ls=":", lw=1)
ax.set(xlabel="wx", ylabel="probability")
ax.legend(frameon=False, loc="center right")
plt.show()

# %%
# A test and a rare disease
# -------------------------
# A test finds 90 % of the sick and alarms 5 % of the healthy. How much an alarm means depends on
# how frequent the disease is: 0.947 if every second person is sick, 0.154 if one of a hundred is.
# To be right in 90 % of the alarms then, it may alarm no more than 0.1 % of the healthy; or the
# test is repeated: three alarms in a row are enough, if its errors are independent.


def posterior(prior, found=0.9, alarmed=0.05, times=1):
    """Probability of the disease after so many positive tests."""
    return prior * found**times / (prior * found**times + (1 - prior) * alarmed**times)


highest_rate = 0.01 * 0.9 * (1 - 0.9) / (0.9 * 0.99)
for prior in (0.5, 0.01):
    chances = ", ".join(f"{posterior(prior, times=k):.3f}" for k in (1, 2, 3))
    print(f"prior {prior}: {chances} after one, two, three positive tests")
print(f"false positives for a precision of 90 %: {highest_rate:.5f}")

prior = np.logspace(-4, np.log10(0.9), 200)
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for times in (1, 2, 3):
    label = f"{times} positive test{'s' * (times > 1)}"
    ax.semilogx(prior, posterior(prior, times=times), label=label)
ax.axvline(0.01, color="0.6", ls=":", lw=1)
ax.set(xlabel="share of the sick", ylabel="probability of the disease")
ax.legend(frameon=False)
plt.show()
