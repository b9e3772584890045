"""Rows that fits share: the same as each would have prepared and coded for itself."""

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression

from arboleda.boosting import HistGradientBoostingClassifier
from arboleda.catalogue import columnwise
from arboleda.catalogue import preparation as preparation_module
from arboleda.catalogue.preparation import (
    MAX_SCORED_BYTES,
    PREPARATIONS,
    MedianImputer,
    PreparedRows,
    Style,
    count_prepared_columns,
    describe_preparation,
    make_preparation,
)
from arboleda.forest import RandomForestClassifier
from arboleda.reports.fact_names import FACT_NAMES
from arboleda.tables.features import Features
from arboleda.tree import DecisionTreeClassifier

N = 300
random = np.random.default_rng(4)
X = np.column_stack(
    [random.normal(size=N), random.integers(0, 4, N), random.integers(0, 60, N), random.random(N)]
).astype(np.float64)
X[random.random(N) < 0.1, 0] = np.nan
Y = ((np.nan_to_num(X[:, 0]) + X[:, 3] + random.normal(size=N)) > 0.5).astype(np.int64)
LEVELS = {1: tuple("abcd"), 2: tuple(f"level {i}" for i in range(60))}
FEATURES = Features(X, ("a", "b", "c", "d"), (1, 2), LEVELS)
FIT, SCORE = np.arange(0, 220), np.arange(220, N)


def prepare(rows: PreparedRows, style: Style, fit: Any = FIT, score: Any = SCORE) -> Any:
    return rows.prepare(style, make_preparation(FEATURES, style, "binary", 0), X, Y, fit, score)


@pytest.mark.parametrize("style", list(PREPARATIONS))
def test_prepared_rows_match_the_preparation_alone(style: Style) -> None:
    found = prepare(PreparedRows(), style)
    alone = make_preparation(FEATURES, style, "binary", 0)
    if style == "none":
        fitted, scored = X[FIT], X[SCORE]
        assert found.preparation == "passthrough"
    else:
        fitted = clone(alone).fit_transform(X[FIT], Y[FIT])
        scored = clone(alone).fit(X[FIT], Y[FIT]).transform(X[SCORE])
        assert np.array_equal(found.preparation.transform(X[SCORE]), scored, equal_nan=True)
    assert np.array_equal(found.fitted, fitted, equal_nan=True)
    assert np.array_equal(found.scored, scored, equal_nan=True)
    assert found.fit_s > 0
    assert b"MedianImputer" not in pickle.dumps(found.preparation)


