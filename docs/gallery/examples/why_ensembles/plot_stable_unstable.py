"""
Bagging helps unstable models
==============================

Bagging averages models that were fitted on bootstrap samples. It removes variance, so it helps
models that change with the training rows, and does little for stable ones. Breiman (1996), "Bagging
predictors", section 4: trees are unstable, nearest neighbours are not, since a row's nearest
neighbour is in most of the samples. Boxes show the test error over 20 draws of training and test
rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import BaggingClassifier, DecisionTreeClassifier

single = {
    "tree": DecisionTreeClassifier(random_state=0),
    "5 nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
}
tables = {"breast cancer": load_breast_cancer, "wine": load_wine}
draws = ShuffleSplit(n_splits=20, test_size=0.25, random_state=0)

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, load) in zip(axes, tables.items(), strict=True):
    X, y = load(return_X_y=True)
    for place, (kind, model) in enumerate(single.items()):
        alone = 1 - cross_val_score(model, X, y, cv=draws)
        bagged = BaggingClassifier(model, n_estimators=25, random_state=0)
        together = 1 - cross_val_score(bagged, X, y, cv=draws)
        for errors, shift, colour in [(alone, -0.18, "C0"), (together, 0.18, "C1")]:
            box = ax.boxplot(
                100 * errors,
                positions=[place + shift],
                widths=0.28,
                patch_artist=True,
                medianprops={"color": "black"},
                flierprops={"ms": 3},
            )
            box["boxes"][0].set(facecolor=colour, alpha=0.6)
        gain = alone - together
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        print(f"{name}, {kind}: {alone.mean():.2%} alone, {together.mean():.2%} bagged, ", end="")
        print(f"gain {gain.mean():.2%} (standard error {error:.2%})")
    ax.set_xticks(range(len(single)), list(single))
    ax.set(title=name, ylabel="test error, %")
    ax.set_ylim(bottom=-0.3)
handles = [plt.Rectangle((0, 0), 1, 1, color=c, alpha=0.6) for c in ("C0", "C1")]
axes[1].legend(handles, ["alone", "25 bagged"], frameon=False)
plt.show()
