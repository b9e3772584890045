"""A tree from a table in shards, which are threads here: the bytes of the tree of all rows."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from tests.thread_shards import ThreadShards, cut, run_shards

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor, PrunedTreeClassifier
from arboleda._engine.fit import GrowthOptions
from arboleda.persist import model_to_bytes
from arboleda.tree import fit_shard
from arboleda.tree._decision_tree import DecisionTree

# Rows of nodes that are sent to one shard: none, some of the small ones, all.
SENT_ROWS = (0, 5, 40, 70, 10**6)


def fit_all(model: Any, cuts: list[int], X: Any, y: Any, weight: Any = None) -> list[bytes]:
    """Return the bytes of the model of every shard."""
    n = len(cuts) + 1
    tables, targets = cut(X, cuts), cut(y, cuts)
    weights = [None] * n if weight is None else cut(weight, cuts)

    def run(shards: ThreadShards) -> bytes:
        k = shards.number
        fitted = fit_shard(clone(model), tables[k], targets[k], weights[k], shards)
        return model_to_bytes(fitted)

    return run_shards(n, run)


def check_equal(
    model: Any,
    cuts: list[int],
    X: Any,
    y: Any,
    weight: Any = None,
    *,
    sent_rows: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = model_to_bytes(clone(model).fit(X, y, weight))

    def make_options(self: Any, n_rows: int) -> GrowthOptions:
        return GrowthOptions(**self._growth_limits(n_rows), sent_rows=sent_rows)

    with monkeypatch.context() as patched:
        patched.setattr(DecisionTree, "_growth_options", make_options)
        assert fit_all(model, cuts, X, y, weight) == [expected] * (len(cuts) + 1)


def draw_table(draw: np.random.Generator, n_rows: int) -> pd.DataFrame:
    """Return columns of two values, numbers of any precision, and categories; some are missing."""
    columns: dict[str, Any] = {}
    for j in range(draw.integers(0, 9)):
        columns[f"binary{j}"] = draw.integers(0, 2, n_rows) * (draw.random(n_rows) < 0.6)
    for j in range(draw.integers(1, 4)):
        numbers = draw.normal(size=n_rows).round(draw.integers(0, 6))
        numbers[draw.random(n_rows) < draw.choice([0.0, 0.2])] = np.nan
        columns[f"number{j}"] = numbers
    for j in range(draw.integers(0, 3)):
        labels = draw.integers(0, draw.choice([2, 4, 30]), n_rows).astype(str).astype(object)
        labels[draw.random(n_rows) < draw.choice([0.0, 0.1])] = None
        columns[f"kind{j}"] = pd.Categorical(labels)
    return pd.DataFrame(columns)


def draw_weight(draw: np.random.Generator, n_rows: int) -> Any:
    """Return weights of which sums are exact in cells of 8 bits, or of 32, or not at all."""
    kinds = (
        None,
        np.ones(n_rows),
        draw.integers(0, 4, n_rows),
        draw.integers(0, 2, n_rows) * 2.0,
        draw.integers(1, 400, n_rows),
        draw.random(n_rows) * 100,
    )
    weight = kinds[draw.integers(len(kinds))]
    return weight if weight is None or weight.any() else None


def draw_parameters(draw: np.random.Generator, X: pd.DataFrame) -> dict[str, Any]:
    chances: list[tuple[float, str, list[Any]]] = [
        (0.3, "max_depth", [1, 2, 4, 7]),
        (0.3, "min_samples_leaf", [2, 7]),
        (0.5, "max_features", [1, 2, 3]),
        (0.4, "max_leaf_nodes", [2, 5, 30, 10_000]),
        (0.2, "min_impurity_decrease", [1e-3, 1e-2]),
        (0.1, "min_weight_fraction_leaf", [0.03]),
        (0.1, "min_samples_split", [0.1]),
        (0.1, "ccp_alpha", [0.002]),
    ]
    given = {name: draw.choice(values).item() for p, name, values in chances if draw.random() < p}
    max_bins = int(draw.choice([2, 8, 255]))
    return {"max_bins": max_bins, "n_jobs": int(draw.integers(1, 3)), **given}


def draw_directions(draw: np.random.Generator, X: pd.DataFrame) -> list[int]:
    return [0 if name.startswith("kind") else int(draw.integers(-1, 2)) for name in X]


def draw_task(draw: np.random.Generator, X: pd.DataFrame) -> tuple[Any, Any]:
    """Return a model, and a target for it."""
    n_rows, parameters = len(X), draw_parameters(draw, X)
    parameters["random_state"] = int(draw.integers(1000))
    is_monotonic = draw.random() < 0.2
    if is_monotonic:
        parameters["monotonic_cst"] = draw_directions(draw, X)
    signal = np.nan_to_num(X.select_dtypes("number").to_numpy(dtype=float)).sum(axis=1)
    noise = draw.normal(size=n_rows)
    if draw.random() < 0.5:
        n_classes = 2 if is_monotonic else int(draw.choice([2, 3, 12]))
        classes = np.floor(signal + noise).astype(int) % n_classes
        criterion = str(draw.choice(["gini", "gini", "log_loss", "misclassification"]))
        balanced = "balanced" if draw.random() < 0.2 else None
        model = DecisionTreeClassifier(criterion=criterion, class_weight=balanced, **parameters)
        return model, np.array(["no", *map(str, range(n_classes - 1))])[classes]
    scaled = (np.abs(signal + noise) * 10.0 ** draw.integers(-3, 4)).round(draw.integers(0, 7))
    if draw.random() < 0.5:
        return DecisionTreeRegressor(criterion="poisson", **parameters), scaled + 1.0
    return DecisionTreeRegressor(**parameters), scaled * draw.choice([-1.0, 1.0], n_rows)


@pytest.mark.parametrize("seed", range(80))
def test_the_tree_is_that_of_all_rows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(seed)
    n_rows = int(draw.choice([1, 2, 60, 300, 900]))
    X = draw_table(draw, n_rows)
    model, y = draw_task(draw, X)
    weight = draw_weight(draw, n_rows)
    cuts = np.sort(draw.integers(0, n_rows + 1, draw.integers(0, 5))).tolist()
    sent_rows = int(draw.choice(SENT_ROWS))
    check = partial(check_equal, sent_rows=sent_rows, monkeypatch=monkeypatch)
    check(model, cuts, X, y, weight)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (DecisionTreeClassifier, {"criterion": "entropy", "max_features": "sqrt"}),
        (DecisionTreeClassifier, {"class_weight": {0: 0.5, 2: 4.0}, "min_samples_leaf": 0.05}),
        (DecisionTreeClassifier, {"random_state": np.random.RandomState(3), "max_features": 0.5}),
        (DecisionTreeRegressor, {"categorical_features": ["few", "kind"], "max_depth": 6}),
        (DecisionTreeRegressor, {"categorical_features": [2, 3], "max_features": "log2"}),
        (DecisionTreeRegressor, {"monotonic_cst": {"a": 1, "few": -1}}),
        (DecisionTreeRegressor, {"criterion": "friedman_mse", "n_jobs": 2}),
    ],
)
@pytest.mark.filterwarnings("ignore:.* is not saved")
def test_further_parameters(kind: Any, parameters: dict[str, Any]) -> None:
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(200, 2)).round(1), columns=["a", "b"])
    X["few"] = draw.integers(0, 9, 200)
    X["kind"] = pd.Categorical(draw.choice(list("uvwxyz"), 200))
    y = (np.floor(X["a"] + X["b"] + X["few"] % 3) % 3).astype(int)
    model = kind(**{"max_bins": 255, "random_state": 0, **parameters})
    expected = model_to_bytes(clone(model).fit(X, y))
    assert fit_all(model, [50, 50], X, y) == [expected] * 3


def test_large_nodes_are_split_together_and_small_ones_are_sent() -> None:
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.integers(0, 50, 70_000), draw.integers(0, 3, 70_000)]).astype(float)
    y = X[:, 0] % 7 + X[:, 1]
    model = DecisionTreeRegressor(max_bins=255, random_state=0)
    expected = model_to_bytes(clone(model).fit(X, y))
    tables, targets = cut(X, [30_000]), cut(y, [30_000])

    def run(shards: ThreadShards) -> tuple[bytes, int]:
        k = shards.number
        fitted = fit_shard(clone(model), tables[k], targets[k], None, shards)
        return model_to_bytes(fitted), int(shards.opened[0])

    for content, n_searched in run_shards(2, run):
        assert content == expected
        assert n_searched >= 2  # at least the root and one child have more rows than are sent


@pytest.mark.parametrize("largest", [1, 255, 400])
@pytest.mark.parametrize("sent_rows", [0, 40])
def test_columns_of_two_values_are_drawn_as_in_the_whole_table(
    largest: int, sent_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whether they are drawn among those that vary depends on the largest weight of all rows.
    draw = np.random.default_rng(2)
    X = np.column_stack([draw.random((400, 30)) < 0.1, draw.normal(size=400).round(1)]) + 0.0
    y = draw.integers(0, 2, 400)
    weight = np.where(np.arange(400) % 100 == 0, largest, 1)
    model = DecisionTreeClassifier(max_features=1, max_bins=255, random_state=0)
    check = partial(check_equal, sent_rows=sent_rows, monkeypatch=monkeypatch)
    check(model, [150, 180], X, y, weight)
    check(clone(model).set_params(max_leaf_nodes=90), [150, 180], X, y, weight)


def test_class_weights_and_seeds_are_those_of_all_shards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = np.random.default_rng(1)
    X = draw.normal(size=(200, 3)).round(1)
    y = np.where(np.arange(200) < 150, "a", draw.choice(["b", "c"], 200))
    for class_weight in ("balanced", {"a": 1.0, "b": 0.0, "c": 2.5}):
        model = DecisionTreeClassifier(class_weight=class_weight, max_bins=255)
        check_equal(model, [150, 180], X, y, sent_rows=20, monkeypatch=monkeypatch)
    drawn = DecisionTreeClassifier(max_features=1, max_bins=255)
    assert len(set(fit_all(drawn, [90], X, y))) == 1


UNSUPPORTED: list[tuple[Any, str]] = [
    (DecisionTreeClassifier(), "max_bins=None .* set max_bins=255"),
    (DecisionTreeClassifier(max_bins=9, splitter="random"), 'set splitter="best"'),
    (
        DecisionTreeRegressor(max_bins=9, criterion="absolute_error"),
        'set criterion="squared_error"',
    ),
    (PrunedTreeClassifier(max_bins=9), "fit it on the whole table"),
]


@pytest.mark.parametrize(("model", "message"), UNSUPPORTED, ids=lambda each: str(each)[:50])
def test_what_needs_all_rows_is_refused(model: Any, message: str) -> None:
    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises((TypeError, ValueError), match=message):
        fit_all(model, [5], X, np.arange(10) % 2)


def test_faults_of_a_shard_are_those_of_all() -> None:
    X = np.arange(40.0).reshape(20, 2)
    y = np.arange(20.0)
    model = DecisionTreeRegressor(max_bins=9)
    with pytest.raises(ValueError, match="y has 2 columns, .* fit a tree for each"):
        fit_all(model, [8], X, np.column_stack([y, y]))
    with pytest.raises(TypeError, match="X is sparse, which DecisionTreeRegressor does not supp"):
        fit_all(model, [8], csr_matrix(X), y)
    poisson = clone(model).set_params(criterion="poisson")
    with pytest.raises(ValueError, match="y is 0 in every row"):
        fit_all(poisson, [8], X, 0.0 * y)
    with pytest.raises(ValueError, match="Some value.* of y are negative"):
        fit_all(poisson, [8], X, y - 15.0)
    fit_all(poisson, [8], X, np.where(y < 10, 0.0, y))  # all 0 in one shard only
    classifier = DecisionTreeClassifier(max_bins=9, class_weight={0: 1.0, 1: -1.0})
    with pytest.raises(ValueError, match="non-negative"):
        fit_all(classifier, [8], X, y.astype(int) % 2)
