"""Generated columns against the textbook, and where they are undefined."""

import numpy as np
import pytest

from arboleda.features.feature_crosses import ARITHMETIC, FeatureCross, find_groups, fit_cross

X = np.array(
    [
        [2.0, 4.0, 0.0, 0.0],
        [3.0, 0.0, 0.0, 1.0],
        [np.nan, 5.0, 1.0, 0.0],
        [7.0, -1.0, 1.0, 0.0],
        [1e308, 1e308, -1.0, 1.0],
        [0.0, 0.0, -1.0, 1.0],
    ]
)
OUTPUTS = np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [1.0]])
NEW = np.array([[9.0, 3.0, 2.0, 0.0], [9.0, 3.0, 0.0, 2.0], [9.0, 3.0, np.nan, 1.0]])


def values(cross: FeatureCross, x: np.ndarray = X) -> np.ndarray:
    return fit_cross(cross, X, OUTPUTS, 0)[0].compute(x)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("sum", [6, 3, np.nan, 6, np.nan, 0]),
        ("difference", [-2, 3, np.nan, 8, 0, 0]),
        ("product", [8, 0, np.nan, -7, np.nan, 0]),
        ("ratio", [0.5, np.nan, np.nan, -7, 1, np.nan]),
    ],
)
def test_arithmetic_columns_match_values_by_hand(kind: str, expected: list[float]) -> None:
    """Zero denominators and what is too large for a number are missing."""
    np.testing.assert_array_equal(values(FeatureCross(kind, (0, 1))), expected)


def test_statistics_of_groups_match_values_by_hand() -> None:
    mean = values(FeatureCross("mean", (1,), (2,)))
    np.testing.assert_allclose(mean, [2, 2, 2, 2, 5e307, 5e307])
    spread = values(FeatureCross("sd", (1,), (2,)))
    np.testing.assert_allclose(spread, [2, 2, 3, 3, 5e307, 5e307])
    away = values(FeatureCross("distance", (1,), (2,)))
    np.testing.assert_allclose(away, [2, -2, 3, -3, 5e307, -5e307])
    np.testing.assert_array_equal(values(FeatureCross("count", (), (3,))), [3, 3, 3, 3, 3, 3])
    # A missing number counts for nothing; the mean of its group is that of the others.
    np.testing.assert_allclose(values(FeatureCross("mean", (0,), (2,)))[:4], [2.5, 2.5, 7, 7])
    assert np.isnan(values(FeatureCross("distance", (0,), (2,)))[2])


def test_unseen_groups_get_the_overall_statistics() -> None:
    """It has the mean of all rows and the count 0; a missing category is a level of its own."""
    mean = values(FeatureCross("mean", (1,), (3,)), NEW)
    np.testing.assert_allclose(mean[[0, 2]], [8 / 3, 1e308 / 3])
    assert mean[1] == pytest.approx(np.mean(X[:, 1] / 1e308) * 1e308)
    np.testing.assert_array_equal(values(FeatureCross("count", (), (2,)), NEW), [0, 2, 2])
    target = values(FeatureCross("target", (), (2, 3)), NEW)
    assert target[0] == target[1] == OUTPUTS.mean()


def test_pairs_of_levels_are_separate_groups() -> None:
    groups = find_groups(X, (2, 3))
    places = groups.locate(X)
    pairs = [tuple(row) for row in X[:, 2:]]
    assert [p == q for p in pairs for q in pairs] == [p == q for p in places for q in places]
    assert (groups.locate(np.array([[0, 0, 1.0, 1.0], [0, 0, 0.0, 2.0]])) == -1).all()


def test_many_pairs_stay_distinct() -> None:
    draw = np.random.default_rng(0)
    x = np.column_stack([draw.permutation(100_000), draw.permutation(100_000)]).astype(float)
    groups = find_groups(x, (0, 1))
    assert len(groups.keys) == 100_000
    assert len(np.unique(groups.locate(x))) == 100_000
    assert (groups.locate(x[:, ::-1][x[:, 0] != x[:, 1]]) == -1).mean() > 0.99


def test_the_mean_of_the_target_is_cross_fitted() -> None:
    """Levels that occur once have the mean of others; encoded alone they would be the target."""
    draw = np.random.default_rng(1)
    x, y = np.arange(300.0)[:, None], draw.integers(0, 2, 300).astype(float)[:, None]
    _, generated = fit_cross(FeatureCross("target", (), (0,)), x, y, 0)
    assert abs(np.corrcoef(generated, y[:, 0])[0, 1]) < 0.5
    # No row's value changes with its own target alone.
    for i in (0, 7, 150):
        other = y.copy()
        other[i] = 1 - other[i]
        assert fit_cross(FeatureCross("target", (), (0,)), x, other, 0)[1][i] == generated[i]


def test_class_shares_are_shrunk_to_the_mean() -> None:
    x = np.repeat([0.0, 1.0], 500)[:, None]
    y = np.concatenate([np.ones(400), np.zeros(100), np.ones(100), np.zeros(400)])[:, None]
    made, _ = fit_cross(FeatureCross("target", (), (0,)), x, y, 0)
    np.testing.assert_allclose(made.compute(np.array([[0.0], [1.0]])), [0.8, 0.2], atol=0.005)


def test_names_are_readable() -> None:
    names, labels = ["price", "mileage", "brand", "fuel"], ["no", "yes"]
    found = [FeatureCross(kind, (0, 1)).describe(names) for kind in ARITHMETIC]
    assert found == [
        "price + mileage",
        "price \N{MINUS SIGN} mileage",
        "price \N{MULTIPLICATION SIGN} mileage",
        "price / mileage",
    ]
    assert FeatureCross("mean", (0,), (2,)).describe(names) == "mean of price within brand"
    assert (
        FeatureCross("sd", (0,), (2,)).describe(names) == "standard deviation of price within brand"
    )
    assert (
        FeatureCross("distance", (0,), (2,)).describe(names) == "price less its mean within brand"
    )
    assert FeatureCross("count", (), (2,)).describe(names) == "number of rows within brand"
    assert (
        FeatureCross("target", (), (2, 3)).describe(names, labels)
        == "share of yes within brand and fuel"
    )
    assert FeatureCross("target", (), (2,), 2).describe(names, "abc") == "share of c within brand"
    assert FeatureCross("target", (), (2,)).describe(names) == "mean of the target within brand"
