"""Fitted ensembles of every shape, and rows for them to predict.

python -m tests.many_rows prints the width of registers in use and a digest of all predictions.
"""

import hashlib
import sys
from functools import cache
from typing import Any

import numpy as np

import arboleda as ab
from arboleda import _native

N_ROWS = 1100


def table(n: int = N_ROWS, seed: int = 0) -> Any:
    """Six columns: two continuous, huge and tiny, counted, 40 categories, constant; with gaps."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    X[:, 2] = np.choose(random.integers(5, size=n), [3e38, -3e38, 1e-40, 2.5, -0.0])
    X[:, 3] = random.integers(9, size=n)
    X[:, 4] = random.integers(40, size=n)
    X[:, 5] = 7.0
    X[random.random(X.shape) < 0.08] = np.nan
    return X


def hist(**parameters: Any) -> Any:
    settings = {"max_iter": 40, "min_samples_leaf": 3, "random_state": 0, "early_stopping": False}
    return ab.HistGradientBoostingClassifier(**{**settings, **parameters})


# Trees that are evaluated by codes, level by level, and by walks over narrow and over wide nodes.
MODELS = {
    "leaf-wise": hist(),
    "categories": hist(categorical_features=[4]),
    "symmetric": hist(growth="symmetric", max_depth=5, max_leaf_nodes=None),
    "shared trees": hist(multi_strategy="multi_output_tree"),
    "stumps": hist(max_leaf_nodes=2),
    "large trees": hist(max_iter=8, max_leaf_nodes=None, max_depth=12),
    "linear leaves": ab.HistGradientBoostingRegressor(
        max_iter=10, linear_leaves=True, random_state=0
    ),
    "exact": ab.GradientBoostingRegressor(n_estimators=20, random_state=0),
    "forest": ab.RandomForestClassifier(12, random_state=0),
    "shallow forest": ab.RandomForestRegressor(30, max_depth=3, random_state=0),
    "hard votes": ab.RandomForestClassifier(12, voting="hard", random_state=0),
    "extra trees": ab.ExtraTreesRegressor(12, random_state=0),
    "medians": ab.RandomForestRegressor(5, criterion="absolute_error", max_depth=4, random_state=0),
    "bagging": ab.BaggingClassifier(n_estimators=12, random_state=0),
    "AdaBoost": ab.AdaBoostClassifier(n_estimators=60, random_state=0),
    "AdaBoost.R2": ab.AdaBoostRegressor(n_estimators=12, random_state=0),
}


@cache
def fitted(name: str) -> Any:
    X = table()
    present = np.nan_to_num(X)
    score = present[:, 0] + present[:, 1] * (present[:, 3] > 4) + (present[:, 4] % 3 == 1)
    is_classifier = hasattr(MODELS[name], "predict_proba")
    return MODELS[name].fit(X, np.digitize(score, [-0.5, 1.0]) if is_classifier else score)


def predict_outputs(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


if __name__ == "__main__":
    digest = hashlib.sha256()
    for name in MODELS:
        rows = table(seed=1)
        digest.update(predict_outputs(fitted(name), rows).tobytes())
        digest.update(predict_outputs(fitted(name), rows.astype(np.float32)).tobytes())
    sys.stdout.write(f"{_native.simd_level()} {digest.hexdigest()}")
