"""The same bytes with every width of registers that the machine has."""

import os
import subprocess
import sys

import pytest

from arboleda import _native

_FIT = """
import hashlib, pickle
import numpy as np
from scipy import sparse
from arboleda import DecisionTreeClassifier as Classifier, _native
from arboleda import DecisionTreeRegressor as Regressor

random = np.random.default_rng(0)
X = random.normal(size=(3000, 6))
X[:, 1] = np.round(X[:, 1] * 40)
X[:, 2] = random.integers(0, 30, 3000)
X[:, 3] = random.integers(0, 70_000, 3000)
X[random.random(X.shape) < 0.05] = np.nan
y = np.nan_to_num(X[:, 0]) * 3 + np.nan_to_num(X[:, 2]) % 5 + random.normal(size=3000)
weight = random.random(3000)
labels = np.digitize(y, [0, 2, 5])
digest = hashlib.sha256()
for model in (
    Classifier(),
    Classifier(criterion="entropy", categorical_features=[2], max_leaf_nodes=90),
    Classifier(splitter="random", categorical_features=[2], random_state=0),
):
    digest.update(pickle.dumps(model.fit(X, labels, weight).tree_))
for model in (
    Regressor(categorical_features=[2]),
    Regressor(max_bins=64),
    Regressor(criterion="absolute_error", max_depth=6),
    Regressor(criterion="poisson"),
):
    digest.update(pickle.dumps(model.fit(X, np.abs(y), weight).tree_))
digest.update(pickle.dumps(Regressor().fit(X, np.column_stack([y, labels])).tree_))
thin = sparse.random(3000, 50, 0.05, format="csr", random_state=0)
digest.update(pickle.dumps(Regressor().fit(thin, y).tree_))
print(_native.simd_level(), digest.hexdigest())
"""


def run(level: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ARBOLEDA_FORCE_SIMD": level}
    return subprocess.run(
        [sys.executable, "-c", _FIT], env=environment, capture_output=True, text=True, check=False
    )


def test_every_level_can_be_forced_and_gives_the_same_models() -> None:
    levels = _native.simd_levels()
    assert levels[0] == "baseline"
    digests = []
    for level in levels:
        result = run(level)
        assert result.returncode == 0, result.stderr
        in_use, digest = result.stdout.split()
        assert in_use == level
        digests.append(digest)
    assert len(set(digests)) == 1


def test_the_widest_level_is_used_unless_one_is_forced() -> None:
    if os.environ.get("ARBOLEDA_FORCE_SIMD"):
        pytest.skip("a level is forced for this run")
    assert _native.simd_level() == _native.simd_levels()[-1]


def test_an_unknown_level_is_refused() -> None:
    result = run("avx9000")
    assert result.returncode != 0
    assert "ARBOLEDA_FORCE_SIMD is 'avx9000'; this machine has baseline" in result.stderr
