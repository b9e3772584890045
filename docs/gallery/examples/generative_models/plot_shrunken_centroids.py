"""
Few of five thousand columns: the path of nearest shrunken centroids
====================================================================

Fifty tissues of two kinds and five thousand genes, of which thirty differ, to various degrees. The
means of the two kinds are shrunk towards each other: at every threshold, the genes whose means have
met drop out. Cross-validation chooses the threshold. After figures 1 and 2 of Tibshirani, Hastie,
Narasimhan and Chu (2002), "Diagnosis of multiple cancer types by shrunken centroids of gene
expression".
"""

import matplotlib.pyplot as plt
import numpy as np

from arboleda import DiagonalLDA, NearestShrunkenCentroids

N_ROWS, N_COLUMNS, N_INFORMATIVE = 50, 5000, 30
random = np.random.default_rng(0)
shift = np.zeros(N_COLUMNS)
shift[:N_INFORMATIVE] = np.linspace(1.6, 0.4, N_INFORMATIVE)


def tissues(n_rows):
    y = np.arange(n_rows) % 2
    return random.normal(size=(n_rows, N_COLUMNS)) + shift * y[:, np.newaxis], y


X, y = tissues(N_ROWS)
X_test, y_test = tissues(1000)
model = NearestShrunkenCentroids(random_state=0).fit(X, y)
ax = model.path_.plot(plt.figure(figsize=(7, 4.5)).add_subplot())
test_error = [
    1 - NearestShrunkenCentroids(shrink_threshold=t).fit(X, y).score(X_test, y_test)
    for t in model.path_.threshold
]
ax.plot(model.path_.threshold, test_error, color="C2", lw=1, label="fresh rows")
ax.legend(frameon=False)
plt.show()

# %%
# New rows confirm this: without shrinkage, thousands of uninformative genes outweigh the
# informative ones.

informative = model.selected_features_ < N_INFORMATIVE
print(f"{informative.size} genes chosen, {informative.sum()} of them among the {N_INFORMATIVE}")
print(f"error on fresh rows {1 - model.score(X_test, y_test):.1%}, ", end="")
print(f"of diagonal LDA with all genes {1 - DiagonalLDA().fit(X, y).score(X_test, y_test):.1%}")

# %%
# The remaining difference between the kinds for each gene, in standard errors. Grey: before
# shrinkage, where the largest of thousands of chance differences are as large as true ones.

before = NearestShrunkenCentroids(shrink_threshold=0).fit(X, y).deviations_[1]
left = model.deviations_[1]
_, ax = plt.subplots(figsize=(9, 4))
genes = np.arange(400)
ax.vlines(genes, 0, before[:400], color="0.8", lw=1, label="before")
ax.vlines(genes, 0, left[:400], color="C0", lw=2, label="shrunken")
ax.axvline(N_INFORMATIVE - 0.5, color="C3", lw=0.8, ls=":")
ax.text(N_INFORMATIVE + 2, 3.6, "left of here: genes that differ", color="C3")
ax.set_xlabel("gene, the first 400 of 5,000")
ax.set_ylabel("difference of the second kind")
ax.legend(frameon=False, loc="lower right")
plt.show()
