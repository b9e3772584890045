"""Small tables, and the four forests."""

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

Array = npt.NDArray[Any]

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
FORESTS = [*CLASSIFIERS, *REGRESSORS]


def classes(n: int = 200, n_classes: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """A table whose classes two of six columns separate imperfectly."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    z = X[:, 0] + X[:, 1] + random.normal(scale=0.7, size=n)
    edges = np.quantile(z, np.arange(1, n_classes) / n_classes)
    return X, np.array(list("badcfe"))[np.digitize(z, edges)]


def numbers(n: int = 200, seed: int = 0) -> tuple[Array, Array]:
    """A table and a number that two of six columns make."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    return X, X[:, 0] + X[:, 1] ** 2 + random.normal(scale=0.5, size=n)


def table_for(forest: Any, n: int = 200, seed: int = 0) -> tuple[Array, Array]:
    """Rows and a target of the kind that a forest, or its class, learns."""
    name = forest.__name__ if isinstance(forest, type) else type(forest).__name__
    return classes(n, seed=seed) if name.endswith("Classifier") else numbers(n, seed)


def bytes_of(forest: Any) -> list[bytes]:
    """All arrays of all trees."""
    names = ("children_left", "feature", "threshold", "value", "impurity", "n_node_samples")
    return [getattr(tree.tree_, name).tobytes() for tree in forest.estimators_ for name in names]
