"""
Missing values learn a side
===========================

Here a value is missing more often when it would have been large, as when a scale ends at 100 kg. A tree that may
send the missing rows to the better side of each threshold keeps what their absence tells; filling in the
mean throws it away.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from arboleda import DecisionTreeClassifier

rng = np.random.default_rng(0)
x = rng.normal(size=(2000, 1))
y = (x[:, 0] > 0.5) ^ (rng.random(2000) < 0.1)

shares = np.linspace(0, 0.8, 9)
native, filled = [], []
for share in shares:
    hidden = np.where((x > 0.5) & (rng.random(x.shape) < share), np.nan, x)
    tree = DecisionTreeClassifier(max_depth=3)
    native.append(cross_val_score(tree, hidden, y).mean())
    filled.append(cross_val_score(make_pipeline(SimpleImputer(), tree), hidden, y).mean())

plt.plot(shares, native, "o-", label="the tree learns a side")
plt.plot(shares, filled, "o-", label="filled with the mean")
plt.axhline(0.9, color="grey", lw=1, ls=":", label="best possible (10 % of the labels are flipped)")
plt.xlabel("share of the large values that is missing")
plt.ylabel("accuracy, five folds")
plt.legend(frameon=False, loc="lower left")
plt.show()
