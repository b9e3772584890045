"""
AdaBoost of stumps against one large tree
=========================================

Ten standard normal columns; the class is whether the sum of their squares is above its median,
9.34. A stump, a single split on one column, is almost uninformative. AdaBoost adds up 400 of them.
After figure 10.2 of Hastie, Tibshirani and Friedman (2009): 2,000 training rows, 10,000 test rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from arboleda import AdaBoostClassifier, DecisionTreeClassifier

random = np.random.default_rng(0)
X = random.normal(size=(12_000, 10))
y = np.where((X**2).sum(axis=1) > 9.34, 1, -1)
X_train, y_train, X_test, y_test = X[:2000], y[:2000], X[2000:], y[2000:]

boosted = AdaBoostClassifier(algorithm="discrete", n_estimators=400).fit(X_train, y_train)
stump = DecisionTreeClassifier(max_depth=1).fit(X_train, y_train)
tree = DecisionTreeClassifier().fit(X_train, y_train)


def error_of(model):
    """Share of the test rows that a model gets wrong."""
    return 1 - model.score(X_test, y_test)


test = [(label != y_test).mean() for label in boosted.staged_predict(X_test)]
train = [(label != y_train).mean() for label in boosted.staged_predict(X_train)]
rounds = np.arange(1, len(test) + 1)
print(f"one stump:            {error_of(stump):.1%} of the test rows wrong")
print(f"one tree, {tree.get_n_leaves()} leaves: {error_of(tree):.1%}")
print(f"400 stumps:           {test[-1]:.1%}")

fig, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.plot(rounds, test, color="C0", label="AdaBoost of stumps, test rows")
axes.plot(rounds, train, color="C0", alpha=0.4, label="the same, training rows")
for model, name, colour in ((stump, "one stump", "C3"), (tree, "one large tree", "C2")):
    axes.axhline(error_of(model), color=colour, ls=":")
    axes.text(400, error_of(model) + 0.006, name, color=colour, ha="right")
axes.set(xlabel="rounds", ylabel="share of the rows that are wrong", ylim=(0, 0.55))
axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.6, 0.8))
plt.show()

# %%
# Every stump is hardly better than guessing: its edge, one half minus its weighted training error,
# is a few percent. But every edge counts: the training error is at most the product of the factors
# Z, which are below 1 in each round.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.plot(rounds, boosted.edges_, color="C0", lw=0.8)
left.set(xlabel="rounds", ylabel="edge: 1/2 - error", ylim=(0, None))
right.plot(rounds, boosted.training_error_bound_, "--", color="C1", label="product of Z")
right.plot(rounds, train, color="C0", lw=0.8, label="training error")
right.set(xlabel="rounds", ylim=(0, 1))
right.legend(frameon=False)
plt.show()
