"""Answers do not depend on what other rows are asked with, nor on threads or registers."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.conftest import ROOT
from tests.many_rows import MODELS, answers, fitted, table

import arboleda as ab
from arboleda import _native
from arboleda._bridge import threads

EVERY = pytest.mark.parametrize("name", MODELS)


@EVERY
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_are_answered_the_same_in_any_company(name, kind):
    model = fitted(name)
    X = table(seed=1).astype(kind)
    whole = answers(model, X)
    for size in (1, 7, 60, 300):
        stop = min(len(X), 40 * size)
        parts = [answers(model, X[i : i + size]) for i in range(0, stop, size)]
        assert_array_equal(np.concatenate(parts), whole[: sum(map(len, parts))])
    assert_array_equal(answers(model, np.asfortranarray(X)), whole)
    assert_array_equal(answers(model, X[::-1]), whole[::-1])


@EVERY
def test_any_number_of_threads_and_callers(name, monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    model = pickle.loads(pickle.dumps(fitted(name)))
    X = table(seed=2)
    expected = answers(fitted(name), X)
    with ThreadPoolExecutor(8) as callers:  # before any has laid out the trees
        for found in callers.map(lambda _: answers(model, X), range(8)):
            assert_array_equal(found, expected)
    for n_jobs in (1, 2, 3, 7):
        assert_array_equal(answers(model.set_params(n_jobs=n_jobs), X), expected)


def test_every_width_of_registers():
    told = []
    for level in _native.simd_levels():
        result = subprocess.run(
            [sys.executable, "-m", "tests.many_rows"],
            env={**os.environ, "ARBOLEDA_FORCE_SIMD": level},
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        in_use, digest = result.stdout.split()
        assert in_use == level
        told.append(digest)
    assert len(set(told)) == 1


def test_stages_are_those_of_the_rounds():
    model = fitted("symmetric")
    X = table(seed=3)
    *_, last = model.staged_predict_proba(X)
    assert_array_equal(last, model.predict_proba(X))


def test_a_copy_of_a_model_that_has_answered_is_as_small_as_before():
    model = ab.HistGradientBoostingClassifier(max_iter=5, random_state=0)
    X = np.nan_to_num(table())
    model.fit(X, X[:, 0] > 0)
    before = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == before
