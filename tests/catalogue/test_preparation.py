"""Preparation learns from the rows it is fitted on and from nothing else."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from arboleda.catalogue.preparation import make_preparation, name_prepared_columns
from arboleda.tables.features import ONE_HOT_LEVELS, Features

DRAW = np.random.default_rng(1)
N = 400
MANY = ONE_HOT_LEVELS + 5


def make(many: int = 0) -> Features:
    number = DRAW.normal(5, 3, N)
    number[::7] = np.nan
    few = DRAW.integers(-1, 3, N).astype(float)
    few[:3] = 3.0
    columns = [number, few]
    levels = {1: ("a", "b", "c", "rare")}
    if many:
        columns.append(DRAW.integers(0, many, N).astype(float))
        levels[2] = tuple(f"l{i}" for i in range(many))
    names = ("n", "few", "many")[: len(columns)]
    return Features(np.column_stack(columns), names, tuple(levels), levels)


def test_scaled_columns_match_values_by_hand() -> None:
    features = make()
    x, y = features.x, np.zeros(N)
    found = make_preparation(features, "scaled", "binary", 0).fit(x[:300], y[:300]).transform(x)
    number = x[:, 0]
    filled = np.where(np.isnan(number), np.nanmedian(number[:300]), number)
    gap = np.isnan(number).astype(float)
    by_hand = np.column_stack([filled, gap])
    expected = StandardScaler().fit(by_hand[:300]).transform(by_hand)
    np.testing.assert_allclose(found[:, :2], expected)
    # Level 3 has three rows, too few for a column of its own.
    one_hot = OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist")
    expected = one_hot.fit(x[:300, 1:]).transform(x[:, 1:]).toarray()
    np.testing.assert_array_equal(found[:, 2:], expected)


def test_ranked_columns_are_normal_quantiles_of_ranks() -> None:
    features = make()
    x, y = features.x, np.zeros(N)
    found = make_preparation(features, "ranked", "binary", 0).fit(x[:300], y[:300]).transform(x)
    number = x[:, 0]
    filled = np.where(np.isnan(number), np.nanmedian(number[:300]), number)
    # Of a table of 400 rows 20 quantiles; between them a straight line.
    knots = np.quantile(filled[:300], np.linspace(0, 1, 20))
    rank = np.interp(filled, knots, np.linspace(0, 1, 20))
    inside = (rank > 0.001) & (rank < 0.999) & (filled != np.nanmedian(number[:300]))
    np.testing.assert_allclose(found[inside, 0], norm.ppf(rank[inside]))
    # A monotone change of the column changes nothing.
    cubed = x.copy()
    cubed[:, 0] = number**3
    twin = make_preparation(features, "ranked", "binary", 0).fit(cubed[:300], y[:300])
    order = np.argsort(found[:, 0], kind="stable")
    assert np.all(np.diff(twin.transform(cubed)[order, 0]) >= -1e-9)


def test_native_columns_keep_numbers_missing_values_and_names() -> None:
    features = make()
    preparation = make_preparation(features, "native", "binary", 0).fit(features.x, np.zeros(N))
    found = preparation.transform(features.x)
    np.testing.assert_array_equal(found[:, 0], features.x[:, 0])
    names = name_prepared_columns(preparation, features, ("no", "yes"))
    assert names == [
        "n",
        "few = (missing)",
        "few = a",
        "few = b",
        "few = c",
        "few = (rare levels)",
    ]
    for name, code in zip(names[1:], [-1, 0, 1, 2, 3], strict=True):
        np.testing.assert_array_equal(found[:, names.index(name)], features.x[:, 1] == code)


@pytest.mark.parametrize(
    ("task", "labels", "names"),
    [
        ("binary", ("no", "yes"), ["share of yes in many"]),
        ("multiclass", ("a", "b", "c"), [f"share of {c} in many" for c in "abc"]),
        ("regression", (), ["mean of the target in many"]),
    ],
)
def test_many_levels_become_target_means(
    task: str, labels: tuple[str, ...], names: list[str]
) -> None:
    features = make(MANY)
    y = DRAW.normal(size=N) if task == "regression" else DRAW.integers(0, len(labels), N)
    preparation = make_preparation(features, "native", task, 0).fit(features.x, y)
    found = preparation.transform(features.x)
    assert name_prepared_columns(preparation, features, labels)[-len(names) :] == names
    assert found.shape[1] == 6 + len(names)


def test_cross_fitting_hides_a_rows_own_target() -> None:
    """Levels that occur once carry no signal; encoded by their own target they would show it."""
    features = Features(
        np.arange(N, dtype=float)[:, None], ("k",), (0,), {0: tuple(map(str, range(N)))}
    )
    y = DRAW.integers(0, 2, N)
    found = make_preparation(features, "native", "binary", 0).fit_transform(features.x, y)[:, 0]
    for value in np.unique(found):
        assert abs(y[found == value].mean() - y.mean()) < 0.2


def test_levels_are_counted_in_the_given_rows() -> None:
    features = make(MANY)
    rows = features.x[:, 2] < 5
    y = DRAW.integers(0, 2, N)
    preparation = make_preparation(features, "native", "binary", 0)
    few = preparation.fit(features.x[rows], y[rows])
    names = name_prepared_columns(few, features, ("no", "yes"))
    assert "many = l0" in names
    assert not any(name.startswith("share of") for name in names)
    # A level that the fitted rows lacked is ignored.
    transformed = few.transform(features.x[~rows][:1])
    assert transformed[0, names.index("many = l0") :].sum() == 0


def test_missing_values_only_at_prediction_are_allowed() -> None:
    features = make()
    x = features.x.copy()
    known = ~np.isnan(x[:, 0])
    preparation = make_preparation(features, "scaled", "binary", 0).fit(
        x[known], np.zeros(N)[known]
    )
    assert np.isfinite(preparation.transform(x)).all()


def test_a_column_without_values_in_the_fold_is_allowed() -> None:
    features = make()
    x = features.x.copy()
    x[:200, 0] = np.nan
    preparation = make_preparation(features, "scaled", "binary", 0).fit(x[:200], np.zeros(200))
    assert np.isfinite(preparation.transform(x)).all()
