"""Times to an event of a table in shards: the bytes of the model of all rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.thread_shards import ThreadShards, cut, run_shards

from arboleda import HistGradientBoostingSurvival
from arboleda._engine.all_shards import AllShards
from arboleda._utils.survival_times import SurvivalIntervals
from arboleda.boosting import fit_shard
from arboleda.persist import model_to_bytes
from arboleda.survival._failure_scale import estimate_scale
from arboleda.survival._periods import choose_periods

RANDOM = np.random.default_rng(3)
N = 700
CUTS: list[list[int]] = [[], [233], [0, 400], [5, 5, 150, 690]]
X = pd.DataFrame(RANDOM.normal(size=(N, 3)).round(1), columns=list("abc"))
X["kind"] = pd.Categorical(RANDOM.choice(list("uvwxyz"), N))
TIMES = RANDOM.weibull(1.5, N) * np.exp(-X["a"]) * 20.0
Y = pd.DataFrame({"time": np.ceil(TIMES), "status": (RANDOM.random(N) < 0.7).astype(int)})
# In the first partition both could be the event, and there is none in the second shard's first one.
Y.loc[:4, "time"] = 1.0
Y.loc[:4, "status"] = [1, 0, 1, 1, 0]
Y.loc[233:390, "status"] = 0
WORDS = Y.assign(status=np.where(Y["status"] == 1, "dead", "alive"))
LOWER = np.floor(TIMES)
UPPER = np.where(RANDOM.random(N) < 0.3, np.inf, LOWER + RANDOM.integers(1, 3, N))
WEIGHTS = RANDOM.integers(0, 4, N) / 4.0
OPTIONS: dict[str, Any] = {"max_iter": 5, "random_state": 1}


def fit_all(model: Any, y: Any, cuts: Sequence[int], weight: Any = None, val: Any = None) -> Any:
    tables, targets = cut(X, cuts), cut(y, cuts)
    weights = None if weight is None else cut(weight, cuts)

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        others: dict[str, Any] = {}
        if val is not None:
            is_last = k == shards.count - 1
            others = {name: [part] if is_last else [] for name, part in val.items()}
        own = None if weights is None else weights[k]
        return fit_shard(clone(model), tables[k], targets[k], own, shards, **others)

    return run_shards(len(tables), fit)


@pytest.mark.parametrize(
    ("options", "y", "cuts"),
    [
        *(({"loss": "aft", "early_stopping": True}, Y, cuts) for cuts in CUTS),
        ({"loss": "aft", "distribution": "logistic"}, np.column_stack([LOWER, UPPER]), CUTS[3]),
        ({"loss": "aft", "scale": 0.7, "category_encoding": "ordered"}, WORDS, CUTS[2]),
        ({"loss": "discrete_time", "early_stopping": True, "periods": 5}, WORDS, CUTS[3]),
        ({"loss": "discrete_time", "early_stopping": True, "periods": 5}, Y, CUTS[1]),
        ({"loss": "discrete_time", "periods": [3.0], "category_encoding": "ordered"}, Y, CUTS[3]),
    ],
)
def test_the_model_is_the_same_byte_for_byte(
    options: dict[str, Any], y: Any, cuts: list[int]
) -> None:
    model = HistGradientBoostingSurvival(**OPTIONS | options)
    expected = model_to_bytes(clone(model).fit(X, y, WEIGHTS))
    for fitted in fit_all(model, y, cuts, WEIGHTS):
        assert model_to_bytes(fitted) == expected


def test_validation_rows() -> None:
    model = HistGradientBoostingSurvival("aft", **OPTIONS)
    val = {"X_val": X[:200], "y_val": Y[:200]}
    expected = model_to_bytes(clone(model).fit(X, Y, **val))
    assert {model_to_bytes(fitted) for fitted in fit_all(model, Y, CUTS[2], val=val)} == {expected}


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y.assign(status=0), "no row of y has the event: all 700 are censored"),
        (Y.assign(time=Y["status"]), "either field of y could be the event"),
        (Y.assign(status=Y["status"] + 1), "neither field of y"),
        (
            Y.assign(time=Y["time"].where(Y.index < 690)),
            r"row 388 .* y\['time'\] is missing in row 302",
        ),
        (np.column_stack([LOWER, UPPER]), "which loss='discrete_time' does not support"),
    ],
)
def test_every_shard_raises_the_same_error(y: Any, message: str) -> None:
    model = HistGradientBoostingSurvival("discrete_time")
    errors = []

    def fit(shards: ThreadShards) -> None:
        k = shards.number
        try:
            fit_shard(clone(model), cut(X, [233])[k], cut(y, [233])[k], None, shards)
        except ValueError as error:
            errors.append(str(error))

    run_shards(2, fit)
    assert len(errors) == 2
    assert errors[0] == errors[1]
    with pytest.raises(ValueError, match=message):
        raise ValueError(errors[0])


def test_partitions_with_other_fields() -> None:
    y = [[Y[:300]], [Y[300:].rename(columns={"time": "days"})]]
    model = HistGradientBoostingSurvival("aft")

    def fit(shards: ThreadShards) -> None:
        k = shards.number
        fit_shard(clone(model), [[X[:300]], [X[300:]]][k], y[k], None, shards)

    with pytest.raises(ValueError, match=r"y has the fields \['time', 'status'\] in partition 0"):
        run_shards(2, fit)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_scale_of_many_rows(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that are chosen are the same in any number of shards."""
    monkeypatch.setattr("arboleda.survival._failure_scale._MOST_ROWS", 97)
    weight = WEIGHTS if weighted else None
    expected = estimate_scale(SurvivalIntervals(LOWER, UPPER), weight, "normal")

    def estimate(shards: ThreadShards) -> float:
        own = slice(*[[0, 10], [10, 10], [10, N]][shards.number])
        intervals = SurvivalIntervals(LOWER[own], UPPER[own])
        part = None if weight is None else weight[own]
        return estimate_scale(intervals, part, "normal", AllShards(shards))

    assert set(run_shards(3, estimate)) == {expected}


@pytest.mark.parametrize("n_times", [1, 2, 7, 100])
def test_periods_end_at_quantiles(n_times: int) -> None:
    times = np.sort(RANDOM.integers(1, 40, n_times) / 4.0)
    for periods in (1, 2, 3, 7, 10, 30):
        levels = np.arange(1, periods + 1) / periods
        expected = np.unique(np.quantile(times, levels, method="inverted_cdf"))
        chosen = choose_periods(*np.unique(times, return_counts=True), periods)
        assert chosen.tolist() == expected.tolist()
