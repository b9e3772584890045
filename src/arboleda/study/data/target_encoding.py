"""Categories as the target's mean among their rows, cross-fitted."""

import sklearn
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder

__all__ = ["target_encoder"]

CROSS_FITTING_FOLDS = 5


def target_encoder(task: str, seed: int) -> TargetEncoder:
    """An encoder that gives each row of a level the target's mean (Micci-Barreca 2001).

    Means of few rows are drawn towards the mean of all. While it is fitted no row meets its own
    target: each has the mean that the rows of other parts teach.

    Parameters
    ----------
    task : {"binary", "multiclass", "regression"}
    seed : int
        Of the parts.
    """
    kind = {"binary": "binary", "multiclass": "multiclass", "regression": "continuous"}[task]
    if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9):
        return TargetEncoder(target_type=kind, shuffle=True, random_state=seed)
    splitter = KFold if task == "regression" else StratifiedKFold
    folds = splitter(CROSS_FITTING_FOLDS, shuffle=True, random_state=seed)
    return TargetEncoder(target_type=kind, cv=folds)
