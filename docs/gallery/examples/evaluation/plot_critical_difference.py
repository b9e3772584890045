"""
Which is best? Models over many data sets
=========================================

On a single table, any model may win. Over several tables, models are ranked on each; Friedman's
test checks whether the mean ranks differ more than by chance, and Nemenyi's test which pairs differ
(Demšar 2006). In the diagram, the best models are on the right; a bar joins models whose mean ranks
differ by less than the critical difference (CD).

Ten small tables: three from scikit-learn, and seven simulated by its generators.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import (
    BaggingClassifier,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from arboleda.diagnose import compare, compare_over_data_sets

tables = {
    "breast cancer": load_breast_cancer(return_X_y=True),
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "circles": make_circles(400, noise=0.3, factor=0.4, random_state=0),
    "moons": make_moons(400, noise=0.35, random_state=0),
    "shells": make_gaussian_quantiles(n_samples=500, n_features=5, n_classes=3, random_state=0),
    "sphere": make_hastie_10_2(500, random_state=0),
    "clusters": make_classification(500, 20, n_informative=6, flip_y=0.1, random_state=1),
    "many columns": make_classification(300, 100, n_informative=10, random_state=2),
    "four classes": make_classification(
        600, 15, n_informative=8, n_classes=4, flip_y=0.05, random_state=3
    ),
}
models = {
    "tree": DecisionTreeClassifier(random_state=0),
    "bagging": BaggingClassifier(n_estimators=50, random_state=0),
    "random forest": RandomForestClassifier(50, random_state=0),
    "extra trees": ExtraTreesClassifier(50, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=100, random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "naive Bayes": GaussianNB(),
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
errors = pd.DataFrame(
    {
        name: [1 - cross_val_score(model, X, y, cv=folds).mean() for X, y in tables.values()]
        for name, model in models.items()
    },
    index=list(tables),
)
found = compare_over_data_sets(errors)
found.plot(plt.figure(figsize=(9, 3)).add_subplot())
plt.show()

print(f"Friedman's test: F = {found.f:.2f}, p = {found.f_p_value:.2g}")
(100 * errors).round(1)

# %%
# Ten tables separate few models, and a bar does not mean that models are equally good. On a single
# table, repeated splits share rows, which the usual t test ignores. The corrected resampled t test
# of Nadeau and Bengio (2003) takes this into account.

X, y = tables["many columns"]
pairs = compare(list(models.items())[:5], X, y, random_state=0)
pairs.plot(plt.figure(figsize=(8, 4), layout="constrained").add_subplot())
plt.show()

pairs.to_frame().round(4)
