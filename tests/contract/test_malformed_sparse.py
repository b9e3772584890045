"""A sparse matrix whose indices lead out of it is refused before any code follows them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.contract import malformed

from arboleda import DecisionTreeClassifier, StackingClassifier
from arboleda._utils.sparse import check_sparse

_FAMILIES = 6
_MATRICES = dict(malformed.malformed())
_NAMES = ["functions", *malformed.variants(), *malformed.estimators()]


@pytest.mark.parametrize("family", range(_FAMILIES))
def test_every_public_function_refuses_every_malformed_matrix(family: int) -> None:
    script = Path(malformed.__file__)
    done = subprocess.run(
        [sys.executable, str(script), *_NAMES[family::_FAMILIES]],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"ended with {done.returncode} at {lines[-1]}\n{done.stderr}"
    assert [line for line in lines if line.startswith("!")] == []
    assert lines[-1] == "end"


@pytest.mark.parametrize("what", _MATRICES)
def test_every_fault_is_found(what: str) -> None:
    with pytest.raises(ValueError, match="X.*sparse") as caught:
        check_sparse(_MATRICES[what])
    assert "\n" not in str(caught.value)


def test_the_message_names_the_place() -> None:
    X = malformed.sound()
    X.indices[X.indptr[3]] = 57
    with pytest.raises(ValueError, match="X: column index 57 in row 3 .* out of range for 6 col"):
        DecisionTreeClassifier().fit(X, malformed.target(True))
    X = malformed.sound("csc")
    X.indices[X.indptr[2]] = -4
    members = [("tree", DecisionTreeClassifier())]
    with pytest.raises(ValueError, match="X: row index -4 in column 2 .* out of range for 60 rows"):
        StackingClassifier(members).fit(X, malformed.target(True))
    X = malformed.sound()
    X.indptr[5] = X.indptr[9]
    with pytest.raises(
        ValueError, match=r"indptr of the sparse matrix falls from \d+ to \d+ at row"
    ):
        DecisionTreeClassifier().fit(X, malformed.target(True))


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
def test_valid_matrices_pass(form: str, index: str) -> None:
    X, y = malformed.sound(form, index), malformed.target(True)
    plain = X.toarray()
    members = [("tree", DecisionTreeClassifier(random_state=0))]
    for model in (DecisionTreeClassifier(random_state=0), StackingClassifier(members, cv=3)):
        expected = model.fit(plain, y).predict(plain)
        np.testing.assert_array_equal(model.fit(X, y).predict(X), expected)


def test_the_sorted_flag_of_scipy_is_not_trusted() -> None:
    X, y = malformed.sound(), malformed.target(True)
    expected = DecisionTreeClassifier(random_state=0).fit(X, y).tree_.threshold.tolist()
    assert X.has_canonical_format  # remembered from now on
    for row in range(len(X.indptr) - 1):
        part = slice(X.indptr[row], X.indptr[row + 1])
        X.indices[part], X.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
    assert X.has_canonical_format
    assert DecisionTreeClassifier(random_state=0).fit(X, y).tree_.threshold.tolist() == expected


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_empty_matrices_pass(form: str) -> None:
    X: Any = sparse.coo_array((9, 4)).asformat(form)
    y = np.arange(9) % 2
    np.testing.assert_array_equal(
        DecisionTreeClassifier().fit(X, y).predict_proba(X), np.full((9, 2), [5 / 9, 4 / 9])
    )
