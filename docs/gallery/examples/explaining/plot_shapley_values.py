"""
Shapley values of all rows, and of one
======================================

The contribution of each column to the prediction for each row of a table, from the mean prediction
to that of the row. Above, all held-out rows: a point is a row, dark if the column's value is high.
Below, one of them, step by step. The predictions are log-odds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from arboleda import HistGradientBoostingClassifier, explain, plot

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(X_train, y_train)
values = explain.shap_values(model, X_test)

plot.shap_summary(values, n_features=12)
plt.show()

# %%
# The row whose prediction is closest to even: the contributions for the two classes nearly cancel.

margin = model.decision_function(X_test)
row = int(abs(margin).argmin())
plot.shap_waterfall(values, row=row, n_features=8)
plt.show()
