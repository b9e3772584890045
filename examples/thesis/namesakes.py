"""What the same list of models and grids would take with scikit-learn alone.

Where the study's model is scikit-learn's own, the time is the study's. The others are fitted with
the candidate that was chosen, on a part of the training rows, and the time is projected to all of
them: in proportion to the rows, which flatters trees a little.
"""

import time
from typing import Any

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

__all__ = ["namesake", "timed"]

MOST_ROWS = 4_000
FOLDS = 5
# Parameters of ours that scikit-learn's histogram boosting has not.
_OURS = {"growth", "subsample", "colsample_bytree"}


def namesake(key: str, params: dict[str, Any], is_classes: bool) -> Any | None:
    """scikit-learn's model for a candidate of one of ours, or None if it is scikit-learn's."""
    rest = {k: v for k, v in params.items() if k not in ("max_depth", "min_samples_leaf")}
    of_tree = {k: v for k, v in params.items() if k not in rest}
    tree = (DecisionTreeClassifier if is_classes else DecisionTreeRegressor)(**of_tree)
    if key == "cart":
        kind = DecisionTreeClassifier if is_classes else DecisionTreeRegressor
        return kind(random_state=0, **params)
    if key == "random_forest":
        forest = RandomForestClassifier if is_classes else RandomForestRegressor
        return forest(random_state=0, n_jobs=1, **params)
    if key == "bagging":
        bagging = BaggingClassifier if is_classes else BaggingRegressor
        return bagging(tree, random_state=0, n_jobs=1, **rest)
    if key == "adaboost":
        boosted = AdaBoostClassifier if is_classes else AdaBoostRegressor
        return boosted(tree, random_state=0, **rest)
    if key == "gradient_boosting":
        boosting = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
        known = {k: v for k, v in params.items() if k not in _OURS}
        return boosting(random_state=0, early_stopping=False, **known)
    return None


def timed(
    facts: dict[str, Any], train: Any, target: str, cpu_s: float | None
) -> list[dict[str, Any]]:
    """Seconds of one core for every model of a study, ours and scikit-learn's.

    Parameters
    ----------
    facts : dict
        Of the study.
    train : DataFrame
        The rows it learned from.
    target : str
    cpu_s : float or None
        Seconds of one core that the whole study took: on a busy computer its fits waited, and what
        they took by the clock is scaled to this sum. None: they are told by the clock.

    Returns
    -------
    rows : list of dict
        ``key``, ``name``, ``fits``, ``ours_s``, ``theirs_s``, of all candidates on all folds and
        the last fit, and ``measured``: whether the model is ours and theirs was timed.
    """
    import pandas as pd

    part = train.sample(min(MOST_ROWS, len(train)), random_state=0)
    x = pd.get_dummies(part.drop(columns=target)).to_numpy(dtype=np.float64)
    y = part[target].to_numpy()
    share = len(train) / len(part)
    by_clock = sum(_seconds(model) for model in facts["models"])
    scale = 1.0 if cpu_s is None else cpu_s / max(by_clock, 1e-9)
    rows = []
    for model in facts["models"]:
        if model["best"] is None or model.get("ensemble"):
            continue
        params = model["candidates"][model["best"]]["params"]
        other = namesake(model["key"], params, facts["study"]["task"] != "regression")
        n_candidates = len(model["candidates"])
        theirs = ours = _seconds(model) * scale
        if other is not None:
            started = time.process_time()
            with threadpool_limits(1):
                other.fit(x, y)
            once = (time.process_time() - started) * share
            # A fold's fit learns from four fifths of the rows.
            theirs = once * ((FOLDS - 1) * n_candidates + 1)
        rows.append(
            {
                "key": model["key"],
                "name": model["name"],
                "fits": FOLDS * n_candidates + 1,
                "ours_s": ours,
                "theirs_s": theirs,
                "measured": other is not None,
            }
        )
    return rows


def _seconds(model: dict[str, Any]) -> float:
    """What a model took by the clock."""
    return sum(seconds or 0.0 for seconds in model["timing"].values())