@pytest.mark.parametrize("style", list(PREPARATIONS))
def test_many_rows_to_score_are_transformed_in_parts(
    style: Style, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = prepare(PreparedRows(), style)
    (scored,) = whole.iter_scored()
    assert scored is whole.scored
    monkeypatch.setattr(preparation_module, "MAX_SCORED_BYTES", scored[:30].nbytes)
    rows = PreparedRows()
    found = prepare(rows, style)
    assert found.scored is None
    assert found.nbytes == whole.fitted.nbytes
    for _ in range(2):
        parts = list(found.iter_scored())
        assert [len(part) for part in parts[:-1]] == [30] * (len(parts) - 1)
        assert np.array_equal(np.concatenate(parts), scored, equal_nan=True)
    assert prepare(rows, style) is found


@np.errstate(over="ignore")  # scikit-learn adds the middle two of huge values
@pytest.mark.parametrize("n", [1, 2, 7, 200])
def test_a_fitted_imputer_is_scikit_learns(n: int) -> None:
    x = random.normal(size=(n, 5)).round(1)
    x[random.random((n, 5)) < 0.2] = np.nan
    x[:, 3], x[:, 4] = np.nan, np.linspace(1.0e308, 1.7e308, n)
    x[::2, 2] = -0.0
    options = {"strategy": "median", "add_indicator": True, "keep_empty_features": True}
    found, expected = MedianImputer(**options), SimpleImputer(**options)
    assert clone(found).fit_transform(x).tobytes() == expected.fit_transform(x).tobytes()
    assert found.fit(x) is found
    assert type(found) is SimpleImputer
    assert found.statistics_.tobytes() == expected.statistics_.tobytes()
    assert found.indicator_.features_.tolist() == expected.indicator_.features_.tolist()
    assert vars(found).keys() == vars(expected).keys()
    wanted = np.where(random.random((9, 5)) < 0.3, np.nan, random.normal(size=(9, 5)))
    assert found.transform(wanted).tobytes() == expected.transform(wanted).tobytes()


@pytest.mark.parametrize("style", ["filled", "scaled", "ranked"])
def test_prepared_columns_are_counted_without_preparing(style: Style) -> None:
    # An indicator of missing values is not counted.
    prepared = prepare(PreparedRows(), style).fitted
    assert count_prepared_columns(FEATURES, style) == prepared.shape[1] - 1 == 7


@pytest.mark.parametrize("style", ["none", "native", "crossed"])
def test_trees_see_a_category_as_one_column(style: Style) -> None:
    assert count_prepared_columns(FEATURES, style) == 4


@pytest.mark.parametrize("style", list(PREPARATIONS))
def test_many_training_rows_are_prepared_as_few_are(
    style: Style, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = prepare(PreparedRows(), style)
    monkeypatch.setattr(preparation_module, "MAX_SCORED_BYTES", X[:30].nbytes)
    monkeypatch.setattr(columnwise, "PART_BYTES", X[:7].nbytes)
    found = prepare(PreparedRows(), style)
    assert found.fitted.tobytes() == whole.fitted.tobytes()
    assert list_values(found.preparation) == list_values(whole.preparation)


def list_values(thing: Any) -> Any:
    """All that an object holds, arrays by their bytes."""
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        return thing.dtype, thing.shape, thing.tobytes()
    if isinstance(thing, dict):
        return [(repr(key), list_values(thing[key])) for key in sorted(thing, key=repr)]
    if isinstance(thing, list | tuple):
        return [list_values(value) for value in thing]
    if hasattr(thing, "__dict__") and not isinstance(thing, type):
        return type(thing), list_values(vars(thing))
    return repr(thing)


def test_many_rows_take_little_memory_beside_the_prepared_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A `ColumnTransformer` holds more than twice its output."""
    n_rows = 40_000
    x = np.column_stack([np.tile(X, (n_rows // N + 1, 1))[:n_rows]] * 4)
    levels = {j: LEVELS[j % 4] for j in range(16) if j % 4 in LEVELS}
    features = Features(x, tuple("abcdefghijklmnop"), tuple(levels), levels)
    y, rows = np.resize(Y, n_rows), np.arange(n_rows)
    monkeypatch.setattr(columnwise, "PART_BYTES", X.nbytes)
    peaks = {}
    for limit in (MAX_SCORED_BYTES, X.nbytes):
        monkeypatch.setattr(preparation_module, "MAX_SCORED_BYTES", limit)
        preparation = make_preparation(features, "native", "binary", 0)
        tracemalloc.start()
        fitted = PreparedRows().prepare("native", preparation, x, y, rows, rows[:1]).fitted
        peaks[limit] = tracemalloc.get_traced_memory()[1] / fitted.nbytes
        tracemalloc.stop()
    assert peaks[MAX_SCORED_BYTES] > 2
    assert peaks[X.nbytes] < 1.7


def test_the_same_rows_are_prepared_once() -> None:
    rows = PreparedRows()
    first = prepare(rows, "native")
    assert prepare(rows, "native") is first
    assert prepare(rows, "filled") is not first
    assert prepare(rows, "native", FIT[:-1]) is not first
    assert prepare(rows, "native", FIT, SCORE[1:]) is not first
    # Rows to learn from and rows to score are distinguished.
    assert prepare(rows, "native", FIT[:-1], np.append(FIT[-1], SCORE)) is not first
    assert prepare(rows, "native") is first


def test_the_least_recently_used_rows_are_evicted() -> None:
    size = prepare(PreparedRows(), "none").nbytes
    rows = PreparedRows(room=2 * size)
    first, second = prepare(rows, "none"), prepare(rows, "none", FIT[::-1])
    assert prepare(rows, "none") is first
    prepare(rows, "none", np.roll(FIT, 1))
    assert prepare(rows, "none") is first
    assert prepare(rows, "none", FIT[::-1]) is not second
    small = PreparedRows(room=size - 1)
    assert prepare(small, "none") is not prepare(small, "none")


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(5, random_state=0),
        HistGradientBoostingClassifier(max_iter=5, random_state=0),
        LogisticRegression(),
    ],
)
def test_models_fitted_on_shared_bins_match_models_fitted_on_rows(model: Any) -> None:
    found = prepare(PreparedRows(), "filled")
    alone = clone(model).fit(found.fitted, Y[FIT]).predict_proba(found.scored)
    for _ in range(2):  # who codes the rows, and who finds them coded
        shared = clone(model).fit(found.get_training_rows(model), Y[FIT])
        assert np.array_equal(shared.predict_proba(found.scored), alone)
    other = clone(model)
    is_coded = found.get_training_rows(model) is not found.fitted
    assert is_coded is not isinstance(model, LogisticRegression)
    assert found.get_training_rows(other) is found.get_training_rows(model)


def test_derived_estimators_are_fitted_on_rows() -> None:
    class Odd(DecisionTreeClassifier):
        pass

    found = prepare(PreparedRows(), "filled")
    assert found.get_training_rows(Odd()) is found.fitted


def test_shared_rows_are_read_only_and_copies_start_empty() -> None:
    rows = PreparedRows()
    found = prepare(rows, "native")
    with pytest.raises(ValueError, match="read-only"):
        found.fitted[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        found.scored[0, 0] = 1.0
    assert len(pickle.dumps(rows)) < 200
    assert prepare(pickle.loads(pickle.dumps(rows)), "native") is not found


@pytest.mark.parametrize(
    ("style", "has_categories", "has_gaps", "words"),
    [
        ("scaled", True, True, "one-hot; median imputation; standardised"),
        ("scaled", False, False, "standardised"),
        ("filled", True, False, "one-hot"),
        ("native", False, True, "missing values native"),
        ("filled", False, False, "none"),
        ("crossed", False, False, "original columns and feature crosses"),
    ],
)
def test_only_steps_that_change_the_table_are_described(
    style: Style, has_categories: bool, has_gaps: bool, words: str
) -> None:
    """A table without gaps used to have "one-hot; median imputation"."""
    found = describe_preparation(style, has_categories=has_categories, has_gaps=has_gaps)
    assert found == words
    assert all(part in FACT_NAMES for part in found.split("; "))
