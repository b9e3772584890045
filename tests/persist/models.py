"""Models to save, one of each kind that there is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from arboleda import (
    BoostingClassifier,
    BoostingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DistributionalBoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)

_RANDOM = np.random.default_rng(0)
X = _RANDOM.normal(size=(300, 4))
X[_RANDOM.random(X.shape) < 0.1] = np.nan
Y = np.digitize(np.nan_to_num(X[:, 0] + X[:, 1]), [-0.5, 0.5])
LEVELS = X.astype(object)
LEVELS[:, 3] = np.array(["a", "b", None, "d"])[Y + (X[:, 3] > 0)]
NAMES = ["plain", "with space", "ñandú \N{SNOWMAN}", '<script>"\\\n']


def named(table: Any) -> pd.DataFrame:
    """The table as a frame with names that are no identifiers."""
    return pd.DataFrame(table, columns=NAMES)


MODELS: dict[str, Callable[[], Any]] = {
    "classifier": lambda: DecisionTreeClassifier(max_depth=4).fit(X, Y),
    "texts": lambda: DecisionTreeClassifier(min_samples_leaf=5).fit(X, np.array(list("añ☃"))[Y]),
    "weights": lambda: DecisionTreeClassifier(
        class_weight={0: 1.0, 1: 2.0, 2: 0.5}, max_features="sqrt", random_state=3
    ).fit(X, Y),
    "one leaf": lambda: DecisionTreeClassifier(max_depth=1, min_samples_leaf=0.5).fit(X, Y > 5),
    "regressor": lambda: DecisionTreeRegressor().fit(X, np.nan_to_num(X[:, 2])),
    "huge targets": lambda: DecisionTreeRegressor(max_depth=3).fit(
        X, 1e300 * np.nan_to_num(X[:, 2])
    ),
    "pruned": lambda: PrunedTreeClassifier(cv=3, random_state=0).fit(X, Y),
    "pruned by rows": lambda: PrunedTreeRegressor(pruning="reduced_error", random_state=0).fit(
        X, np.nan_to_num(X[:, 2])
    ),
    "pruned while growing": lambda: PrunedTreeClassifier(pruning="validation", random_state=0).fit(
        X, Y
    ),
    "several targets": lambda: DecisionTreeRegressor(max_depth=4).fit(X, np.nan_to_num(X[:, :2])),
    "categories": lambda: DecisionTreeClassifier(max_depth=5, categorical_features=[3]).fit(
        LEVELS, Y
    ),
    "boosted": lambda: HistGradientBoostingClassifier(max_iter=3).fit(X, Y),
    "boosted categories": lambda: HistGradientBoostingRegressor(
        max_iter=3, categorical_features=[3]
    ).fit(LEVELS, np.nan_to_num(X[:, 2])),
    "boosted distribution": lambda: DistributionalBoostingRegressor(max_iter=3, random_state=0).fit(
        X, np.nan_to_num(X[:, 2])
    ),
    "boosted exactly": lambda: GradientBoostingClassifier(n_estimators=3).fit(X, Y > 1),
    "boosted by Huber": lambda: GradientBoostingRegressor(n_estimators=3, loss="huber").fit(
        X, np.nan_to_num(X[:, 2])
    ),
    "boosted automatically": lambda: BoostingClassifier(
        "quick", learning_rate=0.5, n_iter_no_change=2, random_state=0
    ).fit(X, Y),
    "boosted with intervals": lambda: BoostingRegressor(
        "quick", learning_rate=0.5, n_iter_no_change=2, random_state=0
    ).fit(X, np.nan_to_num(X[:, 2])),
    "names": lambda: DecisionTreeRegressor(ccp_alpha=0.01).fit(named(X), np.nan_to_num(X[:, 2])),
}


def as_native_table(model: Any) -> Any:
    """The training table as the model saw it."""
    if any(model.schema_.n_levels):
        return LEVELS
    return named(X) if hasattr(model, "feature_names_in_") else X
