"""Boosted models of every kind: losses, growth, samples, dropped trees, columns, constraints.

Run as a script it prints one digest of all of them, for comparing processes.
"""

import hashlib
import pickle
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    _native,
)

N = 3000
ROUNDS = 6
_RANDOM = np.random.default_rng(11)

X = _RANDOM.normal(size=(N, 8))
X[:, 1] = np.round(X[:, 1] * 4)
X[:, 2] = _RANDOM.integers(0, 30, N)
X[:, 3] = np.round(X[:, 3] * 100)
X[_RANDOM.random(X.shape) < 0.05] = np.nan
SCORE = np.nan_to_num(X[:, 0] * X[:, 1] / 4) + np.nan_to_num(X[:, 2]) % 3 + _RANDOM.normal(size=N)
AMOUNT = np.exp(SCORE / 3)
CLASSES = np.digitize(SCORE, [0.3, 2.0])
WEIGHT = _RANDOM.random(N) * _RANDOM.integers(0, 3, N)
THIN = sparse.random(N, 40, 0.08, format="csr", random_state=0)
ORDER = _RANDOM.permutation(N)


@dataclass(frozen=True)
class Kind:
    """A model and its training data."""

    model: Any
    X: Any
    y: Any
    weight: Any = None

    @property
    def is_sampled(self) -> bool:
        """Return whether rows are sampled: then their order matters."""
        model = self.model
        return bool(model.subsample < 1.0 or model.sampling != "uniform")

    @property
    def is_histogram(self) -> bool:
        return hasattr(self.model, "max_iter")

    @property
    def rounds_parameter(self) -> str:
        return "max_iter" if self.is_histogram else "n_estimators"


def regressor(y: Any = SCORE, weight: Any = None, table: Any = X, **options: Any) -> Kind:
    model = HistGradientBoostingRegressor(
        max_iter=ROUNDS, early_stopping=False, random_state=5, **options
    )
    return Kind(model, table, y, weight)


def classifier(y: Any = CLASSES, weight: Any = None, table: Any = X, **options: Any) -> Kind:
    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS, early_stopping=False, random_state=5, **options
    )
    return Kind(model, table, y, weight)


def exact(y: Any, weight: Any = None, **options: Any) -> Kind:
    maker = GradientBoostingClassifier if y.dtype.kind in "ib" else GradientBoostingRegressor
    model = maker(n_estimators=ROUNDS, random_state=5, **options)
    return Kind(model, X[:1000], y[:1000], None if weight is None else weight[:1000])


TWO = SCORE > 0.5
KINDS = {
    "squared": regressor(),
    "squared, level": regressor(growth="level_wise", max_depth=6, weight=WEIGHT),
    "squared, symmetric": regressor(growth="symmetric", max_depth=5),
    "absolute": regressor(loss="absolute_error", weight=WEIGHT),
    "absolute, symmetric": regressor(loss="absolute_error", growth="symmetric", max_depth=4),
    "huber": regressor(loss="huber", growth="level_wise", max_depth=5),
    "quantiles": regressor(loss="quantile", quantile=[0.1, 0.5, 0.9], weight=WEIGHT),
    "poisson": regressor(AMOUNT, loss="poisson"),
    "poisson, symmetric": regressor(AMOUNT, loss="poisson", growth="symmetric", weight=WEIGHT),
    "gamma": regressor(AMOUNT, loss="gamma", growth="level_wise", max_depth=5),
    "tweedie": regressor(AMOUNT, loss="tweedie", power=1.3, weight=WEIGHT),
    "log loss": classifier(TWO),
    "log loss, symmetric": classifier(TWO, growth="symmetric", weight=WEIGHT),
    "exponential": classifier(TWO, loss="exponential", growth="level_wise", max_depth=5),
    "softmax": classifier(weight=WEIGHT),
    "softmax, level": classifier(growth="level_wise", max_depth=4),
    "part of the rows": regressor(subsample=0.5),
    "part of the rows, softmax": classifier(subsample=0.7, weight=WEIGHT),
    "part of the rows, absolute": regressor(loss="absolute_error", subsample=0.5),
    "one-sided": regressor(sampling="goss", weight=WEIGHT),
    "one-sided, softmax": classifier(sampling="goss", growth="symmetric"),
    "one-sided, quantile": regressor(loss="quantile", quantile=0.8, sampling="goss"),
    "by gradient": classifier(TWO, sampling="gradient", subsample=0.4),
    "dropped trees": regressor(drop_rate=0.5, skip_drop=0.0),
    "dropped trees, softmax": classifier(drop_rate=0.4, skip_drop=0.2, weight=WEIGHT),
    "categories": regressor(categorical_features=[2], weight=WEIGHT),
    "categories, softmax": classifier(categorical_features=[1, 2], growth="level_wise"),
    "categories, symmetric": classifier(TWO, categorical_features=[1, 2], growth="symmetric"),
    "sparse": regressor(table=THIN),
    "sparse, softmax": classifier(table=THIN, weight=WEIGHT, growth="symmetric"),
    "random thresholds": regressor(extra_trees=True),
    "part of the columns": regressor(colsample_bytree=0.6, colsample_bylevel=0.7, max_features=0.8),
    "weighted columns": regressor(
        colsample_bytree=0.7, max_features=0.5, feature_weights=[1, 4, 2, 1, 1, 3, 0, 1]
    ),
    "forced splits": classifier(
        forced_splits={"feature": 1, "threshold": 0.5, "right": {"feature": 3, "threshold": -20.0}},
    ),
    "monotone": regressor(monotonic_cst=[1, -1, 0, 1, 0, 0, 0, 0], l1_regularization=2.0),
    "bounded steps": classifier(TWO, max_delta_step=0.1, l2_regularization=3.0, max_leaf_nodes=90),
    "interactions": classifier(interaction_cst=[{0, 1}, {2, 3, 4}], max_bins=40),
    "exact": exact(SCORE, WEIGHT),
    "exact, huber": exact(SCORE, loss="huber", max_depth=5),
    "exact, absolute": exact(SCORE, WEIGHT, loss="absolute_error"),
    "exact, softmax": exact(CLASSES, WEIGHT),
    "exact, exponential": exact(TWO, loss="exponential", max_leaf_nodes=9),
    "exact, part of the rows": exact(SCORE, subsample=0.5, max_features=3),
    "exact, dropped trees": exact(CLASSES, drop_rate=0.5, skip_drop=0.0),
}


def bits(kind: Kind, model: Any) -> bytes:
    """Return the bytes of a fitted model and of its predictions."""
    predicted = model.predict(kind.X) if kind.y.dtype.kind == "f" else model.predict_proba(kind.X)
    return pickle.dumps(model.ensemble_) + predicted.tobytes()


if __name__ == "__main__":
    digest = hashlib.sha256()
    for kind in KINDS.values():
        digest.update(bits(kind, kind.model.fit(kind.X, kind.y, kind.weight)))
    sys.stdout.write(f"{_native.simd_level()} {digest.hexdigest()}")
