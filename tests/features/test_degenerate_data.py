"""Selectors on degenerate data."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from arboleda import (
    ForestSelector,
    JMISelector,
    MRMRSelector,
    RandomForestClassifier,
    RandomForestRegressor,
)

Array = npt.NDArray[Any]

SELECTORS: list[Any] = [
    MRMRSelector(2),
    MRMRSelector(2, scheme="quotient", n_bins=2),
    MRMRSelector(2, continuous="neighbors", random_state=0),
    JMISelector(2),
    JMISelector(2, continuous="neighbors", random_state=0),
    ForestSelector(RandomForestClassifier(5), n_permutations=3, alpha=0.25, random_state=0),
]
_RANDOM = np.random.default_rng(0)
_X = _RANDOM.standard_normal((30, 4))
_Y = np.arange(30) % 3


def _with(column: int, value: Any) -> Array:
    X = _X.copy()
    X[:, column] = value
    return X


# Name, X, y: what can be fitted. Scores are finite, and nothing but the selection itself is empty.
FITTED: list[tuple[str, Array, Any]] = [
    ("two rows", _X[:2], [0, 1]),
    ("two rows of a class", _X[:2], [0, 0]),
    ("one column", _X[:, :1], _Y),
    ("constant X", np.ones((30, 4)), _Y),
    ("one class", _X, np.zeros(30, dtype=int)),
    ("a class of one row", _X, np.r_[np.zeros(29), 1].astype(int)),
    ("as many classes as rows", _X, [f"class {i}" for i in range(30)]),
    ("a column of NaN", _with(1, np.nan), _Y),
    ("X of NaN", np.full((30, 4), np.nan), _Y),
    ("one value beside NaN", _with(0, [1.0, *[np.nan] * 29]), _Y),
    ("huge values", _with(2, np.where(_Y == 1, 1e308, -1e308)), _Y),
    ("denormal values", _with(2, np.where(_Y == 1, 5e-324, 0.0)), _Y),
    ("integers", np.arange(120).reshape(30, 4), _Y),
    ("booleans", _X > 0, _Y > 0),
]
REFUSED: list[tuple[str, Any, Any, str]] = [
    ("no rows", _X[:0], _Y[:0], "0 sample"),
    ("no columns", _X[:, :0], _Y, "0 feature"),
    ("infinity", _with(1, [np.inf, *range(29)]), _Y, "column 1, row 0 is inf"),
    ("text", np.array([["a"], ["b"]], dtype=object), [0, 1], "column 0 of X has 'a' in row 0"),
    ("a target of NaN", _X, np.r_[np.arange(29.0), np.nan], "y contains NaN: row 29"),
    ("an infinite target", _X, np.r_[np.arange(29.0), np.inf], "y contains infinity: row 29"),
    ("a missing label", _X, np.array(["a", None] * 15, dtype=object), "missing value in row 1"),
    ("two targets", _X, np.column_stack([_Y, _Y]), "1d array"),
    ("lengths", _X, _Y[:-1], "inconsistent numbers of samples"),
]


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize(("name", "X", "y"), FITTED, ids=[case[0] for case in FITTED])
def test_degenerate_tables_are_fitted(selector: Any, name: str, X: Array, y: Any) -> None:
    selector.fit(X, y)
    assert selector.scores_.shape == (X.shape[1],)
    assert np.isfinite(selector.scores_).all()
    if not isinstance(selector, ForestSelector):
        assert np.isfinite(selector.order_scores_).all()
        assert selector.support_.sum() == min(2, X.shape[1])
    if name in {"huge values", "denormal values"}:
        assert selector.scores_.argmax() == 2


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize(("name", "X", "y", "message"), REFUSED, ids=[c[0] for c in REFUSED])
def test_invalid_tables_are_refused(selector: Any, name: str, X: Any, y: Any, message: str) -> None:
    del name
    with pytest.raises(ValueError, match=message):
        selector.fit(X, y)


@pytest.mark.parametrize("selector", SELECTORS[:-1], ids=repr)
def test_one_row_has_zero_scores(selector: Any) -> None:
    selector.fit(_X[:1], [0])
    np.testing.assert_array_equal(selector.scores_, 0.0)


REGRESSIONS: list[tuple[str, Array]] = [
    ("constant", np.full(30, 0.5)),
    ("two values", np.where(_Y == 1, 0.5, 0.25)),
    ("huge", np.where(_Y == 1, 1e150, -1e150) + 0.5),
    ("tiny", np.where(_Y == 1, 1e-150, 0.0)),
]
_REGRESSION_SELECTORS: list[Any] = [
    MRMRSelector(2, task="regression"),
    JMISelector(2, task="regression", continuous="neighbors", random_state=0),
    ForestSelector(RandomForestRegressor(5), n_permutations=3, alpha=0.25, random_state=0),
]


@pytest.mark.parametrize("selector", _REGRESSION_SELECTORS, ids=repr)
@pytest.mark.parametrize(("name", "y"), REGRESSIONS, ids=[case[0] for case in REGRESSIONS])
def test_regression_targets_of_any_scale_are_fitted(selector: Any, name: str, y: Array) -> None:
    X = _with(3, y)
    selector.fit(X, y)
    assert np.isfinite(selector.scores_).all()
    assert (selector.scores_.argmax() == 3) == (name != "constant")


def test_regression_targets_beyond_float64_are_refused() -> None:
    y = np.where(_Y == 1, 1e308, -1e308)
    selector = MRMRSelector(2, task="regression").fit(_with(3, y), y)
    assert selector.order_[0] == 3
    with pytest.raises(ValueError, match="multiply it by a constant"):
        ForestSelector(task="regression", random_state=0).fit(_with(3, y), y)
    neighbors = MRMRSelector(2, task="regression", continuous="neighbors", random_state=0)
    assert neighbors.fit(_with(3, y), y).order_[0] == 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_features_to_select": 0},
        {"n_features_to_select": 2.5},
        {"scheme": "ratio"},
        {"task": "both"},
        {"continuous": "density"},
        {"n_bins": 1},
        {"n_neighbors": 0},
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}' parameter"):
        MRMRSelector(**parameters).fit(_X, _Y)
