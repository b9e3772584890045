"""
Class switching: many wrong labels, one right vote
==================================================

Every member learns all rows, but a share p of their labels is switched at random in such a way that
the classes keep their proportions. The larger p is, the worse and the more diverse are the members.
As long as p is below a limit, here the share of the smaller class, many members together outvote
the noise. The larger p, the more members are needed. After Martínez-Muñoz and Suárez (2005),
"Switching class labels to generate classification ensembles".
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from arboleda import BaggingClassifier, ClassSwitchingClassifier

X, y = load_breast_cancer(return_X_y=True)
N_MEMBERS, N_DRAWS = 200, 3
numbers = np.arange(1, N_MEMBERS + 1)


def curve(make):
    """Test error of the first 1, 2, .. members, mean over some draws of training rows."""
    errors, alone = [], []
    for draw in range(N_DRAWS):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=1 / 3, stratify=y, random_state=draw
        )
        model = make(draw).fit(X_train, y_train)
        votes = [member.predict(X_test) for member in model.estimators_]
        shares = np.cumsum(votes, axis=0) / numbers[:, np.newaxis]
        errors.append(((shares > 0.5) != y_test).mean(axis=1))
        alone.append(np.mean(np.array(votes) != y_test))
    return np.mean(errors, axis=0), np.mean(alone)


fig, ax = plt.subplots(figsize=(7, 4.5))
colours = plt.colormaps["viridis"]
for p in [0.1, 0.2, 0.3, 0.35]:
    error, alone = curve(
        lambda draw, p=p: ClassSwitchingClassifier(n_estimators=N_MEMBERS, p=p, random_state=draw)
    )
    ax.plot(numbers, 100 * error, color=colours(1.1 - 2.9 * p), label=f"switching, p = {p:g}")
    print(f"p = {p:g}: a member {alone:.1%} wrong, {N_MEMBERS} together {error[-1]:.2%}")
error, alone = curve(lambda draw: BaggingClassifier(n_estimators=N_MEMBERS, random_state=draw))
ax.plot(numbers, 100 * error, color="C3", ls="--", label="bagging")
print(f"bagging: a member {alone:.1%} wrong, {N_MEMBERS} together {error[-1]:.2%}")
ax.set(xscale="log", ylim=(2, 30), xlabel="members", ylabel="test error, %")
ax.xaxis.set_major_formatter("{x:g}")
ax.legend(frameon=False)
plt.show()
