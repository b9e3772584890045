"""A table in shards, which are threads here: the bytes of the model that is fitted to all rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.thread_shards import ThreadShards, run_shards

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.boosting._sharded_fit import fit_shard
from arboleda.persist import model_to_bytes

RANDOM = np.random.default_rng(0)
N = 900
# Row numbers at which the table is cut: 1, 2, 3 and 7 shards, some of them empty.
CUTS: list[list[int]] = [[], [333], [0, 600], [5, 5, 200, 640, 850, 900]]


def make_frame() -> pd.DataFrame:
    """Numbers of every kind; missing values, and some categories, only at the end."""
    frame = pd.DataFrame(
        {
            "real": RANDOM.normal(size=N),
            "few": np.round(RANDOM.normal(size=N), 1),
            "short": RANDOM.normal(size=N).astype(np.float32),
            "count": RANDOM.integers(0, 400, N),
            "kind": RANDOM.choice(["a", "b", "c", "d"], N),
        }
    )
    frame.loc[800:, "real"] = np.where(RANDOM.random(100) < 0.5, np.nan, 0.0)
    frame.loc[700:, "kind"] = RANDOM.choice(["e", "b", None], 200)
    frame["kind"] = frame["kind"].astype("category")
    return frame


X = make_frame()
SCORE = np.nan_to_num(X["real"].to_numpy()) + X["few"].to_numpy() * X["short"].to_numpy()
NUMBERS = SCORE + RANDOM.normal(size=N)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(NUMBERS, [-0.5, 0.8])]
CLASSES[870:875] = "rare"
WEIGHTS = RANDOM.integers(0, 4, N) / 4.0
WEIGHTS[:10] = 0.0


def cut(values: Any, cuts: Sequence[int]) -> list[list[Any]]:
    """Cut rows into shards, each of two partitions."""
    shards = []
    for begin, end in zip([0, *cuts], [*cuts, len(values)], strict=True):
        middle = begin + (end - begin) // 3
        shards.append([values[begin:middle], values[middle:end]])
    return shards


def fit_all(
    model: Any, table: Any, y: Any, cuts: Sequence[int], weight: Any = None, val: Any = None
) -> list[Any]:
    """Return the model that each shard fits."""
    tables, targets = cut(table, cuts), cut(y, cuts)
    weights = None if weight is None else cut(weight, cuts)
    n_shards = len(tables)
    # The last shard has all validation rows.
    val_parts = [([], [])] * (n_shards - 1) + [([val[0]], [val[1]])] if val is not None else None

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        X_val, y_val = (None, None) if val_parts is None else val_parts[k]
        return fit_shard(
            clone(model),
            tables[k],
            targets[k],
            None if weights is None else weights[k],
            shards,
            X_val=X_val,
            y_val=y_val,
        )

    return run_shards(n_shards, fit)


def check_same_bytes(
    model: Any, table: Any, y: Any, cuts: Sequence[int], weight: Any = None, val: Any = None
) -> None:
    X_val, y_val = (None, None) if val is None else val
    whole = clone(model).fit(table, y, weight, X_val=X_val, y_val=y_val)
    expected = model_to_bytes(whole)
    for fitted in fit_all(model, table, y, cuts, weight, val):
        assert model_to_bytes(fitted) == expected


OPTIONS: dict[str, Any] = {"max_iter": 6, "max_leaf_nodes": 8, "max_bins": 30, "random_state": 4}


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize(
    "options",
    [
        {"early_stopping": True, "n_iter_no_change": 2},
        {"class_weight": "balanced", "category_encoding": "ordered", "subsample": 0.6},
        {"class_weight": {"low": 2.0, "rare": 9.0}, "multi_strategy": "multi_output_tree"},
    ],
)
def test_classes(options: dict[str, Any], cuts: list[int]) -> None:
    model = HistGradientBoostingClassifier(**OPTIONS | options)
    check_same_bytes(model, X, CLASSES, cuts, WEIGHTS)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson"])
def test_numbers(loss: str, cuts: list[int]) -> None:
    y = np.abs(NUMBERS) if loss == "poisson" else NUMBERS
    model = HistGradientBoostingRegressor(**OPTIONS, loss=loss, early_stopping=True)
    check_same_bytes(model, X, y, cuts, WEIGHTS if loss == "huber" else None)


@pytest.mark.parametrize("cuts", CUTS)
def test_two_classes_with_validation_rows(cuts: list[int]) -> None:
    model = HistGradientBoostingClassifier(**OPTIONS, n_iter_no_change=1)
    val = (X.iloc[:120], CLASSES[:120] == "low")
    check_same_bytes(model, X, CLASSES == "low", cuts, val=val)
