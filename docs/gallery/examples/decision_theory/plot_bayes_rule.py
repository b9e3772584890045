r"""
Bayes' rule: eyes, hair, and a test for a rare disease
======================================================

A joint table holds all probabilities of two attributes: the marginal ones by the sum rule, the
conditional ones by the product rule. Bayes' rule inverts a conditional probability.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

# %%
# Eyes and hair
# -------------
# Colours of the eyes and the hair of 45 people.

people = pd.DataFrame({"red": [5, 10], "blond": [10, 20]}, index=["brown", "blue"])
people = people.rename_axis(index="eyes", columns="hair")
joint = people / people.to_numpy().sum()
eyes, hair = joint.sum(axis="columns"), joint.sum(axis="index")
eyes_given_hair = joint / hair
print(people)
print(f"p(brown eyes) = {eyes['brown']:.3f} = 15/45")
print(f"p(brown eyes, blond hair) = {joint.loc['brown', 'blond']:.3f} = 10/45")
print(f"p(brown eyes | blond hair) = {eyes_given_hair.loc['brown', 'blond']:.3f} = 10/30")

# %%
# Bayes' rule gives the other direction, :math:`p(\text{hair} \mid \text{eyes}) = p(\text{eyes} \mid
# \text{hair}) \, p(\text{hair}) / p(\text{eyes})`. In this table, the colour of the eyes is
# uninformative about that of the hair: :math:`p(\text{brown} \mid \text{blond}) = p(\text{brown})`,
# the two attributes are independent.

hair_given_eyes = (eyes_given_hair * hair).div(eyes, axis="index")
print(hair_given_eyes.round(3))

fig, axes = plt.subplots(1, 3, figsize=(8, 2.6), layout="constrained", sharey=True)
tables = {
    "p(eyes, hair)": joint,
    "p(eyes | hair)": eyes_given_hair,
    "p(hair | eyes)": hair_given_eyes,
}
for ax, (title, table) in zip(axes, tables.items(), strict=True):
    ax.imshow(table, cmap="Greens", vmin=0, vmax=1)
    for (row, column), value in np.ndenumerate(table.to_numpy()):
        ax.text(column, row, f"{value:.2f}", ha="center", va="center")
    ax.set_xticks([0, 1], table.columns)
    ax.set_yticks([0, 1], table.index)
    ax.set(title=title, xlabel="hair")
axes[0].set_ylabel("eyes")
plt.show()

# %%
# A test and a rare disease
# -------------------------
# A test is positive for 90 % of the sick and for 5 % of the healthy. What a positive result means
# depends on how frequent the disease is: the patient is sick with probability 0.947 if every second
# person is, and with probability 0.154 if one of a hundred is. For a precision of 90 % the test
# would then have to be positive for no more than 0.1 % of the healthy. Repeating it helps as well:
# three positive results in a row suffice, if the errors are independent.


def posterior(prior, sensitivity=0.9, false_positive_rate=0.05, times=1):
    """Compute the probability of the disease after a number of positive tests."""
    sick = prior * sensitivity**times
    return sick / (sick + (1 - prior) * false_positive_rate**times)


highest_rate = 0.01 * 0.9 * (1 - 0.9) / (0.9 * 0.99)
for prior in (0.5, 0.01):
    values = ", ".join(f"{posterior(prior, times=times):.3f}" for times in (1, 2, 3))
    print(f"prior {prior}: {values} after one, two, three positive tests")
print(f"false-positive rate for a precision of 90 %: {highest_rate:.5f}")

prior = np.logspace(-4, np.log10(0.9), 200)
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for times in (1, 2, 3):
    label = f"{times} positive test{'s' * (times > 1)}"
    ax.semilogx(prior, posterior(prior, times=times), label=label)
ax.axvline(0.01, color="0.6", ls=":", lw=1)
ax.set(xlabel="share of the population that is sick", ylabel="probability of the disease")
ax.legend(frameon=False)
plt.show()
