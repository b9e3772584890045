"""
Missing values get a learned side
=================================

Here, larger values are missing more often, as when a scale ends at 100 kg. At each threshold, the
tree sends the rows with missing values to the better side, so one split is enough. After imputation
with the mean, these rows are among the small values, and a tree with one split misclassifies them.
(A deeper tree can isolate the imputed value, with two more splits.)
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
    tree = DecisionTreeClassifier(max_depth=1)
    native.append(cross_val_score(tree, hidden, y).mean())
    filled.append(cross_val_score(make_pipeline(SimpleImputer(), tree), hidden, y).mean())

plt.plot(shares, native, "o-", label="the tree learns a side")
plt.plot(shares, filled, "o-", label="filled with the mean")
plt.axhline(np.mean((x[:, 0] > 0.5) == y), color="grey", lw=1, ls=":", label="the true rule")
plt.xlabel("share of the large values that is missing")
plt.ylabel("accuracy, five folds")
plt.legend(frameon=False, loc="lower left")
plt.show()

# %%
# The rule that the tree finds when most of the large values are missing:

tree.fit(hidden, y)
side = "left" if tree.tree_.missing_go_to_left[0] else "right"
print(f"x <= {tree.tree_.threshold[0]:.3f}? Missing goes {side}.")
