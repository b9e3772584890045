r"""
The role of a prior: posterior, MAP, prediction, model selection
================================================================

A prior is the plausibility of a hypothesis before any data are seen. Multiplied by the likelihood
and normalised, it becomes the posterior, whose maximum is the MAP estimate (maximum a posteriori).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import betaln, expit
from scipy.stats import norm

# %%
# The number game with a prior
# ----------------------------
# Seven hypotheses about where numbers from 1 to 100 come from. Beforehand, the even and the odd
# numbers are five times as plausible as the powers of two, the primes or the numbers ending in 9;
# the two contrived sets, powers of two without 32 and powers of two with 37, are a hundred times
# less plausible than these. After the sample 16, 8, 2, 64 the likelihood alone would choose the
# powers of two without 32; the posterior chooses the powers of two.

powers = {2, 4, 8, 16, 32, 64}
primes = {n for n in range(2, 101) if all(n % divisor for divisor in range(2, n))}
hypotheses = {
    "powers of two": (powers, 1),
    "even": (set(range(2, 101, 2)), 5),
    "odd": (set(range(1, 101, 2)), 5),
    "prime": (primes, 1),
    "ending in 9": (set(range(9, 101, 10)), 1),
    "powers of two\nwithout 32": (powers - {32}, 0.01),
    "powers of two\nand 37": (powers | {37}, 0.01),
}
sample = (16, 8, 2, 64)
prior = np.array([weight for _, weight in hypotheses.values()])
prior = prior / prior.sum()


def likelihoods(numbers):
    """Compute the probability of independent uniform draws under each hypothesis."""
    return np.array(
        [
            len(support) ** -float(len(numbers)) if support.issuperset(numbers) else 0.0
            for support, _ in hypotheses.values()
        ]
    )


def posterior(numbers):
    """Compute the probability of each hypothesis after the numbers were seen."""
    joint = likelihoods(numbers) * prior
    return joint / joint.sum()


fig, axes = plt.subplots(1, 3, figsize=(8, 3.2), layout="constrained", sharey=True)
columns = {"prior": prior, "likelihood": likelihoods(sample), "posterior": posterior(sample)}
for number, (ax, (title, values)) in enumerate(zip(axes, columns.items(), strict=True)):
    ax.barh(range(len(hypotheses)), values, color=f"C{number}")
    ax.set_yticks(range(len(hypotheses)), list(hypotheses), fontsize=8)
    ax.set(title=title, xlim=(0, 1.08 * values.max()))
    ax.locator_params(axis="x", nbins=4)
axes[0].invert_yaxis()
plt.show()

# %%
# The predictive distribution
# ---------------------------
# What number comes next? All hypotheses take part, each with its posterior probability:
# :math:`p(x \mid D) = \sum_\theta p(x \mid \theta) \, p(\theta \mid D)`. After a single 16 the even
# numbers are still in play; after four numbers hardly anything but powers of two is left.


def predictive(numbers):
    """Compute the probability of each number from 1 to 100 coming next."""
    density = np.zeros(101)
    for (support, _), weight in zip(hypotheses.values(), posterior(numbers), strict=True):
        density[list(support)] += weight / len(support)
    return density[1:]


fig, axes = plt.subplots(2, 1, figsize=(7, 4), layout="constrained", sharex=True)
for ax, numbers in zip(axes, ((16,), sample), strict=True):
    ax.bar(np.arange(1, 101), predictive(numbers), width=0.9, color="C2")
    ax.set(ylabel="probability", title=f"after {', '.join(map(str, numbers))}")
axes[-1].set_xlabel("the next number")
plt.show()

# %%
# The mean of a normal distribution
# ---------------------------------
# The variance :math:`s^2` is known, and the prior of the mean is :math:`\mu \sim N(5, 1)`. The MAP
# estimate after N numbers,
#
# .. math:: \mu_{MAP} = \frac{N}{N + s^2} \bar x + \frac{s^2}{N + s^2} 5,
#
# moves from the mean of the prior to that of the data.


def shrinkage(n_rows, variance):
    """Compute the weight of the data's mean."""
    return n_rows / (n_rows + variance)


def map_mean(values, variance, prior_mean=5.0):
    """Estimate the mean of a normal distribution of known variance."""
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
# Its variance
# ------------
# The prior :math:`p(\sigma^2) \propto \exp(-1 / \sigma^2) / \sigma^2` pulls the variance towards 1:
#
# .. math:: \sigma^2_{MAP} = \frac{N}{N + 2} \sigma^2_{ML} + \frac{2}{N + 2} 1,
#
# where :math:`\sigma^2_{ML}` is the mean squared deviation. A single number, whose likelihood is
# largest for a variance of 0, gives 2/3 instead.


def map_variance(values):
    """Estimate the variance of a normal distribution around the sample's own mean."""
    n_rows = len(values)
    return (n_rows * np.var(values) + 2) / (n_rows + 2)


def log_posterior_of_variance(values, sigma2):
    """Compute the log-density of the variance, up to a constant."""
    squares = np.sum((values - np.mean(values)) ** 2)
    return -squares / (2 * sigma2) - len(values) / 2 * np.log(sigma2) - 1 / sigma2 - np.log(sigma2)


sigma2 = np.linspace(0.05, 9, 1000)
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for number, n_rows in enumerate((1, 4, 16, 64)):
    curve = log_posterior_of_variance(numbers[:n_rows], sigma2)
    label = (
        f"N = {n_rows}: ML {np.var(numbers[:n_rows]):.2f}, MAP {map_variance(numbers[:n_rows]):.2f}"
    )
    ax.plot(sigma2, np.exp(curve - curve.max()), color=f"C{number}", label=label)
    ax.plot(map_variance(numbers[:n_rows]), 1, "o", color=f"C{number}", ms=4)
ax.axvline(variance, color="0.6", ls=":", lw=1)
ax.set(xlabel=r"$\sigma^2$", ylabel="posterior, largest = 1", ylim=(0, 1.45))
ax.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
plt.show()

# %%
# Two models
# ----------
# The data have the probability 0.05 under model 1 and 0.01 under model 2, whose priors are 0.1 and
# 0.9. Model 1 has the larger likelihood, model 2 the larger posterior: 0.009 against 0.005.

evidence, model_prior = np.array([0.05, 0.01]), np.array([0.1, 0.9])
model_posterior = evidence * model_prior / np.sum(evidence * model_prior)
ml_model, map_model = int(evidence.argmax()) + 1, int(model_posterior.argmax()) + 1
print(f"maximum likelihood: model {ml_model}; MAP: model {map_model}", model_posterior.round(3))

# %%
# Fair, or biased?
# ----------------
# A coin fell heads m times of N. Under the fair coin the sequence has the probability
# :math:`2^{-N}`, under a bias of which nothing is known
# :math:`\int_0^1 \theta^m (1 - \theta)^{N - m} d\theta = B(m + 1, N - m + 1)`. The second model can
# explain every sequence, and therefore none of them very well: near one half the fair coin wins.


def probability_of_bias(heads, tosses, prior=0.5):
    """Compute the posterior probability that the coin is biased."""
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
