"""Sparse tables give the tree of the dense ones and are never made dense."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.property.strategies import arrays_of

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

_FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


def dense(dtype: str = "f8") -> Any:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((80, 6)) < 0.3, rng.integers(-4, 9, (80, 6)), 0)
    X[5:9] = 0  # rows without an entry
    X[:, 4] = 0  # a column without one
    if np.dtype(dtype).kind == "u":
        X = abs(X)
    X = X.astype(dtype)
    if np.dtype(dtype).kind == "f":
        X[::11, 1] = np.nan
    return X


def target(X: Any) -> Any:
    return (np.nan_to_num(X[:, 0]) > 0) + 2 * (np.nan_to_num(X[:, 1]) > 1)


def check_equal(model: Any, expected: Any, X: Any, plain: Any) -> None:
    assert arrays_of(model) == arrays_of(expected)
    for method in ("predict", "apply"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(expected, method)(plain))
        np.testing.assert_array_equal(getattr(model, method)(plain), getattr(model, method)(X))
    assert (model.decision_path(X) != expected.decision_path(plain)).nnz == 0


@pytest.mark.parametrize("array", [True, False], ids=["array", "matrix"])
@pytest.mark.parametrize("form", _FORMATS)
def test_every_format_matches_the_dense_table(form: str, array: bool) -> None:
    X = dense()
    S = (sparse.coo_array(X) if array else sparse.coo_matrix(X)).asformat(form)
    y = target(X)
    for make in (DecisionTreeClassifier, DecisionTreeRegressor):
        check_equal(make().fit(S, y), make().fit(X, y), S, X)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i4", "i8", "u2", "longdouble", "bool"])
def test_every_type_matches_the_dense_table(dtype: str) -> None:
    X = dense(dtype)
    y = target(X.astype(float))
    for S in (sparse.csr_array(X), sparse.csc_array(X)):
        check_equal(DecisionTreeClassifier().fit(S, y), DecisionTreeClassifier().fit(X, y), S, X)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("index", ["i4", "i8"])
def test_unsorted_duplicate_and_zero_entries_are_read(form: str, index: str) -> None:
    X = np.nan_to_num(dense())
    entries = sparse.coo_array(X)
    rows = np.concatenate([entries.row, entries.row, [0, 79, 3]])[::-1]
    columns = np.concatenate([entries.col, entries.col, [4, 4, 2]])[::-1]
    values = np.concatenate([entries.data / 4, entries.data * 0.75, [0.0, 0.0, 0.0]])[::-1]
    across, along = (columns, rows) if form == "csr" else (rows, columns)
    order = np.argsort(along, kind="stable")
    start = np.searchsorted(along[order], np.arange(X.shape[form == "csc"] + 1))
    parts = (values[order], across[order].astype(index), start.astype(index))
    S = getattr(sparse, f"{form}_array")(parts, shape=X.shape)
    assert not S.has_canonical_format
    before = S.indices.copy()
    y = target(X)
    check_equal(DecisionTreeClassifier().fit(S, y), DecisionTreeClassifier().fit(X, y), S, X)
    np.testing.assert_array_equal(S.indices, before)  # the caller's matrix stays as it was


def test_unused_capacity_is_ignored() -> None:
    X = dense()
    S = sparse.csc_array(X)
    roomy = sparse.csc_array(X)
    roomy.data = np.append(S.data, [7.0, 7.0])
    roomy.indices = np.append(S.indices, [0, 0])
    check_equal(
        DecisionTreeClassifier().fit(roomy, target(X)),
        DecisionTreeClassifier().fit(X, target(X)),
        roomy,
        X,
    )


def test_invalid_arguments_are_refused() -> None:
    X = sparse.csr_array(np.nan_to_num(dense()))
    y = np.arange(80) % 2
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="5 features"):
        model.predict(X[:, :5])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="not supported for categorical columns"):
        DecisionTreeClassifier(categorical_features=[1]).fit(X, y)
    with pytest.raises(ValueError, match="(?i)complex"):
        model.predict(X.astype(complex))
    bad = X.tolil()
    bad[7, 3] = np.inf
    for call in (model.predict, lambda X: DecisionTreeClassifier().fit(X, y)):
        for S in (bad.tocsr(), bad.tocsc()):
            with pytest.raises(ValueError, match="column 3, row 7 is inf"):
                call(S)
    categories = DecisionTreeClassifier(categorical_features=[0]).fit(X.toarray(), y)
    with pytest.raises(ValueError, match="sparse, which is not supported for categorical columns"):
        categories.predict(X)


def test_wide_and_empty_tables_stay_sparse() -> None:
    S = sparse.random(20_000, 5_000, density=2e-5, format="csr", random_state=0)
    y = np.asarray(S.sum(axis=1)).reshape(-1) > 0
    tracemalloc.start()
    model = DecisionTreeClassifier(max_depth=3).fit(S, y)
    model.predict(S)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000  # dense it would be 800 million bytes
