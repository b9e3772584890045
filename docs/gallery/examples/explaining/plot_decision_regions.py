"""
Decision regions of members and of their ensemble
=================================================

Each tree of a forest has its own decision boundaries, and errs in different places. In the vote,
the accidental errors of single trees are outvoted. Three classes of iris over two columns.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from arboleda import RandomForestClassifier, explain

X, y = load_iris(return_X_y=True, as_frame=True)
names = y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))
columns = ["petal length (cm)", "petal width (cm)"]
forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X[columns], names)

explain.decision_regions(forest, X[columns], names, members=3).plot()
plt.show()

# %%
# The members fit their bootstrap samples almost exactly, and the forest is better than its typical
# tree:

errors = [1 - tree.score(X[columns], names) for tree in forest.estimators_[:3]]
print("errors of three trees on all rows:", [round(error, 3) for error in errors])
print(f"out-of-bag error of the forest: {1 - forest.oob_score_:.3f}")
