"""Rankings of a table in shards, which are threads here: the bytes of the model of all rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from tests.boosting.test_sharded_fit import LosingShards
from tests.thread_shards import ThreadShards, run_shards

from arboleda import HistGradientBoostingRanker
from arboleda._utils.errors import ShardLostError
from arboleda.boosting import RoundKeeping, fit_shard
from arboleda.persist import model_to_bytes

RANDOM = np.random.default_rng(1)
SIZES = RANDOM.integers(1, 25, 60)
N = int(SIZES.sum())
BORDERS = np.cumsum(SIZES)
# Names are not in the order of the rows, and rows of neighbouring queries 10 and 11 are mixed.
QID = np.repeat(RANDOM.permutation(60) * 3, SIZES)
MIXED = slice(BORDERS[9], BORDERS[11])
QID[MIXED] = RANDOM.permutation(QID[MIXED])
X = pd.DataFrame(RANDOM.normal(size=(N, 3)).round(1), columns=list("abc"))
X["kind"] = pd.Categorical(RANDOM.choice(list("uvwxyz"), N))
Y = np.digitize(X["a"] + 0.5 * RANDOM.normal(size=N), [0.0, 0.8, 1.6])
WEIGHTS = RANDOM.integers(0, 3, N) / 2.0
TEXTS = np.array([f"q{name}" for name in QID], dtype=object)
CUTS: list[list[int]] = [[], [20], [0, 30], [5, 5, 40, 60]]  # by number of the query
OPTIONS: dict[str, Any] = {"max_iter": 6, "max_leaf_nodes": 6, "random_state": 2}


def cut(values: Any, cuts: Sequence[int]) -> list[list[Any]]:
    """Cut rows into shards after so many queries, each of two partitions."""
    limits = np.append(0, BORDERS)
    shards = []
    for begin, end in zip([0, *cuts], [*cuts, 60], strict=True):
        middle = limits[max(begin, min(end, 12))]
        shards.append([values[limits[begin] : middle], values[middle : limits[end]]])
    return shards


def fit_all(
    model: Any,
    cuts: Sequence[int],
    qid: Any = QID,
    table: Any = X,
    weight: Any = None,
    val: Any = None,
    connect: Any = lambda shards: shards,
    **options: Any,
) -> list[Any]:
    """Return the model that each shard fits; the last one has all validation rows."""
    tables, targets = cut(table, cuts), cut(Y, cuts)
    queries = [qid] * len(tables) if isinstance(qid, str) else cut(qid, cuts)
    weights = None if weight is None else cut(weight, cuts)

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        others = dict(options)
        if val is not None:
            is_last = k == shards.count - 1
            others |= {name: [part] if is_last else [] for name, part in val.items()}
        own = None if weights is None else weights[k]
        estimator = clone(model)
        return fit_shard(
            estimator, tables[k], targets[k], own, connect(shards), qid=queries[k], **others
        )

    return run_shards(len(tables), fit)


@pytest.mark.parametrize(
    ("options", "qid", "cuts"),
    [
        *(({"early_stopping": True, "n_iter_no_change": 2}, QID, cuts) for cuts in CUTS),
        ({"loss": "xe_ndcg", "category_encoding": "ordered"}, TEXTS, CUTS[3]),
        ({"loss": "yetirank", "subsample": 0.6, "early_stopping": True}, TEXTS, CUTS[2]),
        ({"loss": "yetirank", "early_stopping": True}, QID, CUTS[3]),
        ({"loss": "pairwise", "early_stopping": True, "validation_fraction": None}, QID, CUTS[3]),
    ],
)
def test_the_model_is_the_same_byte_for_byte(
    options: dict[str, Any], qid: Any, cuts: list[int]
) -> None:
    model = HistGradientBoostingRanker(**OPTIONS | options)
    expected = model_to_bytes(clone(model).fit(X, Y, WEIGHTS, qid=qid))
    for fitted in fit_all(model, cuts, qid, weight=WEIGHTS):
        assert model_to_bytes(fitted) == expected


@pytest.mark.parametrize("container", [pd.DataFrame, pa.Table.from_pandas])
def test_queries_are_a_column_and_validation_rows_have_it(container: Any) -> None:
    model = HistGradientBoostingRanker(**OPTIONS, n_iter_no_change=2)
    frame = X[["a", "b"]].assign(query=QID)
    n_val = int(BORDERS[20])
    table, X_val = container(frame), container(frame[:n_val])
    expected = clone(model).fit(table, Y, qid="query", X_val=X_val, y_val=Y[:n_val])
    parts = frame if container is pd.DataFrame else table
    val = {"X_val": X_val, "y_val": Y[:n_val]}
    for fitted in fit_all(model, CUTS[2], "query", parts, val=val):
        assert fitted.query_column_ == "query"
        assert model_to_bytes(fitted) == model_to_bytes(expected)


def test_training_scores_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arboleda.boosting._hist_gradient_boosting_ranker._SCORED_ROWS", 100)
    model = HistGradientBoostingRanker(**OPTIONS, early_stopping=True)
    expected = model_to_bytes(clone(model).fit(X, Y, qid=QID))
    assert {model_to_bytes(fitted) for fitted in fit_all(model, CUTS[1])} == {expected}


def get_error(**arguments: Any) -> str:
    with pytest.raises(ValueError, match=r"\w") as caught:
        fit_all(HistGradientBoostingRanker(), CUTS[1], **arguments)
    return str(caught.value)


@pytest.mark.parametrize(("qid", "name"), [(QID, "1000"), (TEXTS, "cut")])
def test_a_cut_query_is_named(qid: Any, name: str) -> None:
    changed = qid.copy()
    changed[BORDERS[19] - 1 : BORDERS[19] + 1] = int(name) if name.isdigit() else name
    assert get_error(qid=changed).startswith(
        f"query {name} has rows in two partitions (partition 1 of shard 0, whose row 0 is row "
        f"{BORDERS[11]} of the table; partition 1 of shard 1, whose row 0 is row {BORDERS[19]} of "
        "the table): each query must be whole in one; cut the table between queries"
    )


def test_other_errors_name_the_row_of_the_table() -> None:
    qid = QID.astype(float)
    qid[3] = np.nan
    assert "partition 0 of shard 0: qid has the missing value nan in row 3" in get_error(qid=qid)
    assert "qid='nothing' is not a column of X" in get_error(qid="nothing")


def test_rows_without_queries_are_one_list_in_one_partition() -> None:
    model = HistGradientBoostingRanker(**OPTIONS)

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        parts = [(X, Y), (X[:0], Y[:0])]
        return fit_shard(clone(model), [parts[k][0]], [parts[k][1]], None, shards)

    expected = model_to_bytes(clone(model).fit(X, Y))
    assert {model_to_bytes(fitted) for fitted in run_shards(2, fit)} == {expected}

    def fit_cut(shards: ThreadShards) -> Any:
        half = slice(0, 300) if shards.number else slice(300, N)
        return fit_shard(clone(model), [X[half]], [Y[half]], None, shards)

    with pytest.raises(ValueError, match="all rows are one list, but they are in 2"):
        run_shards(2, fit_cut)


@pytest.mark.parametrize("share", [0.5, 0.65, 0.75])
def test_a_fit_that_lost_a_shard_is_resumed(share: float) -> None:
    options = OPTIONS | {"early_stopping": True, "n_iter_no_change": 3, "max_iter": 10}
    model = HistGradientBoostingRanker(**options, subsample=0.7, learning_rate=0.5)
    expected = model_to_bytes(clone(model).fit(X, Y, qid=QID))
    kept: list[Any] = []
    connections: list[ThreadShards] = []

    def remember(shards: ThreadShards) -> ThreadShards:
        connections.append(shards)
        return shards

    def lose(shards: ThreadShards) -> ThreadShards:
        losing = LosingShards(shards._board, shards.number)
        losing.left = int(share * connections[0].n_calls)
        return losing

    keeping = RoundKeeping(3, lambda n, rounds: kept.append(rounds))
    for fitted in fit_all(model, CUTS[1], connect=remember, keeping=keeping):
        assert model_to_bytes(fitted) == expected
    with pytest.raises(ShardLostError) as caught:
        fit_all(model, CUTS[1], connect=lose)
    assert caught.value.rounds.ensemble.n_rounds > 0
    for rounds in [kept[0], caught.value.rounds]:
        for fitted in fit_all(model, CUTS[2], resume=rounds):
            assert model_to_bytes(fitted) == expected
