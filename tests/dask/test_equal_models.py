"""Whatever the table, the partitions, the workers and the method: one model, byte for byte."""

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import arboleda
import arboleda.dask
from arboleda.dask.attempts import ShardedFit
from arboleda.persist import model_to_bytes

dask = pytest.importorskip("dask")
pa = pytest.importorskip("pyarrow")

TABLES = ("float64", "float32", "pandas", "polars", "arrow")
N_WORKERS = (1, 2, 3, 5, 8)
METHODS: list[tuple[str, dict[str, Any]]] = [
    ("Classifier", {}),
    ("Classifier", {"n_classes": 7, "early_stopping": True, "n_iter_no_change": 1}),
    ("Classifier", {"n_classes": 4, "multi_strategy": "multi_output_tree"}),
    ("Regressor", {"sampling": "goss", "top_rate": 0.3, "other_rate": 0.2}),
    ("Regressor", {"sampling": "gradient", "subsample": 0.4, "loss": "absolute_error"}),
    ("Regressor", {"n_outputs": 3, "multi_strategy": "multi_output_tree"}),
    ("Regressor", {"loss": "poisson", "subsample": 0.5, "growth": "level_wise"}),
    ("Classifier", {"n_classes": 3, "sampling": "goss", "drop_rate": 0.4}),
    ("Regressor", {"loss": "quantile", "quantile": 0.3, "extra_trees": True}),
    ("Regressor", {"growth": "symmetric", "max_bins": 20, "early_stopping": True}),
    ("Regressor", {"linear_leaves": True, "subsample": 0.7, "early_stopping": True}),
    ("Classifier", {"linear_leaves": True, "n_classes": 3, "sampling": "goss"}),
]


def make_table(draw: np.random.Generator, kind: str, n_rows: int) -> tuple[Any, Any]:
    """Return a table, and a number for each row that depends on it."""
    values = draw.normal(size=(n_rows, 4)).round(1)
    signal = values[:, 0] + np.abs(values[:, 1]) + draw.normal(size=n_rows) / 4
    values[draw.random(values.shape) < 0.1] = np.nan
    if kind in ("float32", "float64"):
        return values.astype(kind), signal
    frame = pd.DataFrame(values, columns=list("abcd"))
    codes = draw.integers(0, 6, n_rows)
    signal += codes % 3
    labels = [None if code == 5 else "uvwxy"[code] for code in codes]
    frame["kind"] = pd.Categorical(labels, categories=list("uvwxyz"))
    if kind == "polars":
        return pl.from_pandas(frame), signal
    return (pa.Table.from_pandas(frame) if kind == "arrow" else frame), signal


def make_target(signal: Any, kind: str, options: dict[str, Any]) -> Any:
    """Return a target of so many classes or outputs; it removes those from the options."""
    if kind == "Classifier":
        n_classes = options.pop("n_classes", 2)
        return np.clip(signal + n_classes / 2, 0, n_classes - 1).astype(int)
    n_outputs = options.pop("n_outputs", 0)
    if n_outputs:
        return np.column_stack([signal * k + np.sin(signal + k) for k in range(n_outputs)])
    return np.floor(np.exp(signal / 2)) if options.get("loss") == "poisson" else signal


def draw_lengths(draw: np.random.Generator, n_rows: int) -> list[int]:
    """Draw the lengths of partitions: uneven ones, of one row, of none."""
    limits = np.sort(draw.integers(0, n_rows + 1, draw.integers(7, 14)))
    limits = np.concatenate([[0], limits, limits[:2], [1, n_rows]])
    return np.diff(np.sort(limits)).tolist()


def take(table: Any, start: int, end: int) -> Any:
    return table.slice(start, end - start) if isinstance(table, pa.Table) else table[start:end]


def cut(table: Any, lengths: list[int]) -> list[Any]:
    limits = np.cumsum([0, *lengths]).tolist()
    return [dask.delayed(take(table, start, end)) for start, end in pairwise(limits)]


def check_case(
    client: Any, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str, options: dict[str, Any]
) -> None:
    """Fit here and on some of the workers, and compare the bytes of the models."""
    choose, draw = random.Random(seed), np.random.default_rng(seed)
    options = {"max_iter": 3, "max_leaf_nodes": 6, "min_samples_leaf": 3, **options}
    n_workers = N_WORKERS[seed % len(N_WORKERS)]
    n_rows = choose.choice([60, 250])
    X, signal = make_table(draw, TABLES[(seed + seed // 5) % len(TABLES)], n_rows)
    y = make_target(signal, kind, options)
    weight = None if choose.random() < 0.5 else draw.random(n_rows) + 0.1
    has_validation = options.get("early_stopping", False) and choose.random() < 0.5
    n_train = n_rows - 20 if has_validation else n_rows

    name = f"HistGradientBoosting{kind}"
    here = getattr(arboleda, name)(random_state=seed, **options)
    there = getattr(arboleda.dask, name)(client=client, random_state=seed, **options)
    given = [(X, "X"), (y, "y"), *([] if weight is None else [(weight, "sample_weight")])]
    lengths, lengths_val = draw_lengths(draw, n_train), [7, 0, n_rows - n_train - 7]
    plain = {key: take(table, 0, n_train) for table, key in given}
    parts = {key: cut(table, lengths) for table, key in given}
    if has_validation:
        held = [(take(table, n_train, n_rows), f"{key}_val") for table, key in given]
        plain |= {key: table for table, key in held}
        parts |= {key: cut(table, lengths_val) for table, key in held}
    visit = ShardedFit._visit_workers
    monkeypatch.setattr(
        ShardedFit,
        "_visit_workers",
        lambda *arguments: dict([*visit(*arguments).items()][:n_workers]),
    )
    here.fit(**plain)
    there.fit(**parts)
    assert len(there._traffic) <= n_workers
    assert (len(there._traffic) > 1) == (n_workers > 1)
    assert model_to_bytes(there.to_local()) == model_to_bytes(here)


@pytest.mark.parametrize("seed", range(len(METHODS)))
def test_models_are_equal(many_clients: Any, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    check_case(many_clients, monkeypatch, seed, *METHODS[seed])


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore:early stopping kept no tree")
def test_random_models_are_equal(many_clients: Any) -> None:
    choose = random.Random(1)
    for seed in range(100, 200):
        kind, options = choose.choice(METHODS)
        options = options | {
            "max_iter": choose.randint(1, 8),
            "max_leaf_nodes": choose.choice([2, 6, 31]),
            "learning_rate": choose.choice([0.1, 1.0]),
        }
        with pytest.MonkeyPatch.context() as patch:
            check_case(many_clients, patch, seed, kind, options)
