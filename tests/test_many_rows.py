"""Predictions do not depend on the other rows of a batch, on threads or on registers."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from tests.conftest import ROOT
from tests.many_rows import MODELS, fitted, predict_outputs, table

import arboleda as ab
from arboleda import _native
from arboleda._engine import parallel as threads

EVERY = pytest.mark.parametrize("name", MODELS)


@EVERY
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_predictions_do_not_depend_on_other_rows(name, kind):
    model = fitted(name)
    X = table(seed=1).astype(kind)
    whole = predict_outputs(model, X)
    for size in (1, 7, 60, 300):
        stop = min(len(X), 40 * size)
        parts = [predict_outputs(model, X[i : i + size]) for i in range(0, stop, size)]
        assert_array_equal(np.concatenate(parts), whole[: sum(map(len, parts))])
    assert_array_equal(predict_outputs(model, np.asfortranarray(X)), whole)
    assert_array_equal(predict_outputs(model, X[::-1]), whole[::-1])


@EVERY
def test_threads_and_callers_change_no_bit(name, monkeypatch):
    monkeypatch.setattr(threads, "count_available_cores", lambda: 8)
    model = pickle.loads(pickle.dumps(fitted(name)))
    X = table(seed=2)
    expected = predict_outputs(fitted(name), X)
    with ThreadPoolExecutor(8) as callers:  # before any has laid out the trees
        for found in callers.map(lambda _: predict_outputs(model, X), range(8)):
            assert_array_equal(found, expected)
    for n_jobs in (1, 2, 3, 7):
        assert_array_equal(predict_outputs(model.set_params(n_jobs=n_jobs), X), expected)


CONTAINERS = {
    "lists": lambda X: X.tolist(),
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda X: pd.DataFrame(X).astype("Float64"),
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{j}" for j in range(6)], nan_to_null=True),
    "Arrow": lambda X: pa.table(
        {f"c{j}": pa.array(x, from_pandas=True) for j, x in enumerate(X.T)}
    ),
    "objects": lambda X: X.astype(object),
    "big-endian": lambda X: X.astype(">f8"),
    "columns of other types": lambda X: pd.DataFrame(
        {j: x.astype(np.float32) if j == 5 else x for j, x in enumerate(X.T)}
    ),
}


@EVERY
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_containers_and_saving_change_no_bit(name, tmp_path):
    X = table(400, seed=4)
    model = fitted(name)
    expected = predict_outputs(model, X)
    for container in CONTAINERS.values():
        assert_array_equal(predict_outputs(model, container(X)), expected)
    model.save(tmp_path / "model")
    again = ab.load(tmp_path / "model")
    assert_array_equal(predict_outputs(again, X), expected)
    order = np.random.default_rng(0).permutation(len(X))[:333]
    assert_array_equal(predict_outputs(again, X[order]), expected[order])
    whole = np.rint(np.clip(np.nan_to_num(X), -99, 99))
    expected = predict_outputs(model, whole)
    for kind in (np.int8, np.int16, np.int32, np.int64):
        assert_array_equal(predict_outputs(again, whole.astype(kind)), expected)
    assert_array_equal(
        predict_outputs(again, np.abs(whole).astype(np.uint8)), predict_outputs(model, abs(whole))
    )
    single = X.astype(np.float32)
    assert_array_equal(
        predict_outputs(again, single), predict_outputs(model, single.astype(np.float64))
    )


@pytest.mark.parametrize("name", [name for name in MODELS if name != "categories"])
def test_sparse_rows_match_dense_ones(name):
    X = table(500, seed=5)
    X[np.random.default_rng(1).random(X.shape) < 0.7] = 0.0
    X[X == 0.0] = 0.0  # what is not stored is the positive one
    expected = predict_outputs(fitted(name), X)
    for form in (sparse.csr_array, sparse.csc_array):
        assert_array_equal(predict_outputs(fitted(name), form(X)), expected)
    assert_array_equal(predict_outputs(fitted(name), sparse.csr_array(X[:9])), expected[:9])


@EVERY
@pytest.mark.parametrize("n_rows", [1, 100])
def test_tables_of_another_width_are_refused(name, n_rows):
    for width in (5, 7):
        with pytest.raises(ValueError, match=f"X has {width} features, but .* is expecting 6"):
            predict_outputs(fitted(name), np.zeros((n_rows, width)))


def test_the_width_of_registers_changes_no_bit():
    digests = []
    for level in _native.simd_levels():
        result = subprocess.run(
            [sys.executable, "-m", "tests.many_rows"],
            env={**os.environ, "ARBOLEDA_FORCE_SIMD": level},
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        in_use, digest = result.stdout.split()
        assert in_use == level
        digests.append(digest)
    assert len(set(digests)) == 1


def test_stages_match_the_rounds():
    model = fitted("symmetric")
    X = table(seed=3)
    *_, last = model.staged_predict_proba(X)
    assert_array_equal(last, model.predict_proba(X))


def test_predicting_does_not_enlarge_copies():
    model = ab.HistGradientBoostingClassifier(max_iter=5, random_state=0)
    X = np.nan_to_num(table())
    model.fit(X, X[:, 0] > 0)
    before = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == before
