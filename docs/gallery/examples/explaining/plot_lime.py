"""
Two rows explained by LIME
==========================

Boosted stumps classify 97 of 100 tumours correctly as benign or malignant. Why do they predict this
class for this one? LIME (Ribeiro, Singh and Guestrin 2016) draws rows around it, predicts each with
the model, and fits a linear model of a few conditions to the predictions. Dark bars support the
class, hatched bars oppose it.
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
# Row 100: the model is confident, and nearly all conditions support the prediction.

found = explainer.explain(X_test.iloc[[100]], output="benign")
found.plot()
print(f"fidelity {found.fidelity:.2f}, stability {found.stability:.2f}")

# %%
# Row 10: a smooth texture supports benign, the large error of the area opposes it, and the model is
# undecided. The fidelity is low: around this row, the prediction is not a sum of conditions.

found = explainer.explain(X_test.iloc[[10]], output="benign")
found.plot()
print(f"fidelity {found.fidelity:.2f}, stability {found.stability:.2f}")

# %%
# The weights with their standard errors, from the variation over five repeats:

print(found.to_frame().round(3).to_string(index=False))
plt.show()
