"""Write the golden models of this version: once, when a version is released.

    python -m tests.golden.make

A golden model is a file, and beside it in JSON a table and the predictions for it. Every later
version must load the file and predict the same, bit by bit; so no file is ever rewritten: to change
one is to break the files of users.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.forest.forests import mixed_forest
from tests.persist.forest_files import to_file

import arboleda
from arboleda import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    PrunedTreeClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from arboleda._engine.columns import DenseTable
from arboleda._engine.forest import Forest

HERE = Path(__file__).parent
METHODS = ("predict", "decision_function", "predict_proba", "apply")


def _numbers(seed: int, missing: float = 0.0) -> tuple[Any, Any]:
    """A table whose columns are rounded, and a target that depends on two of them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(120, 4)).round(2)
    target = (X[:, 0] - 2 * X[:, 1] * (X[:, 2] > 0)).round(3)
    X[random.random(X.shape) < missing] = np.nan
    return X, target


def _classes(target: Any) -> Any:
    return np.array(["low", "mid", "hïgh"])[np.digitize(target, [-0.7, 0.9])]


def classification() -> tuple[Any, Any]:
    X, target = _numbers(1)
    weight = {"low": 1.0, "mid": 0.5, "hïgh": 2.0}
    return DecisionTreeClassifier(max_depth=4, class_weight=weight).fit(X, _classes(target)), X


def regression() -> tuple[Any, Any]:
    X, target = _numbers(2)
    return DecisionTreeRegressor(min_samples_leaf=4, ccp_alpha=0.01).fit(X, target), X


def missing_values() -> tuple[Any, Any]:
    X, target = _numbers(3, missing=0.2)
    return DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=9).fit(X, target > 0), X


def categorical() -> tuple[Any, Any]:
    X, target = _numbers(4)
    table = X.astype(object)
    table[:, 3] = np.array(["red", "green", "blue", None])[np.digitize(X[:, 3], [-1, 0, 1])]
    target += 3 * (table[:, 3] == "green")
    model = DecisionTreeRegressor(max_depth=4, categorical_features=[3]).fit(table, target)
    table[::10, 3] = "never seen"
    return model, table


def pruned() -> tuple[Any, Any]:
    X, target = _numbers(5)
    return PrunedTreeClassifier(cv=4, random_state=1).fit(X, _classes(target)), X


def several_targets() -> tuple[Any, Any]:
    X, target = _numbers(6, missing=0.1)
    targets = np.column_stack([np.digitize(target, [-0.7, 0.9]), target > 0])
    return DecisionTreeClassifier(max_depth=3).fit(X, targets), X


def boosted_classes() -> tuple[Any, Any]:
    X, target = _numbers(7, missing=0.1)
    table = X.astype(object)
    table[:, 3] = np.array(["red", "green", "blue", None])[np.digitize(X[:, 3], [-1, 0, 1])]
    model = HistGradientBoostingClassifier(
        max_iter=5, min_samples_leaf=5, categorical_features=[3]
    ).fit(table, _classes(target))
    table[::10, 3] = "never seen"
    return model, table


def boosted_exactly() -> tuple[Any, Any]:
    X, target = _numbers(8)
    return GradientBoostingRegressor(n_estimators=6, loss="huber").fit(X, target), X


def boosted_quantiles() -> tuple[Any, Any]:
    X, target = _numbers(9)
    model = HistGradientBoostingRegressor(
        loss="quantile", quantile=[0.1, 0.5, 0.9], max_iter=4, min_samples_leaf=8
    )
    return model.fit(X, target), X


def linear_leaves() -> tuple[Any, Any]:
    X, target = _numbers(10, missing=0.1)
    model = HistGradientBoostingRegressor(
        max_iter=4, max_leaf_nodes=4, min_samples_leaf=8, linear_leaves=True
    )
    return model.fit(X, target), X


def many_categories() -> tuple[Any, Any]:
    X, target = _numbers(11)
    table = X.astype(object)
    table[:, 3] = np.array([f"shop {i}" for i in range(40)])[np.arange(len(X)) * 7 % 40]
    model = HistGradientBoostingRegressor(
        max_iter=5, min_samples_leaf=5, categorical_features=[3], category_encoding="ordered"
    ).fit(table, target)
    table[::10, 3] = "never seen"
    return model, table


