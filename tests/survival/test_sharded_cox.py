"""Cox's losses on a table in shards: the bytes of the model of the whole table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.survival.times import structured
from tests.thread_shards import ThreadShards, cut, run_shards

from arboleda import HistGradientBoostingSurvival
from arboleda._engine.shard_parts import ShardParts
from arboleda.persist import model_to_bytes

RANDOM = np.random.default_rng(3)
N = 500
X = pd.DataFrame({"a": RANDOM.normal(size=N), "b": RANDOM.normal(size=N).round(1)})
X["kind"] = pd.Categorical(RANDOM.choice(list("pqrstu"), N))
SCALE = np.exp(-X["a"] - 0.4 * X["kind"].cat.codes)
TIME = np.ceil(8.0 * RANDOM.exponential(SCALE)) / 8.0  # with ties
EVENT = RANDOM.random(N) < 0.6
EVENT[:40] = False  # a partition has no event
Y = structured(EVENT, TIME)
WEIGHTS = RANDOM.integers(0, 4, N) / 4.0
# Row numbers at which the table is cut: 1, 2, 3 and 7 shards, some of them empty.
CUTS: list[list[int]] = [[], [190], [0, 300], [5, 5, 30, 340, 450, 500]]
OPTIONS: dict[str, Any] = {"max_iter": 8, "max_leaf_nodes": 6, "max_bins": 30, "random_state": 1}


def fit_shards(
    model: Any, cuts: Sequence[int], y: Any, weight: Any = None, n_val: int = 0
) -> list[Any]:
    """Return the model that each shard fits; the last rows are for validation."""
    n = N - n_val
    tables, targets = cut(X[:n], [min(c, n) for c in cuts]), cut(y[:n], [min(c, n) for c in cuts])
    weights = None if weight is None else cut(weight[:n], [min(c, n) for c in cuts])
    middle = [n_val // 2] * (len(tables) - 1)  # all validation rows are in two shards
    val_tables, val_targets = cut(X[n:], middle), cut(y[n:], middle)

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        val: dict[str, Any] = {}
        if n_val:
            val = {"X_val": ShardParts(val_tables[k], shards), "y_val": val_targets[k]}
        own = None if weights is None else weights[k]
        return clone(model).fit(ShardParts(tables[k], shards), targets[k], own, **val)

    return run_shards(len(tables), fit)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize(
    ("options", "weight"),
    [
        ({"early_stopping": False, "ties": "breslow"}, None),
        (
            {
                "learning_rate": 0.5,
                "early_stopping": True,
                "n_iter_no_change": 2,
                "validation_fraction": 0.3,
            },
            WEIGHTS,
        ),
        ({"early_stopping": True, "validation_fraction": None}, WEIGHTS),
        ({"early_stopping": False, "category_encoding": "ordered", "subsample": 0.7}, WEIGHTS),
    ],
)
def test_the_bytes_of_the_whole_table(
    options: dict[str, Any], weight: Any, cuts: list[int]
) -> None:
    model = HistGradientBoostingSurvival(**OPTIONS, **options)
    whole = clone(model).fit(X, Y, weight)
    assert 0 < whole.n_iter_ <= 8
    assert (whole.n_iter_ < 8) == ("n_iter_no_change" in options)
    expected = model_to_bytes(whole)
    for fitted in fit_shards(model, cuts, Y, weight):
        assert model_to_bytes(fitted) == expected


def test_validation_rows_of_two_shards() -> None:
    model = HistGradientBoostingSurvival(**OPTIONS, early_stopping=True)
    n = N - 100
    expected = model_to_bytes(clone(model).fit(X[:n], Y[:n], X_val=X[n:], y_val=Y[n:]))
    for fitted in fit_shards(model, CUTS[2], Y, n_val=100):
        assert model_to_bytes(fitted) == expected


def test_training_scores_of_drawn_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arboleda.boosting._hist_gradient_boosting._MANY_ROWS", 200)
    model = HistGradientBoostingSurvival(**OPTIONS, early_stopping=True)
    expected = model_to_bytes(clone(model).fit(X, Y))
    for fitted in fit_shards(model, CUTS[3], Y):
        assert model_to_bytes(fitted) == expected


@pytest.mark.parametrize("first_censored", [0, 400])
def test_some_row_of_all_shards_needs_the_event(first_censored: int) -> None:
    y = structured(EVENT & (np.arange(N) < first_censored), TIME)
    model = HistGradientBoostingSurvival(**OPTIONS, early_stopping=True)
    where = "among the validation rows: " if first_censored else ""
    with pytest.raises(ValueError, match=f"^{where}no row of y has the event"):
        fit_shards(model, CUTS[1], y, n_val=100)
