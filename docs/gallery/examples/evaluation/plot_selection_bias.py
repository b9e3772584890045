"""
Selecting columns outside the folds: accuracy from noise
==========================================================

Fifty rows with 5,000 columns of noise, and labels that are independent of all of them: no model can
be right more than half of the time. Yet if the columns are selected once, on all rows, and a model
on the selected columns is cross-validated, it seems far more accurate, because the selection has
used the validation rows. Ambroise and McLachlan (2002) found this in published studies of gene
expression. In a pipeline, the same selector selects anew in every fold, from its training rows, and
the accuracy is as it should be.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from arboleda import MRMRSelector

N_TABLES, N_ROWS, N_COLUMNS = 12, 50, 5000
COUNTS = [1, 3, 10, 30]

outside, inside = np.empty((2, N_TABLES, len(COUNTS)))
for table in range(N_TABLES):
    X = np.random.default_rng(table).standard_normal((N_ROWS, N_COLUMNS))
    y = np.repeat([0, 1], N_ROWS // 2)
    folds = StratifiedKFold(5, shuffle=True, random_state=table)
    for i, count in enumerate(COUNTS):
        selector = MRMRSelector(count)
        chosen = selector.fit_transform(X, y)  # the mistake: it sees all rows
        outside[table, i] = cross_val_score(GaussianNB(), chosen, y, cv=folds).mean()
        pipeline = make_pipeline(selector, GaussianNB())
        inside[table, i] = cross_val_score(pipeline, X, y, cv=folds).mean()

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ways = {"chosen once, on all rows": (outside, "C3"), "chosen anew in every fold": (inside, "C0")}
for (label, (scores, color)), shift in zip(ways.items(), (-0.09, 0.09), strict=True):
    places = np.arange(len(COUNTS)) + shift
    ax.plot(places, scores.T, "o", color=color, alpha=0.25, markersize=4, markeredgewidth=0)
    ax.plot(places, scores.mean(axis=0), "o-", color=color, label=label)
    means = ", ".join(
        f"{count}: {mean:.2f}" for count, mean in zip(COUNTS, scores.mean(axis=0), strict=True)
    )
    print(f"{label}: {means}")
ax.axhline(0.5, color="grey", linestyle=":", label="the truth")
ax.set_xticks(range(len(COUNTS)), COUNTS)
ax.set(
    xlabel="columns chosen of 5,000 that tell nothing",
    ylabel="accuracy by cross-validation",
    ylim=(0.15, 1.03),
)
ax.legend(frameon=False, loc="lower left")
plt.show()

# %%
# Each faint point is a table of noise; the lines are the means of twelve. Among so many columns,
# some are correlated with the labels by chance, in the held-out rows as well as in the others,
# because both were used for the selection. The more such columns are selected, the better the
# result seems. Inside the folds, chance correlations in the training rows do not extend to the
# held-out rows, and half of the predictions are right.
