"""Estimate the time of the same models and grids with scikit-learn alone.

If a model of the study is from scikit-learn, its time is that of the study. The others are fitted
with the chosen candidate to a sample of the training rows, and the time is extrapolated in
proportion to the number of rows, which slightly favours scikit-learn's trees.
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
# arboleda's parameters that scikit-learn's histogram boosting lacks.
_OURS = {"growth", "subsample", "colsample_bytree"}


def namesake(key: str, params: dict[str, Any], is_classes: bool) -> Any | None:
    """Return scikit-learn's counterpart of an arboleda model, or None for a scikit-learn model."""
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
    """Return the seconds on one core for every model of a study, and for scikit-learn's.

    Parameters
    ----------
    facts : dict
        Facts of the study.
    train : DataFrame
        The training rows.
    target : str
    cpu_s : float or None
        Processor seconds of the whole study. On a busy computer, elapsed times include waiting and
        are scaled to this sum. With None, elapsed times are used.

    Returns
    -------
    rows : list of dict
        ``key``, ``name``, ``fits``, ``ours_s``, ``theirs_s``, for all candidates on all folds and
        the final fit, and ``measured``: whether scikit-learn's counterpart was timed.
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
            # A fold has four fifths of the rows.
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
    """Return the elapsed seconds of a model."""
    return sum(seconds or 0.0 for seconds in model["timing"].values())
