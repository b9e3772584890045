"""
Two rows explained by LIME
==========================

Boosted stumps tell benign from malignant tumours, and are right on 97 of 100. Why do they say so of
this one? LIME (Ribeiro, Singh and Guestrin 2016) draws rows around it, asks the model about each,
and fits a linear model of a few conditions to the answers. Dark bars speak for the class, hatched
ones against it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

from arboleda import explain

data = load_breast_cancer(as_frame=True)
names = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, names, random_state=0)
model = GradientBoostingClassifier(max_depth=1, random_state=0).fit(X_train, y_train)
explainer = explain.lime(model, X_train, random_state=0)

# %%
# Row 100: the model is sure, and nearly all conditions say the same.

found = explainer.explain(X_test.iloc[[100]], output="benign")
found.plot()
print(f"fidelity {found.fidelity:.2f}, stability {found.stability:.2f}")

# %%
# Row 10: a smooth texture speaks for benign, the large error of the area against it, and the model
# is in two minds. The fidelity is low: around this row the answer is not a sum of conditions.

found = explainer.explain(X_test.iloc[[10]], output="benign")
found.plot()
print(f"fidelity {found.fidelity:.2f}, stability {found.stability:.2f}")

# %%
# The weights with their standard errors, from how five repeats differ:

print(found.to_frame().round(3).to_string(index=False))
plt.show()
