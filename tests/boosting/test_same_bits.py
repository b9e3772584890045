"""All models have the same bits: threads, register widths, row order, interruption."""

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.boosting.every_kind import KINDS, ORDER, ROUNDS, bits
from tests.conftest import ROOT

from arboleda import _native
from arboleda._engine import parallel as threads

EVERY = pytest.mark.parametrize("name", KINDS)


def fitted(name: str, **parameters: Any) -> Any:
    kind = KINDS[name]
    return clone(kind.model).set_params(**parameters).fit(kind.X, kind.y, kind.weight)


@EVERY
def test_the_number_of_threads_changes_no_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_available_cores", lambda: 8)
    kind = KINDS[name]
    found = {bits(kind, fitted(name, n_jobs=n)) for n in (1, 2, 3, 8)}
    assert len(found) == 1


@EVERY
def test_interrupted_and_continued_fits_have_the_same_bits(name: str) -> None:
    kind = KINDS[name]
    part = fitted(name, warm_start=True, **{kind.rounds_parameter: 2})
    for n in (3, ROUNDS):
        part = pickle.loads(pickle.dumps(part)).set_params(**{kind.rounds_parameter: n})
        part.fit(kind.X, kind.y, kind.weight)
    assert bits(kind, part) == bits(kind, fitted(name))


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if not kind.is_sampled])
def test_the_order_of_rows_changes_no_bit(name: str) -> None:
    kind = KINDS[name]
    order = ORDER[np.less(ORDER, len(kind.y))]
    weight = None if kind.weight is None else kind.weight[order]
    other = clone(kind.model).fit(kind.X[order], kind.y[order], weight)
    assert pickle.dumps(other.ensemble_) == pickle.dumps(fitted(name).ensemble_)


def test_the_width_of_registers_changes_no_bit() -> None:
    digests = []
    for level in _native.simd_levels():
        result = subprocess.run(
            [sys.executable, "-m", "tests.boosting.every_kind"],
            env={**os.environ, "ARBOLEDA_FORCE_SIMD": level},
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        in_use, digest = result.stdout.split()
        assert in_use == level
        digests.append(digest)
    assert len(set(digests)) == 1
