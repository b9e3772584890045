"""False positive rates of ForestSelector."""

from typing import Any

import numpy as np

from arboleda import ForestSelector, RandomForestClassifier, RandomForestRegressor


def selections(task: str, *, signal: bool, n_runs: int, alpha: float, n_permutations: int) -> Any:
    """Return the selections on many tables, of shape (n_runs, n_modes, n_columns).

    The five columns are numeric, numeric with few values, and two almost equal ones; with
    ``signal``, the first one is informative.
    """
    classes = task == "classification"
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(15, n_jobs=1)
    found = []
    for run in range(n_runs):
        random = np.random.default_rng(run)
        X = random.standard_normal((50, 5))
        X[:, 2] = X[:, 2].round()
        X[:, 4] = X[:, 3] + 0.1 * X[:, 4]
        y = 2 * X[:, 0] * signal + random.standard_normal(50)
        selector = ForestSelector(
            forest, n_permutations=n_permutations, alpha=alpha, random_state=run
        ).fit(X, (y > 0).astype(int) if classes else y)
        found.append([selector.pvalues_ <= alpha, selector.support_])
    return np.array(found)
