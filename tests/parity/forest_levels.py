"""Two libraries' forests on the same splits of the same tables: are they as good as each other?"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sklearn.ensemble
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

import arboleda

Floats = npt.NDArray[np.float64]


class Levels(NamedTuple):
    """Scores of the two libraries, one entry a seed: the same split and another forest each."""

    ours: Floats
    theirs: Floats

    @property
    def difference(self) -> float:
        return float(np.mean(self.ours - self.theirs))

    @property
    def standard_error(self) -> float:
        """Of the mean difference."""
        differences = self.ours - self.theirs
        return float(differences.std(ddof=1) / np.sqrt(len(differences)))

    def are_equivalent(self, margin: float) -> bool:
        """Two one-sided tests at 5 %: the difference lies within the margin on both sides.

        Schuirmann (1987). Where both score alike for every seed nothing has to be tested.
        """
        from scipy.stats import t

        reach = t.ppf(0.95, len(self.ours) - 1) * self.standard_error
        return abs(self.difference) + reach < margin

    def do_not_differ(self, margin: float) -> bool:
        """Whether the difference is within three standard errors and the margin: for few seeds."""
        return abs(self.difference) < 3.0 * self.standard_error + margin


def levels(name: str, X: Any, y: Any, parameters: dict[str, Any], n_seeds: int) -> Levels:
    """Scores (accuracy or R2) of a forest of that name in both libraries."""
    classifies = name.endswith("Classifier")
    splitter = StratifiedShuffleSplit if classifies else ShuffleSplit
    splits = splitter(n_splits=n_seeds, test_size=0.3, random_state=0).split(X, y)
    ours, theirs = [], []
    for seed, (train, test) in enumerate(splits):
        for library, scores in ((arboleda, ours), (sklearn.ensemble, theirs)):
            forest = getattr(library, name)(random_state=seed, **parameters)
            scores.append(forest.fit(X[train], y[train]).score(X[test], y[test]))
    return Levels(np.array(ours), np.array(theirs))