def boosted_votes() -> tuple[Any, Any]:
    X, target = _numbers(13, missing=0.1)
    table = X.astype(object)
    table[:, 3] = np.array(["red", "green", "blue", None])[np.digitize(X[:, 3], [-1, 0, 1])]
    tree = DecisionTreeClassifier(max_depth=2, categorical_features=[3])
    model = AdaBoostClassifier(tree, n_estimators=8).fit(table, _classes(target))
    model.estimator = None  # a model file has no estimators among its parameters
    table[::10, 3] = "never seen"
    return model, table


def combined() -> tuple[Any, Any]:
    """A stack by weights: a tree, a dropped member, a vote of a tree and a small forest."""
    X, target = _numbers(11, missing=0.1)
    inner = [
        ("small", DecisionTreeClassifier(max_depth=2)),
        ("forest", RandomForestClassifier(3, max_depth=3, random_state=0)),
    ]
    members: list[Any] = [
        ("tree", DecisionTreeClassifier(max_depth=4)),
        ("gone", "drop"),
        ("vote", VotingClassifier(inner, rule="weighted", cv=3)),
    ]
    return StackingClassifier(members, weights="simplex", cv=3).fit(X, _classes(target)), X


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "classification": classification,
    "regression": regression,
    "missing_values": missing_values,
    "categorical": categorical,
    "pruned": pruned,
    "several_targets": several_targets,
    "boosted_classes": boosted_classes,
    "boosted_exactly": boosted_exactly,
    "boosted_quantiles": boosted_quantiles,
    "linear_leaves": linear_leaves,
    "many_categories": many_categories,
    "boosted_votes": boosted_votes,
    "combined": combined,
}


def forest() -> tuple[Forest, Any]:
    """A forest by itself, of classes, with everything that its section can hold; and rows."""
    return mixed_forest(n_trees=4, n_rows=80, keep_rows=True)[0], mixed_rows()


def mixed_rows() -> Any:
    """Rows for the forest as the engine sees them: level numbers where there are categories."""
    X = np.random.default_rng(12).normal(size=(40, 5)).round(2)
    X[:, 3] = np.arange(40) % 5
    X[::9, 1] = X[::7, 3] = np.nan
    return X


def forest_predictions(forest: Forest, X: Any) -> dict[str, Any]:
    """Return the predictions of a forest for rows, and the facts of its first tree's nodes."""
    table = DenseTable(list(X.T), len(X), (0, 0, 0, 5, 0))
    results = {voting: forest.votes(table, voting) for voting in ("soft", "hard", "laplace")}
    tree = forest.tree(0)
    results |= {"leaves": forest.apply(table), "rows": forest.rows(0), "impurity": tree.impurity}
    return {name: array.tolist() for name, array in results.items()}


def model_predictions(model: Any, table: Any) -> dict[str, Any]:
    """Return the predictions of a model for a table as JSON values, with all digits."""
    results = {name: getattr(model, name)(table) for name in METHODS if hasattr(model, name)}
    if "decision_function" in results:
        del results["predict_proba"]  # an exponential of SciPy, whose last digit is its own
    return {
        name: [part.tolist() for part in parts] if isinstance(parts, list) else parts.tolist()
        for name, parts in results.items()
    }


def plain(table: Any) -> list[list[Any]]:
    """Rows of a table; None where a value is missing."""
    return [[None if x is None or x != x else x for x in row] for row in table.tolist()]


def main() -> int:
    folder = HERE / arboleda.__version__
    folder.mkdir(exist_ok=True)
    for name, make in MODELS.items():
        path = folder / f"{name}.arboleda"
        if path.exists():
            continue  # it stays as it is
        model, table = make()
        model.save(path, metrics={"rows": len(table)})
        text = json.dumps(
            {"table": plain(table), **model_predictions(model, table)}, ensure_ascii=False
        )
        path.with_suffix(".json").write_text(f"{text}\n", encoding="utf-8")
    path = folder / "votes.forest"
    if not path.exists():
        trees, X = forest()
        path.write_bytes(to_file(trees))
        text = json.dumps({"table": plain(X), **forest_predictions(trees, X)})
        path.with_suffix(".json").write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
