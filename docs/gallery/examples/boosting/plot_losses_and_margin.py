"""
Losses of a classifier against the margin
=========================================

AdaBoost lowers the exponential loss of the margin y F(x), with y = -1 or 1. The number of errors is
the 0-1 loss, which has no gradient. All losses here are scaled to be 1 at the margin 0, so that the
exponential loss, the log-loss (in bits) and the squared error lie above the 0-1 loss: where they
are small, errors are few. After figure 10.4 of Hastie, Tibshirani and Friedman (2009).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.datasets import make_hastie_10_2

from arboleda import AdaBoostClassifier

margin = np.linspace(-2.5, 2.5, 501)
losses = {
    "0-1": (margin <= 0).astype(float),
    "exponential (AdaBoost, real, gentle)": np.exp(-margin),
    "log-loss of 2F, in bits (logit)": np.log2(1 + np.exp(-2 * margin)),
    "squared error": (1 - margin) ** 2,
}
weights = {
    "exponential (AdaBoost, real, gentle)": np.exp(-margin),
    "log-loss of 2F, in bits (logit)": 2 * expit(-2 * margin) / np.log(2),
}

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for (name, loss), colour in zip(losses.items(), ["black", "C3", "C0", "C2"], strict=True):
    left.plot(margin, loss, color=colour, label=name)
left.set(xlabel="margin y F", ylabel="loss", ylim=(0, 4), title="loss")
left.legend(frameon=False, loc="upper right", fontsize="small")
for (name, weight), colour in zip(weights.items(), ["C3", "C0"], strict=True):
    right.plot(margin, weight, color=colour, label=name)
right.set(xlabel="margin y F", ylabel="- slope", ylim=(0, 6), title="pull of a row")
plt.show()

# %%
# The squared error punishes rows that are right by more than 1. The gradient of the exponential
# loss grows without limit the more wrong a prediction is; that of the log-loss is bounded. A row
# with a wrong label can therefore have more influence on AdaBoost. Here, a tenth of the labels was
# changed, and both losses are computed for the same sums F of a hundred stumps:

X, y = make_hastie_10_2(2000, random_state=0)
wrong = np.random.default_rng(0).random(len(y)) < 0.1
observed = np.where(wrong, -y, y)
for algorithm in ("discrete", "gentle"):
    model = AdaBoostClassifier(algorithm=algorithm, n_estimators=100).fit(X, observed)
    margin = observed * model.decision_function(X)
    exponential, log_loss = np.exp(-margin), expit(-2 * margin)
    print(f"F of algorithm={algorithm!r}: the wrong labels, a tenth of the rows, have ", end="")
    print(f"{exponential[wrong].sum() / exponential.sum():.0%} of the pull by exponential loss, ")
    print(f"    {log_loss[wrong].sum() / log_loss.sum():.0%} by log-loss")

# %%
# With stumps, few margins become so negative that the bound matters. The size of F after a hundred
# rounds matters more: full steps towards the smallest loss ("gentle") lead to larger values than
# votes.
