"""Cross-fitted target encoding of categories."""

import sklearn
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder

__all__ = ["target_encoder"]

CROSS_FITTING_FOLDS = 5


def target_encoder(task: str, seed: int) -> TargetEncoder:
    """Return an encoder of categories by the target's mean per level (Micci-Barreca 2001).

    Means of few rows are shrunk towards the overall mean. `fit_transform` uses cross-fitting: each
    row gets the mean of the rows in other folds.

    Parameters
    ----------
    task : {"binary", "multiclass", "regression"}
    seed : int
        Seed of the folds.
    """
    kind = {"binary": "binary", "multiclass": "multiclass", "regression": "continuous"}[task]
    if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9):
        return TargetEncoder(target_type=kind, shuffle=True, random_state=seed)
    splitter = KFold if task == "regression" else StratifiedKFold
    folds = splitter(CROSS_FITTING_FOLDS, shuffle=True, random_state=seed)
    return TargetEncoder(target_type=kind, cv=folds)
