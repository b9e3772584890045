"""A sparse table in shards, which are threads here: the bytes of the model of all rows."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.thread_shards import ThreadShards, cut, run_shards

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.table import check_table
from arboleda.boosting import fit_shard
from arboleda.persist import model_to_bytes

N = 900
RANDOM = np.random.default_rng(0)
# Shards without rows, and one in which the third column has an entry in every row.
CUTS: list[list[int]] = [[], [333], [0, 600], [5, 5, 200, 300, 900]]


def make_matrix() -> Any:
    """Columns of all densities, of few and of many values; some entries are missing, or 0."""
    shares = [0.02, 0.1, 0.1, 0.5, 1.0, 0.2, 0.2, 0.2, 0.2]
    values = RANDOM.normal(size=(N, 9)) * (RANDOM.random((N, 9)) < shares)
    values[200:300, 2] = 1.0 + RANDOM.random(100)
    values[:, 5:7] = values[:, 5:7].round(1)
    values[400:, 7] = 0.0
    values[:, 8] = 0.0
    values[RANDOM.random((N, 9)) < 0.02] = np.nan
    matrix = sparse.csr_matrix(values)
    matrix.data[::50] = 0.0
    return matrix


X = make_matrix()
DENSE = np.nan_to_num(X.toarray())
NUMBERS = DENSE[:, 1:8].sum(axis=1) + RANDOM.normal(size=N) / 4
CLASSES = np.digitize(NUMBERS, [-0.5, 0.8])
WEIGHTS = RANDOM.integers(0, 3, N) / 2.0
OPTIONS: dict[str, Any] = {"max_iter": 5, "max_leaf_nodes": 8, "random_state": 0}


def check_same_bytes(model: Any, table: Any, cuts: list[int], **others: Any) -> None:
    expected = model_to_bytes(clone(model).fit(table, **others))
    parts = {name: cut(part, cuts) for name, part in {"X": table, **others}.items()}

    def fit(shards: ThreadShards) -> Any:
        own: dict[str, Any] = {"sample_weight": None}
        own |= {name: part[shards.number] for name, part in parts.items()}
        return fit_shard(clone(model), **own, shards=shards)

    for fitted in run_shards(len(cuts) + 1, fit):
        assert model_to_bytes(fitted) == expected


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("max_bins", [255, 20])
def test_the_model_is_the_same_byte_for_byte(max_bins: int, cuts: list[int]) -> None:
    options = OPTIONS | {"max_bins": max_bins}
    model = HistGradientBoostingClassifier(**options, early_stopping=True, n_iter_no_change=2)
    check_same_bytes(model, X, cuts, y=CLASSES, sample_weight=WEIGHTS)
    regressor = HistGradientBoostingRegressor(**options, loss="absolute_error", subsample=0.6)
    check_same_bytes(regressor, X, cuts, y=NUMBERS)


@pytest.mark.parametrize(
    "table",
    [
        sparse.csc_array(X.astype(np.float32)),
        sparse.csr_matrix(DENSE.round().astype(np.int16)),
        sparse.vstack([X[:90]] * 10, format="csr"),  # bins count in groups of ten rows
        sparse.random_array((N, 300), density=0.01, format="csr", rng=1),
        sparse.csr_matrix((N, 2)),
    ],
    ids=["float32", "integers", "repeated", "wide", "empty"],
)
def test_kinds_of_matrices(table: Any) -> None:
    model = HistGradientBoostingRegressor(**OPTIONS, max_bins=30, early_stopping=False)
    check_same_bytes(model, table, CUTS[3], y=NUMBERS)


def score_rows(model: Any, X: Any, y: Any) -> float:
    return -float(np.abs((model.predict(X) - y) * (1.0 + X[:, [1]].toarray().ravel() ** 2)).mean())


@pytest.mark.filterwarnings("ignore:scoring is not saved")
def test_validation_rows_and_a_function_of_them() -> None:
    table, val = X.copy(), sparse.csr_matrix(np.nan_to_num(X[:100].toarray()))
    table.data = np.nan_to_num(table.data)
    model = HistGradientBoostingRegressor(**OPTIONS, scoring=score_rows)
    check_same_bytes(model, table, [90, 90, 95], y=NUMBERS, X_val=val, y_val=NUMBERS[:100])


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ([X[:500], X[500:].toarray()], {}, "partition 0 of shard 0 is sparse, and partition 0 of"),
        (
            [X[:500], X[500:, 1:]],
            {},
            "of the table has 8 columns, and partition 0 of shard 0 has 9",
        ),
        (
            [X[:500], sparse.csr_matrix(np.where(DENSE[500:] > 2.0, np.inf, DENSE[500:]))],
            {},
            "shard 1, whose row 0 is row 500 of the table: Input X contains infinity",
        ),
        (
            [X[:500], X[500:]],
            {"categorical_features": [1]},
            "not supported for categorical columns",
        ),
    ],
)
def test_every_shard_raises_the_same_error(parts: Any, options: Any, message: str) -> None:
    targets = [NUMBERS[:500], NUMBERS[500:]]

    def fit(shards: ThreadShards) -> str:
        k = shards.number
        model = HistGradientBoostingRegressor(**options)
        try:
            fit_shard(model, [parts[k]], [targets[k]], None, shards)
        except ValueError as error:
            return str(error)
        raise AssertionError("no error")

    first, second = run_shards(2, fit)
    assert message in first
    assert first == second


def test_codes_are_listed_as_in_the_whole_table() -> None:
    """The memory of a shard is that of its entries."""
    wide = sparse.random_array((N, 400), density=0.01, format="csr", rng=1)
    tables = cut(wide, [300])

    def code(shards: ThreadShards) -> Any:
        parts = ShardParts(tables[shards.number], shards)
        table = parts.learn_table(HistGradientBoostingRegressor(), None, many_levels=False)
        coded = table.code(1, 255)
        return coded.code_bytes, [coded.codes(j) for j in range(5)]

    whole = check_table(HistGradientBoostingRegressor(), wide, reset=True).code(1, 255)
    shards = run_shards(2, code)
    assert sum(n_bytes for n_bytes, _ in shards) == whole.code_bytes
    for j in range(5):
        joined = np.concatenate([codes[j] for _, codes in shards])
        np.testing.assert_array_equal(joined, whole.codes(j))
