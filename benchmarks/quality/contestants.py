"""The contestants: each library's own scikit-learn class at its defaults.

Only the random seed, the number of threads and the verbosity are set. Categories are passed in the
native form of each library: as a pandas category column, or by the names of the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tables import Problem

Fit = Callable[[Problem, npt.NDArray[np.intp], npt.NDArray[np.intp], int], Any]


def predict(model: Any, frame: pd.DataFrame, task: str) -> npt.NDArray[np.float64]:
    """Return class probabilities, or predicted values."""
    predicted = model.predict(frame) if task == "regression" else model.predict_proba(frame)
    return np.asarray(predicted, dtype=np.float64)


def make_contestant(make: Callable[[bool, int], Any], *, text: bool = False, **fit: Any) -> Fit:
    """Return a function that fits `make(is_regression, threads)` on a fold and predicts.

    `text` passes categories as text, with their names in `cat_features`.
    """

    def run(
        problem: Problem, train: npt.NDArray[np.intp], test: npt.NDArray[np.intp], threads: int
    ) -> npt.NDArray[np.float64]:
        frame = problem.frame
        options = dict(fit)
        if text:
            frame = frame.astype(dict.fromkeys(problem.categories, object))
            options["cat_features"] = problem.categories
        model = make(problem.task == "regression", threads)
        model.fit(frame.iloc[train], problem.target[train], **options)
        return predict(model, frame.iloc[test], problem.task)

    return run


def lightgbm(regression: bool, threads: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if regression else LGBMClassifier
    return kind(random_state=0, n_jobs=threads, verbosity=-1)


def xgboost(regression: bool, threads: int) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBRegressor if regression else XGBClassifier
    return kind(random_state=0, n_jobs=threads, enable_categorical=True)


def catboost(regression: bool, threads: int) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if regression else CatBoostClassifier
    return kind(random_seed=0, thread_count=threads, verbose=0, allow_writing_files=False)


def chimeraboost(regression: bool, threads: int) -> Any:
    from chimeraboost import ChimeraBoostClassifier, ChimeraBoostRegressor

    kind = ChimeraBoostRegressor if regression else ChimeraBoostClassifier
    return kind(random_state=0, thread_count=threads)


def perpetual(regression: bool, threads: int) -> Any:
    from perpetual.sklearn import PerpetualClassifier, PerpetualRegressor

    kind = PerpetualRegressor if regression else PerpetualClassifier
    return kind(seed=0, num_threads=threads)


def scikit_learn(regression: bool, threads: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return kind(random_state=0)


def arboleda(regression: bool, threads: int, **more: Any) -> Any:
    from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return kind(random_state=0, n_jobs=threads, **more)


def arboleda_auto(regression: bool, threads: int) -> Any:
    return arboleda(regression, threads, max_iter="auto")


def arboleda_normal(regression: bool, threads: int) -> Any:
    from arboleda import BoostingClassifier, BoostingRegressor

    kind = BoostingRegressor if regression else BoostingClassifier
    return kind(random_state=0, n_jobs=threads)


CONTESTANTS: dict[str, Fit] = {
    "arboleda normal": make_contestant(arboleda_normal),
    "arboleda": make_contestant(arboleda),
    "arboleda auto": make_contestant(arboleda_auto),
    "LightGBM": make_contestant(lightgbm),
    "XGBoost": make_contestant(xgboost),
    "HGB": make_contestant(scikit_learn),
    "perpetual": make_contestant(perpetual),
    "ChimeraBoost": make_contestant(chimeraboost, text=True),
    "CatBoost": make_contestant(catboost, text=True),
}

PACKAGES = {
    "arboleda normal": "arboleda",
    "arboleda": "arboleda",
    "arboleda auto": "arboleda",
    "LightGBM": "lightgbm",
    "XGBoost": "xgboost-cpu",
    "HGB": "scikit-learn",
    "perpetual": "perpetual",
    "ChimeraBoost": "chimeraboost",
    "CatBoost": "catboost",
}
