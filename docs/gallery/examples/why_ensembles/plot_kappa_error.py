"""
Accurate or different: the kappa-error diagram
==============================================

A vote gains if members are accurate and different. Kappa measures the agreement of two members
beyond chance; the diagram of Margineantu and Dietterich (1997) plots it against their mean error,
with one point per pair. Members are diverse at the left and accurate at the bottom, and no ensemble
has both: methods that make members more diverse make them less accurate. The large points are the
means.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from arboleda import (
    AdaBoostClassifier,
    BaggingClassifier,
    ClassSwitchingClassifier,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomSubspaceClassifier,
)
from arboleda.diagnose import diversity

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

options = {"n_estimators": 30, "random_state": 0}
ensembles = {
    "bagging": BaggingClassifier(**options),
    "random subspaces": RandomSubspaceClassifier(**options),
    "random forest": RandomForestClassifier(**options),
    "extra trees": ExtraTreesClassifier(**options),
    "AdaBoost, depth 6": AdaBoostClassifier(DecisionTreeClassifier(max_depth=6), **options),
    "class switching": ClassSwitchingClassifier(p=0.3, **options),
}


def predict_members(ensemble):
    """Digit that each member sees in each test row."""
    members = ensemble.estimators_
    columns = getattr(ensemble, "estimators_features_", [slice(None)] * len(members))
    seen = [m.predict(X_test[:, part]) for m, part in zip(members, columns, strict=True)]
    return np.array(seen, dtype=int)


rows = {}
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
for name, ensemble in ensembles.items():
    ensemble.fit(X_train, y_train)
    found = diversity(predict_members(ensemble), y_test)
    found.plot(ax, label=name)
    rows[name] = {"error of the vote": 1 - ensemble.score(X_test, y_test)} | found.summary()
ax.legend(frameon=False)
plt.show()

# %%
# The best vote is neither that of the best members nor that of the most different ones. Measures of
# pairs order the ensembles much alike; generalised diversity, which measures how seldom errors
# coincide, orders them differently, because members that are often wrong are often wrong together.

pd.DataFrame(rows).T.round(3)
